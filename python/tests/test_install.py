"""`pip install .` into an empty environment: builds everything, so that it runs only on request (DRYWELL_TEST_PIP=1)."""

import os
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not os.environ.get("DRYWELL_TEST_PIP"), reason="DRYWELL_TEST_PIP is not set: a build from nothing takes minutes")


def clean_environment():
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}


def test_pip_install_from_the_checkout(tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    python, command = tmp_path / "venv/bin/python", tmp_path / "venv/bin/drywell"
    subprocess.run([python, "-m", "pip", "install", "-q", str(ROOT)], check=True, cwd=tmp_path, env=clean_environment())
    code = "import drywell as dw; print(dw.__version__, dw.layout('composition(20:2, (5,4):(4,1))'))"
    said = subprocess.run([python, "-c", code], check=True, cwd=tmp_path, env=clean_environment(), capture_output=True, text=True).stdout
    assert said.split()[1] == "(5,4):(8,2)"
    version = subprocess.run([command, "--version"], check=True, env=clean_environment(), capture_output=True, text=True).stdout
    assert version.startswith(f"drywell {said.split()[0]} (")
    assert subprocess.run([command, "run", "tma-copy", "--verify"], env=clean_environment()).returncode == 0
