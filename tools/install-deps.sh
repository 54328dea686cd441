#!/usr/bin/env bash
# Installs the packages for building, testing and running Drywell on Debian 12. Works as root or with sudo; does nothing
# if all packages are installed. CUDA is optional and not installed here.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config git python3
  libfmt-dev libboost-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libhwy-dev libedit-dev libzstd-dev
  libgtest-dev libgmock-dev libbenchmark-dev libopenblas-dev
)

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
