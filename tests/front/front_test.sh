#!/bin/sh
# Tests of ./tare in a clone whose set-up, CMake and program are stand-ins.
checkout=$1
. "$checkout/tests/front/expect.sh"

clone=$work/a\ clone # a space, since people have them
mkdir -p "$clone/src" "$clone/tests" "$clone/scripts"
cp "$checkout/tare" "$checkout/CMakePresets.json" "$clone/"
printf '#!/bin/sh\necho setup >>"%s/calls"\nmkdir -p "%s/.deps/stamps"\n' "$work" "$clone" >"$clone/scripts/setup"
chmod +x "$clone/scripts/setup"
echo 'old' >"$clone/src/kernel.cpp"

# Configures by leaving a cache, builds a program that shows its arguments and ends with 7.
stand_in cmake <<'EOF'
[ ! -f "$BREAK_BUILD" ] || case $1 in --build) echo 'kernel.cpp:1: error: expected a kernel'; exit 1 ;; esac
case $1 in
  -S) mkdir -p "$2/build/$4/bin"
      echo "CMAKE_HOME_DIRECTORY:INTERNAL=$2" >"$2/build/$4/CMakeCache.txt" ;;
  --build) printf '#!/bin/sh\necho "program: $*"\nexit 7\n' >"$2/bin/tare"
           chmod +x "$2/bin/tare" ;;
esac
EOF
stand_in ninja <<'EOF'
exit 1
EOF
stand_in ctest <<'EOF'
echo "ctest: $*"
exit 8
EOF
PATH=$work/bin
export PATH BREAK_BUILD="$work/break"

status=0
output=$("$clone/tare" headroom --rows 1 2>"$work/err") || status=$?
expect 'the program gets the arguments, and standard output is its own' "$output" 'program: headroom --rows 1'
expect 'its exit code is passed on' $status 7
expect 'the first call sets up' "$(grep -c '^setup$' "$work/calls")" 1
expect_text 'and says that it builds' "$work/err" 'building (log: '

rm "$work/calls"
cd / && "$clone/tare" doctor >"$work/out" 2>"$work/err"
expect 'a second call, from elsewhere, runs no set-up and no CMake' "$(cat "$work/calls" 2>/dev/null)" ''
expect 'and is silent' "$(cat "$work/err")" ''
expect_text 'and runs the program' "$work/out" 'program: doctor'

mkdir "$work/links"
ln -s "$clone/tare" "$work/links/absolute"
cd "$work/links" && ln -s absolute relative
expect 'through links' "$("$work/links/relative" x 2>&1)" 'program: x'
expect 'still nothing was built' "$(cat "$work/calls" 2>/dev/null)" ''

# Stamps and sources must differ in time by what the file system resolves; dates are set, nothing sleeps.
touch -d '+1 hour' "$clone/src/kernel.cpp"
"$clone/tare" x >"$work/out" 2>"$work/err"
expect 'a changed source is built' "$(calls_of 'cmake --build')" 1
touch -d '-1 hour' "$clone/src/kernel.cpp" "$clone/src"

rm -f "$work/calls"
touch -d '+1 hour' "$clone/tests"
"$clone/tare" x >"$work/out" 2>&1
expect 'a changed test is no reason to build for the program' "$(cat "$work/calls" 2>/dev/null)" ''
touch -d '-1 hour' "$clone/tests"

: >"$BREAK_BUILD"
touch -d '+1 hour' "$clone/src/kernel.cpp"
status=0
"$clone/tare" x >"$work/out" 2>"$work/err" || status=$?
expect 'a failing build ends with 1' $status 1
expect 'and runs no program' "$(cat "$work/out")" ''
expect_text 'and shows the end of the log' "$work/err" 'error: expected a kernel'
expect_text 'and where the log is' "$work/err" "the build failed; the end of $clone/build/release/build.log"
status=0
"$clone/tare" x >"$work/out" 2>&1 || status=$?
expect 'and fails again until it is mended' $status 1
rm "$BREAK_BUILD"
touch -d '-1 hour' "$clone/src/kernel.cpp" "$clone/src"
expect 'then it builds' "$("$clone/tare" x 2>/dev/null)" 'program: x'

rm -rf "$clone/build" "$work/calls"
"$clone/tare" one >"$work/one" 2>/dev/null &
"$clone/tare" two >"$work/two" 2>/dev/null
wait
expect 'two calls at once build once' "$(calls_of 'cmake --build')" 1
expect 'and both run' "$(cat "$work/one" "$work/two")" 'program: one
program: two'

mv "$clone" "$work/moved"
clone=$work/moved
printf '#!/bin/sh\nexit 0\n' >"$clone/scripts/setup"
"$clone/tare" x >"$work/out" 2>"$work/err"
expect_text 'a moved clone is built anew' "$work/err" 'was made for another folder'
expect_text 'and runs' "$work/out" 'program: x'

rm -f "$work/calls"
status=0
output=$("$clone/tare" test -R judge 2>/dev/null) || status=$?
expect 'test: ctest is the judge' $status 8
expect_text 'test: the rest goes to ctest, and no tests is an error' "$work/calls" '^ctest --preset release --no-tests=error .*-R judge$'
"$clone/tare" test --preset asan >"$work/out" 2>&1
expect_text 'test --preset' "$work/calls" '^ctest --preset asan '

rm -f "$work/calls"
"$clone/tare" x >"$work/out" 2>&1
expect 'after test, the program is built already' "$(cat "$work/calls" 2>/dev/null)" ''

rm -f "$work/calls"
printf '#!/bin/sh\necho "setup: $*" >>"%s/calls"\ntouch -d "+2 hours" "%s/.deps/stamps"\n' "$work" "$clone" >"$clone/scripts/setup"
output=$("$clone/tare" incumbents 2>/dev/null)
expect_text 'incumbents: set-up fetches them, also what failed before' "$work/calls" '^setup: --retry --incumbents$'
expect_text 'incumbents: what came is built in' "$work/calls" '^cmake --build'
expect 'incumbents: and doctor says who is there' "$output" 'program: doctor'

status=0
"$clone/tare" test --preset nonsense >"$work/out" 2>&1 || status=$?
expect 'an unknown preset is bad usage' $status 2
expect_text 'and says which there are' "$work/out" 'release, debug, asan or tsan'
finish
