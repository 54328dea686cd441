#!/usr/bin/env bash
# Installs missing packages, builds with warnings as errors, and runs every test.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install-deps.sh
python=()
if python3 -m nanobind --cmake_dir >/dev/null 2>&1; then python=(-DDRYWELL_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$(command -v python3)"); fi
tools/build.sh -DDRYWELL_WERROR=ON -DDRYWELL_BUILD_TESTS=ON "${python[@]}"
exec ctest --test-dir "${DRYWELL_BUILD_DIR:-build}" --output-on-failure --parallel "$(nproc)"
