#!/usr/bin/env bash
# Cross-builds `drywell`, `drywell-lab`, `drywell-inspect` and the CUDA stand-in for aarch64 (the hosts of GB200) with Debian's compiler, and runs
# the first three under user-mode emulation: a kernel with --verify, the golden traces, and every third conformance program. tools/install-deps.sh full
# installs compiler and emulator; the libraries are unpacked into a folder of their own ($DRYWELL_BUILD_DIR-aarch64/root), so that the
# system needs no second architecture.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD
build=$(realpath -m "${DRYWELL_BUILD_DIR:-build}-aarch64")
root=$build/root lib=$build/root/usr/lib/aarch64-linux-gnu
mkdir -p "$root" "$build/apt/lists/partial" "$build/apt/archives/partial" "$build/deb"

libraries=(libfmt-dev libfmt9 libhwy-dev libhwy1 libzstd-dev libzstd1 libtomlplusplus-dev libtomlplusplus3 libedit-dev libedit2 libtinfo6 libncurses-dev libbsd-dev
           libbsd0 libmd0 zlib1g)
if [ ! -e "$root/ready" ]; then
  apt=(-o "Dir::State=$build/apt" -o Dir::State::status=/var/lib/dpkg/status -o "Dir::Cache=$build/apt" -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=)
  apt-get "${apt[@]}" update >/dev/null
  (cd "$build/deb" && apt-get "${apt[@]}" download "${libraries[@]/%/:arm64}" >/dev/null)
  for package in "$build"/deb/*.deb; do dpkg -x "$package" "$root"; done
  touch "$root/ready"
fi

cat >"$build/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH $root)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(ENV{PKG_CONFIG_LIBDIR} $lib/pkgconfig:$root/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} $root)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L$lib -Wl,-rpath-link,$lib")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-L$lib -Wl,-rpath-link,$lib")
END
cmake -G Ninja -S "$source" -B "$build" "-DCMAKE_TOOLCHAIN_FILE=$build/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG" -DDRYWELL_UNITY=ON \
  -DDRYWELL_BUILD_TESTS=OFF -DDRYWELL_INSTALL=OFF >"$build/configure.log" 2>&1 || { cat "$build/configure.log"; exit 1; }
cmake --build "$build" --parallel "$(nproc)" --target drywell drywell_lab drywell_inspect drywell_cudart

# `drywell` starts other programs itself, which the emulator does not do for it: each program is called by its name.
emulated() { qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$lib" "$build/tools/$1" "${@:2}"; }
emulated drywell run fused-rht --m=256 --n=512 --verify
emulated drywell-inspect trace check traces/golden
emulated drywell-lab conformance --part=3/3
