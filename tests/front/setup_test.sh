#!/bin/sh
# Tests of scripts/setup with stand-ins for everything that installs or fetches.
checkout=$1
. "$checkout/tests/front/expect.sh"
clone=$work/clone
mkdir -p "$clone"
cp -R "$checkout/scripts" "$clone/scripts"
PATH=$work/bin
TARE_PYTHON=python3
export PATH TARE_PYTHON

# dpkg knows the packages that $work/installed lists; apt-get adds to them, but cannot get oneDNN.
stand_in dpkg-query <<'EOF'
shift 2
for name in "$@"; do
  grep -qxF "$name" "$(dirname "$0")/../installed" && echo "installed $name"
done
exit 0
EOF
stand_in apt-get <<'EOF'
case "$*" in
  *update) exit 0 ;;
  *libdnnl-dev*) echo 'E: Unable to locate package libdnnl-dev'; exit 100 ;;
esac
while [ "$1" != --no-install-recommends ]; do shift; done
shift
printf '%s\n' "$@" >>"$(dirname "$0")/../installed"
EOF
# A Python whose venv holds a pip that only fetches MLX.
stand_in python3 <<'EOF'
mkdir -p "$3/bin"
printf '#!/bin/sh\ncase "$*" in *mlx*) exit 0;; *) echo "no such source"; exit 1;; esac\n' >"$3/bin/pip"
printf '#!/bin/sh\n' >"$3/bin/python"
chmod +x "$3/bin/pip" "$3/bin/python"
EOF
stand_in id <<'EOF'
echo "${STAND_IN_UID:-0}"
EOF
touch "$work/installed"

setup() {
  rm -f "$work/calls"
  status=0
  "$clone/scripts/setup" "$@" >"$work/out" 2>"$work/err" || status=$?
}

setup
expect 'a bare machine: what is only wanted may fail' $status 0
expect 'a package that is needed is installed' "$(grep -cxF g++ "$work/installed")" 1
expect_text 'the reason of each package is told' "$work/err" 'g++: the compiler'
expect_text 'a wanted package that cannot be had is told' "$work/err" 'going on without libdnnl-dev'
expect 'and the others are installed' "$(grep -cxF libopenblas0-pthread "$work/installed")" 1
expect 'MLX is stamped' "$(cat "$clone/.deps/stamps/mlx")" \
  "$(sed -n 's/^mlx //p' "$clone/scripts/versions.txt")"
expect_text 'ggml failed: the log is shown' "$work/err" '| no such source'
expect_text 'and the rest goes on' "$work/err" "going on without ggml"
expect 'standard output is silent' "$(cat "$work/out")" ''

setup
expect 'a second call ends well' $status 0
expect 'installs and fetches nothing' "$(grep -v -e '^dpkg-query' -e '^id' "$work/calls")" ''
expect 'and is silent' "$(cat "$work/err")" ''

setup --retry
expect_text '--retry tries the part that failed' "$work/err" 'going on without ggml'
expect_text 'and the package' "$work/err" 'going on without libdnnl-dev'
expect 'but not what is there' "$(grep -c 'MLX' "$work/err")" 0

expect 'nobody asked for incumbents on request' "$(grep -c 'onednn' "$work/err")" 0
setup --incumbents
expect 'incumbents on request may fail' $status 0
for part in onednn3 onednn3-omp mkl; do
  expect_text "--incumbents tries $part" "$work/err" "going on without $part"
done
setup --incumbents
expect 'and not again without --retry' "$(cat "$work/err")" ''

sed 's/^mlx .*/mlx 99.9/' "$checkout/scripts/versions.txt" >"$clone/scripts/versions.txt"
setup
expect_text 'a changed version is fetched' "$work/err" 'MLX 99.9'
expect 'and no other part' "$(grep -c 'ggml' "$work/err")" 0

rm -rf "$clone/.deps/venv"
setup
expect_text 'a part that was deleted comes back' "$work/err" 'MLX 99.9'

grep -vxF -e g++ "$work/installed" >"$work/rest"
mv "$work/rest" "$work/installed"
STAND_IN_UID=1000
export STAND_IN_UID
setup
expect 'neither root nor sudo, and no compiler' $status 1
expect_text 'says what to ask for' "$work/err" 'apt-get install g++'
expect_text 'and which tool is not there' "$work/err" 'c++ is not on the PATH'
for tool in c++ cmake ninja; do echo 'exit 0' | stand_in $tool; done
setup
expect 'neither root nor sudo, but the tools are there' $status 0
expect_text 'goes on with them' "$work/err" 'going on with them'

rm "$work/bin/apt-get"
setup
expect 'no apt-get, but the tools are there' $status 0
expect_text 'says so' "$work/err" 'not a Debian system'

setup --nonsense
expect 'bad usage' $status 2
expect_text 'shows the usage' "$work/err" 'usage: scripts/setup'
finish
