#!/usr/bin/env bash
# Configures and builds into build/ (or $DRYWELL_BUILD_DIR). Words before "--" are targets, all if there are none; those after it go to
# CMake's configure step. tools/demo.sh and tools/test.sh build with the same flags, so that each uses what the other has built.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${DRYWELL_BUILD_DIR:-build}
targets=()
while [ $# -gt 0 ] && [ "$1" != "--" ]; do targets+=(--target "$1"); shift; done
[ $# -eq 0 ] || shift
options=(-DCMAKE_BUILD_TYPE=Release -DDRYWELL_UNITY=ON)
# Another compiler than Debian 12's has other warnings.
[ "$(g++ -dumpversion 2>/dev/null)" != 12 ] || options+=(-DDRYWELL_WERROR=ON)
if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
echo "building ${targets[*]:-everything} in $build"
cmake -G Ninja -S . -B "$build" "${options[@]}" "$@" >"$build.configure.log" 2>&1 || { cat "$build.configure.log"; exit 1; }
mv "$build.configure.log" "$build/configure.log"
cmake --build "$build" --parallel "$(nproc)" "${targets[@]}"
