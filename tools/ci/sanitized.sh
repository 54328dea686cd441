#!/usr/bin/env bash
# Builds into a folder of its own with sanitizers and runs tests there: sanitized.sh [SANITIZERS [TARGET…]] [-- CTEST WORDS…]. By default address
# and undefined over the tests labelled quick. $DRYWELL_SANITIZED_FLAGS are the compiler's (-O0 -g1).
set -euo pipefail
cd "$(dirname "$0")/../.."
sanitizers=address,undefined
if [ $# -gt 0 ] && [ "$1" != "--" ]; then sanitizers=$1; shift; fi
targets=()
while [ $# -gt 0 ] && [ "$1" != "--" ]; do targets+=(--target "$1"); shift; done
[ $# -eq 0 ] || shift
[ ${#targets[@]} -gt 0 ] || targets=(--target drywell_quick_tests)
words=("$@")
[ ${#words[@]} -gt 0 ] || words=(-L quick)
build=${DRYWELL_BUILD_DIR:-build}-$(echo "$sanitizers" | tr ',' '-')
mkdir -p "$build"
# -O1 takes the compiler three times as long with these sanitizers (5.7 s instead of 1.9 s for isa/legality): it pays where programs run long.
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Debug "-DCMAKE_CXX_FLAGS_DEBUG=${DRYWELL_SANITIZED_FLAGS:--O0 -g1}" -DDRYWELL_UNITY=ON "-DDRYWELL_SANITIZE=$sanitizers" >"$build/configure.log" 2>&1 ||
  { cat "$build/configure.log"; exit 1; }
cmake --build "$build" --parallel "$(nproc)" "${targets[@]}"
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1 LSAN_OPTIONS=suppressions=$PWD/tools/ci/lsan.supp:print_suppressions=0
exec ctest --test-dir "$build" --output-on-failure --parallel "$(nproc)" "${words[@]}"
