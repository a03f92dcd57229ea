#!/bin/sh
# Tests of what 'cmake --install' makes of a build: it runs after a move, and loads nothing from the checkout.
# usage: install_test.sh CHECKOUT BUILD
checkout=$1
build=$2
. "$checkout/tests/front/expect.sh"

# What fetched libraries were built as is real, whatever links lead there.
deps=$(readlink -f "$checkout/.deps")
implementations() { "$1" doctor | sed -n '/^implementations/,/^$/p'; }
base_names() { for file in "$1"/*.so; do basename "$file"; done; }

status=0
cmake --install "$build" --prefix "$work/prefix" >"$work/out" 2>&1 || status=$?
expect 'the build installs' $status 0
mv "$work/prefix" "$work/moved elsewhere" # a space, since people have them
prefix="$work/moved elsewhere"
modules=$prefix/lib/tare/modules

expect 'every module of the build is installed' "$(base_names "$modules")" "$(base_names "$build/lib/tare/modules")"
for file in "$prefix/bin/tare" "$modules"/*.so; do
  ldd "$file" >"$work/libraries" 2>&1
  expect "${file##*/} finds its libraries, and none in the checkout" \
    "$(grep -F -e 'not found' -e "$checkout/" -e "$build/" -e "${deps:-$checkout}/" "$work/libraries")" ''
done

cd /
expect 'the installed program has the implementations that the built one has' \
  "$(implementations "$prefix/bin/tare")" "$(implementations "$build/bin/tare")"
mkdir "$work/path"
ln -s "$prefix/bin/tare" "$work/path/tare"
PATH=$work/path:$PATH
expect 'and through a link on the PATH' "$(tare --version)" "$("$build/bin/tare" --version)"
finish
