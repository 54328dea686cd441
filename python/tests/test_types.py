"""The package is typed: pyright finds no error, and `_core.pyi` names all that the module has."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def checkers():
    """The type checkers that are installed. The first downloads itself from npm when it starts, the second is pyright with its own node."""
    return [name for name in ("pyright", "basedpyright") if importlib.util.find_spec(name) is not None]


def test_pyright_is_clean():
    for checker in checkers():
        done = subprocess.run([sys.executable, "-m", checker, "--pythonpath", sys.executable, "-p", str(ROOT / "pyproject.toml")], capture_output=True, text=True)
        if done.stdout:
            assert done.returncode == 0, done.stdout
            return
    pytest.skip("no pyright that starts here (pip install basedpyright)")


def test_the_stub_is_that_of_the_module(tmp_path):
    pytest.importorskip("nanobind")
    made = tmp_path / "_core.pyi"
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-m", "drywell._core", "-o", str(made)], check=True, capture_output=True)
    assert made.read_text() == (ROOT / "python/drywell/_core.pyi").read_text(), "python -m nanobind.stubgen -m drywell._core -o python/drywell/_core.pyi"
