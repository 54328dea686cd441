#!/usr/bin/env bash
# Compiles every header of include/ alone: headers.sh [compiler]. A header that needs another to be included before it is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."
export compiler=${1:-g++}
git ls-files include | grep '\.h$' | sed 's|^include/||' |
  xargs -P "$(nproc)" -I{} sh -c 'echo "#include \"{}\"" | "$compiler" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -Iinclude -x c++ -'
