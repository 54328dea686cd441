#!/usr/bin/env bash
# Unpacks a package of this build in a folder of its own and uses it there: packaged.sh deb|tar BUILD SOURCE SCRATCH. `root` installs the .deb
# with dpkg in a root that has nothing but what the package depends on, and uses it there. Says "skipped" where the tools of packages are missing.
set -euo pipefail
kind=$1 build=$2 source=$3 scratch=$4/$1
missing() { command -v "$1" >/dev/null || { echo "skipped: no $1"; exit 0; }; }
fail() { echo "packaged.sh: $*" >&2; exit 1; }
missing zstd
rm -rf "$scratch"; mkdir -p "$scratch/unpacked"
make_package() { cpack --config "$build/CPackConfig.cmake" -G "$1" -B "$scratch/made" >"$scratch/cpack.log" 2>&1 || { cat "$scratch/cpack.log"; fail cpack; }; }

# The packages that $1 (a list as in Depends) names, as they are installed here, and those that these depend on.
closure() {
  local name clause known=" "
  local -a left
  mapfile -t left < <(tr ',' '\n' <<<"$1")
  while [ ${#left[@]} -ne 0 ]; do
    clause=${left[0]} left=("${left[@]:1}")
    for name in $(tr '|' '\n' <<<"$clause" | sed 's/(.*//; s/:any//; s/ //g'); do
      dpkg-query -W -f='${db:Status-Abbrev}' "$name" 2>/dev/null | grep -q '^ii' || continue
      [[ $known == *" $name "* ]] && break
      known+="$name "
      mapfile -t -O ${#left[@]} left < <(dpkg-query -W -f='${Pre-Depends}, ${Depends}\n' "$name" | head -n 1 | tr ',' '\n' | grep '[a-z]')
      break
    done
  done
  echo "$known"
}

# A root of these packages' files, which dpkg knows as installed. Configuration and documents of theirs are left out.
make_root() {
  local root=$1 name file folder
  shift
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{etc,tmp,root,dev,proc} "$root"/var/lib/dpkg/{info,updates,triggers}
  for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$root/$folder"; done
  : >"$root/var/lib/dpkg/available"
  for name in "$@"; do
    dpkg-query -s "$name" | grep -v '^Conffiles:\|^ /' >>"$root/var/lib/dpkg/status"
    echo >>"$root/var/lib/dpkg/status"
    for file in /var/lib/dpkg/info/"$name"{,:"$(dpkg --print-architecture)"}.list; do [ ! -e "$file" ] || cp "$file" "$root/var/lib/dpkg/info/"; done
    { dpkg -L "$name" | grep -v '^/usr/share/\(doc\|man\|locale\)' || true; } | while read -r file; do
      [ -d "$file" ] || [ ! -e "$file" ] || { folder=$root$(dirname "$file") && mkdir -p "$folder" && cp -P "$file" "$folder/"; }
    done
  done
}

if [ "$kind" = root ]; then
  missing dpkg-deb; missing dpkg-shlibdeps; missing chroot
  enter=(unshare -m)
  [ "$(id -u)" -eq 0 ] || enter=(unshare -rm)
  "${enter[@]}" true 2>/dev/null || { echo "skipped: no namespaces for mounts"; exit 0; }
  make_package DEB
  root=$scratch/unpacked
  # shellcheck disable=SC2046 # names are words
  make_root "$root" $(closure "$(dpkg-deb -f "$scratch"/made/drywell_*.deb Depends), dash, libc-bin")  # the last two are essential: its scripts use them
  "${enter[@]}" dpkg --root="$root" --force-not-root --log=/dev/null -i "$scratch"/made/drywell_*.deb >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "dpkg -i"; }
  # shellcheck disable=SC2016 # words of the inner shell
  inside() { "${enter[@]}" sh -c 'mount --rbind /proc "$1/proc" && exec env -i PATH=/usr/bin HOME=/root "$(command -v chroot)" "$@"' - "$root" /usr/bin/drywell "$@" </dev/null >"$scratch/out" 2>&1 || { cat "$scratch/out"; fail "drywell $*"; }; }
  said() { grep -q -- "$1" "$scratch/out" || { cat "$scratch/out"; fail "no '$1'"; }; }
  inside --version; said "^drywell [0-9.]* (.*, .*, .*)$"
  inside run tma-copy --verify; said "verified: 1,048,576 values"
  inside run fused-rht --m=256 --n=256 --driver=timed --check; said "cycles"
  inside conformance --filter='^mbarrier'; said " passed"
  inside layout '(4,8):(8,1)'; said "8"
  echo "the package works in a root of $(grep -c '^Package:' "$root/var/lib/dpkg/status") packages"
  exit 0
fi

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
