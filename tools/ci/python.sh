#!/usr/bin/env bash
# The interpreter with which CI builds and tests the Python package: python.sh FOLDER makes a virtual environment there with Triton and NumPy
# (some 400 MB; no PyTorch), and does nothing if it is complete. Without PyPI it says so and ends with 0: the tests are skipped then.
set -euo pipefail
folder=$1
packages=(nanobind scikit-build-core numpy ml_dtypes pytest jsonschema basedpyright triton==3.9.0)
[ -x "$folder/bin/python3" ] || python3 -m venv "$folder" || { echo "skipped: python3 -m venv fails (Debian: python3-venv)"; exit 0; }
"$folder/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}" || { echo "skipped: PyPI is not reached, or lacks one of: ${packages[*]}"; rm -rf "$folder"; }
