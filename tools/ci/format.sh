#!/usr/bin/env bash
# Checks that the C++ lines changed since BASE have the tree's format: format.sh [BASE]. BASE is the branch point from origin/main, or the
# commit before the last one where there is none. tools/format.sh FILE mends a file.
set -euo pipefail
cd "$(dirname "$0")/../.."
base=${1:-$(git merge-base HEAD origin/main 2>/dev/null || true)}
if [ -z "$base" ] || [ "$(git rev-parse "$base")" = "$(git rev-parse HEAD)" ]; then base=$(git rev-parse --verify -q HEAD~1 || true); fi
[ -n "$base" ] || { echo "format: no commit to compare with"; exit 0; }
# git-clang-format says one of these where nothing has to change.
found=$(git clang-format-14 --binary clang-format-14 --extensions cpp,h --diff "$base")
case $found in
  "" | "no modified files to format" | "clang-format did not modify any files") echo "format: the lines changed since $(git rev-parse --short "$base") conform" ;;
  *) echo "$found"; echo "format: the lines above do not conform (tools/format.sh FILE)" >&2; exit 1 ;;
esac
