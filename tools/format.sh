#!/usr/bin/env bash
# Formats C++ files with the clang-format that the style is pinned to (14): format.sh [FILE…], all of the tree's without words.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || mapfile -t files < <(git ls-files '*.cpp' '*.h')
[ $# -eq 0 ] || files=("$@")
printf '%s\0' "${files[@]}" | xargs -0 -n 40 -P "$(nproc)" clang-format-14 -i
