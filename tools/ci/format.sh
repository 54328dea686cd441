#!/usr/bin/env bash
# Checks that every C++ file has the tree's format (.clang-format). tools/format.sh mends all of them, tools/format.sh FILE one.
set -euo pipefail
cd "$(dirname "$0")/../.."
mapfile -t files < <(git ls-files '*.cpp' '*.h')
printf '%s\0' "${files[@]}" | xargs -0 -n 40 -P "$(nproc)" clang-format-14 --dry-run --Werror ||
  { echo "format: the lines above do not conform (tools/format.sh)" >&2; exit 1; }
echo "format: ${#files[@]} files conform"
