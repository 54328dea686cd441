#!/usr/bin/env bash
# Installs missing packages, builds with warnings as errors, and runs every test.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install-deps.sh
tools/build.sh -DDRYWELL_WERROR=ON -DDRYWELL_BUILD_TESTS=ON
exec ctest --test-dir "${DRYWELL_BUILD_DIR:-build}" --output-on-failure --parallel "$(nproc)"
