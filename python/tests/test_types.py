"""The package is typed: pyright finds no error, and `_core.pyi` names all that the module has."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_pyright_is_clean():
    pytest.importorskip("pyright")
    done = subprocess.run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(ROOT / "pyproject.toml")], capture_output=True, text=True)
    if "error" in done.stderr.lower() and not done.stdout:
        pytest.skip(f"pyright cannot start here: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stdout


def test_the_stub_is_that_of_the_module(tmp_path):
    pytest.importorskip("nanobind")
    made = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-m", "drywell._core", "-o", str(made)], check=True, capture_output=True)
    assert made.read_text() == (ROOT / "python/drywell/_core.pyi").read_text(), "python -m nanobind.stubgen -m drywell._core -o python/drywell/_core.pyi"
