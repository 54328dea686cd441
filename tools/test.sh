#!/usr/bin/env bash
# Installs missing packages, builds what tools/demo.sh has not built (warnings are errors), and runs every test. Arguments go to
# ctest, e.g. -L quick.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install-deps.sh test
tools/build.sh -- -DDRYWELL_BUILD_TESTS=ON
echo "testing"
exec ctest --test-dir "${DRYWELL_BUILD_DIR:-build}" --output-on-failure --progress --parallel "$(nproc)" "$@"
