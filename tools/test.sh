#!/usr/bin/env bash
# Installs missing packages, builds what tools/demo.sh has not built (warnings are errors), and runs every test. Arguments go to
# ctest, e.g. -L quick. The Python package is built and tested where nanobind is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install-deps.sh test
python=()
if python3 -m nanobind --cmake_dir >/dev/null 2>&1; then python=(-DDRYWELL_BUILD_PYTHON=ON "-DPython_EXECUTABLE=$(command -v python3)"); fi
tools/build.sh -- -DDRYWELL_BUILD_TESTS=ON "${python[@]}"
echo "testing"
exec ctest --test-dir "${DRYWELL_BUILD_DIR:-build}" --output-on-failure --progress --parallel "$(nproc)" "$@"
