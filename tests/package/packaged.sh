#!/usr/bin/env bash
# Unpacks a package of this build in a folder of its own and uses it there: packaged.sh deb|tar BUILD SOURCE SCRATCH. Says "skipped" where
# the tools of packages are missing.
set -euo pipefail
kind=$1 build=$2 source=$3 scratch=$4/$1
missing() { command -v "$1" >/dev/null || { echo "skipped: no $1"; exit 0; }; }
fail() { echo "packaged.sh: $*" >&2; exit 1; }
missing zstd
rm -rf "$scratch"; mkdir -p "$scratch/unpacked"
make_package() { cpack --config "$build/CPackConfig.cmake" -G "$1" -B "$scratch/made" >"$scratch/cpack.log" 2>&1 || { cat "$scratch/cpack.log"; fail cpack; }; }

if [ "$kind" = deb ]; then
  missing dpkg-deb; missing dpkg-shlibdeps
  make_package DEB
  package=$(echo "$scratch"/made/drywell_*.deb)
  dpkg-deb -x "$package" "$scratch/unpacked"
  prefix=$scratch/unpacked/usr
  # What it depends on is named, and all of it was needed to build it here.
  depends=$(dpkg-deb -f "$package" Depends)
  for name in libc6 libfmt9 libstdc++6 libzstd1; do [[ $depends == *"$name"* ]] || fail "does not depend on $name: $depends"; done
else
  make_package TZST
  tar --zstd -xf "$scratch"/made/*.tar.zst -C "$scratch/unpacked"
  prefix=$(echo "$scratch"/unpacked/drywell-*)
fi
# The programs of the folder that it was installed in must not be what runs.
rm -rf "$scratch/made/_CPack_Packages"

cd "$scratch"
if grep -rlF -e "$source/" -e "$build" "$prefix/bin" "$prefix/libexec" "$prefix/lib" "$prefix/include" "$prefix/share/man"; then fail "the files above name the build's folders"; fi
drywell() { env -i PATH=/usr/bin:/bin HOME="$scratch" "$prefix/bin/drywell" "$@"; }
said() { grep -q -- "$1" "$scratch/out" || { cat "$scratch/out"; fail "no '$1'"; }; }

drywell --version >out; said "^drywell [0-9.]* (.*, .*, .*)$"
drywell run tma-copy --verify >out; said "verified: 1,048,576 values"
drywell conformance --filter='^mbarrier' >out; said " passed"
drywell layout '(4,8):(8,1)' >out; said "8"
drywell step tma-copy --rows=64 --columns=32 </dev/null >out; said "driver eager"
drywell explain H7001 >out; said "H7001"
for program in lab inspect debug cuda; do [ -x "$prefix/libexec/drywell/drywell-$program" ] || fail "no drywell-$program"; done
[ -e "$prefix/lib/drywell/libcudart.so.13" ] || fail "no libcudart.so.13"
for page in share/man/man1/drywell.1 share/man/man1/drywell-exec.1 share/bash-completion/completions/drywell share/fish/vendor_completions.d/drywell.fish \
            share/doc/drywell/copyright share/doc/drywell/README.md share/doc/drywell/docs/cli.md; do
  [ -s "$prefix/$page" ] || [ -s "$prefix/$page.gz" ] || fail "no $page"
done
ls "$prefix"/share/zsh/*/_drywell >/dev/null

if [ "$kind" = deb ]; then
  cmake -S "$source/tests/package/find_package" -B "$scratch/consumer" -DCMAKE_PREFIX_PATH="$prefix" "${@:5}" >"$scratch/out" 2>&1 || { cat out; fail "find_package(drywell)"; }
  cmake --build "$scratch/consumer" >"$scratch/out" 2>&1 || { cat out; fail "a program of a user"; }
  "$scratch/consumer/consumer" >out; said "ok=1 first=256 last=511"
fi
echo "the package works in $prefix"
