"""Sessions of docs/python-package.md are replayed."""

import doctest
import importlib.util
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
