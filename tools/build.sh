#!/usr/bin/env bash
# Configures and builds into build/ (or $DRYWELL_BUILD_DIR). Arguments go to CMake's configure step.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${DRYWELL_BUILD_DIR:-build}
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release "${launcher[@]}" "$@"
cmake --build "$build" --parallel "$(nproc)"
