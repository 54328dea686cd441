#!/usr/bin/env bash
# Installs the packages for building Drywell on Debian 12: install-deps.sh [demo|test|ci|full|site|bench]. `demo` (the default) is what the command
# `drywell` needs, `test` adds what the other programs and the tests need, `ci` what .ci/run needs (the shells and the formatter of manual pages
# are those that the tests of completions and pages ask), `full` what tools/ci-full.sh needs, `site` what tools/site/make.py needs, `bench` what
# tests/bench needs. Works as root or with sudo; does nothing if all packages are installed. CUDA is optional and not installed here.
set -euo pipefail

packages=(g++ cmake ninja-build pkg-config libfmt-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libhwy-dev libzstd-dev)
test=(git python3 libboost-dev libedit-dev libgtest-dev libgmock-dev)
ci=(python3-dev python3-venv clang-format-14 bash zsh fish groff dpkg-dev zstd qemu-user)
site=(python3 mkdocs doxygen)
case ${1:-demo} in
  demo) ;;
  test) packages+=("${test[@]}") ;;
  ci) packages+=("${test[@]}" "${ci[@]}" "${site[@]}") ;;
  full) packages+=("${test[@]}" "${ci[@]}" "${site[@]}" clang-16 libclang-rt-16-dev clang-tidy-16 gcovr g++-aarch64-linux-gnu) ;;
  site) packages=("${site[@]}") ;;
  bench) packages+=(libbenchmark-dev libopenblas-dev) ;;
  *) echo "install-deps.sh [demo|test|ci|full|site|bench]" >&2; exit 2 ;;
esac

missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q "install ok installed" || missing+=("$p")
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}
echo "installing: ${missing[*]}"
as_root apt-get update -q
DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -q --no-install-recommends "${missing[@]}"
