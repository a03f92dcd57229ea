# shellcheck shell=sh disable=SC2034 # variables are for those who source this
# What the shell tests share: a hermetic folder $work, a PATH of stand-ins and named system tools, and
# expectations that print what was seen. Sourced with the checkout in $checkout.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# Only these system tools are on the PATH; what a test wants absent is absent, whatever the machine has.
mkdir -p "$work/bin"
for tool in sh env cat sed awk grep cksum tr find mkdir mv rm cp ln chmod touch dirname readlink tail head id \
  sleep flock nproc true mktemp sort wc; do
  ln -s "$(command -v "$tool")" "$work/bin/$tool"
done

# stand_in NAME: the script on standard input becomes NAME on the PATH; each call is noted in $work/calls.
stand_in() {
  rm -f "$work/bin/$1"
  { printf '#!/bin/sh\nprintf "%%s\\n" "%s $*" >>"%s/calls"\n' "$1" "$work"; cat; } >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

calls_of() { grep -c "^$1 " "$work/calls" 2>/dev/null || true; }

# expect WHAT SEEN WANTED
expect() {
  [ "$2" = "$3" ] && return 0
  failures=$((failures + 1))
  printf 'FAILED: %s\n  seen:   %s\n  wanted: %s\n' "$1" "$2" "$3"
}

# expect_text WHAT FILE PATTERN: some line of FILE matches.
expect_text() {
  grep -q -- "$3" "$2" && return 0
  failures=$((failures + 1))
  printf 'FAILED: %s\n  no line matches: %s\n  in:\n' "$1" "$3"
  sed 's/^/  | /' "$2"
}

finish() {
  [ $failures -eq 0 ] && echo 'all expectations met'
  exit $failures
}
