"""Sessions of docs/python-package.md and docs/python.md are replayed."""

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def session(text, with_triton):
    """The examples of the page; those marked `needs triton` only with Triton."""
    kept = [e for e in doctest.DocTestParser().get_examples(text) if with_triton or "needs triton" not in e.source]
    return doctest.DocTest(kept, {}, "python-package.md", str(ROOT / "docs/python-package.md"), 0, text)


@pytest.mark.parametrize("with_triton", [False, True])
def test_sessions_of_the_page(monkeypatch, capsys, with_triton):
    if with_triton and importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed")
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    text = (ROOT / "docs/python-package.md").read_text()
    runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)
    test = session(text, with_triton)
    runner.run(test)
    assert runner.tries >= 15 and runner.failures == 0, capsys.readouterr().out


def commands():
    """The lines of the first block of docs/python.md, without comments."""
    block = re.search(r"```sh\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.S)
    lines = [line.partition("  #")[0].strip() for line in block[1].splitlines()]
    return [line for line in lines if line.startswith("drywell ")]


@pytest.mark.skipif(not os.environ.get("DRYWELL_BINARY"), reason="no drywell program (DRYWELL_BINARY)")
@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="triton is not installed")
@pytest.mark.parametrize("line", commands())
def test_commands_of_the_page_about_scripts(tmp_path, line):
    for name, program in (("python", sys.executable), ("drywell", os.environ["DRYWELL_BINARY"])):
        starter = tmp_path / name
        starter.write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
        starter.chmod(0o755)
    report = re.search(r"--report=(\S+)", line)
    if report:
        line = line.replace(report[1], str(tmp_path / report[1]))
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TRITON_CACHE_DIR": str(tmp_path / "cache")}
    ran = subprocess.run(["sh", "-c", line], cwd=ROOT / "tests/python", env=env, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "run in the simulator" in ran.stderr or line.startswith("drywell exec"), ran.stderr
    if "--summary" in line:
        assert "launches" in ran.stderr and "\nerror" not in ran.stderr
    if report:
        assert "cycles" in (tmp_path / report[1]).read_text()


def test_the_page_has_commands():
    assert len(commands()) >= 5
