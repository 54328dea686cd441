#!/usr/bin/env bash
# From a fresh clone to the fused RHT + NVFP4 quantize kernel of 8192 x 5120, simulated and verified bit for bit.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/install-deps.sh
tools/build.sh drywell -- -DDRYWELL_BUILD_TESTS=OFF
exec "${DRYWELL_BUILD_DIR:-build}/tools/drywell" run fused-rht --m=8192 --n=5120 --verify
