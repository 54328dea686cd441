"""The pytest plugin, in tests that run inside this one."""

import importlib.util
import json
import os
import sys
from importlib.metadata import entry_points
from xml.etree import ElementTree

import pytest

import drywell  # noqa: F401: loaded before pytester, which forgets modules that its inner runs load; NumPy cannot be loaded twice

pytest_plugins = ["pytester"]

# An installed package has an entry point, by which pytest loads the plugin itself.
INSTALLED = any(e.value == "drywell.pytest_plugin" for e in entry_points(group="pytest11"))
PLUGIN = () if INSTALLED else ("-p", "drywell.pytest_plugin")

KERNELS = """
import numpy as np, pytest, drywell as dw, ptx
"""


@pytest.fixture
def inner(pytester, monkeypatch):
    """Runs a test file with the plugin and the PTX of these tests."""
    here = os.path.dirname(__file__)

    def run(body, *options, own_process=False):
        pytester.makepyfile(KERNELS + body)
        pytester.syspathinsert(here)
        if own_process:  # as often as Triton is used: it cannot be loaded twice either
            monkeypatch.setenv("PYTHONPATH", os.pathsep.join([here, *filter(None, sys.path)]))
        start = pytester.runpytest_subprocess if own_process else pytester.runpytest_inprocess
        return start(*PLUGIN, "-p", "no:cacheprovider", "-v", *options)

    return run


def test_a_right_kernel_passes_once_per_driver(inner):
    result = inner("""
@pytest.mark.drywell(drivers=["eager", "shuffled:5", "timed"], check="full", max_cycles=100000)
def test_right(drywell):
    out = dw.poison(64, np.uint32)
    drywell(dw.Kernel.from_ptx(ptx.neighbours(True)))[1](out)
    assert (out == np.arange(64) ^ 32).all()
""")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*test_right?eager?*", "*test_right?shuffled:5?*", "*test_right?timed?*"])


def test_a_hazard_fails_the_test_with_its_text(inner):
    result = inner("""
@pytest.mark.drywell(drivers=["eager"])
def test_race(drywell):
    drywell(dw.Kernel.from_ptx(ptx.neighbours(False)))[1](dw.poison(64, np.uint32))
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*error H7401: two warps access the same shared memory*", "*written by: neighbours CTA*"])


def test_a_listed_hazard_is_allowed(inner):
    inner("""
@pytest.mark.drywell(drivers=["eager"], allow=["H7401"])
def test_race(drywell):
    drywell(dw.Kernel.from_ptx(ptx.neighbours(False)))[1](dw.poison(64, np.uint32))
""").assert_outcomes(passed=1)


def test_too_many_cycles_fail_the_test(inner):
    result = inner("""
@pytest.mark.drywell(drivers=["timed"], max_cycles=10)
def test_slow(drywell):
    drywell(dw.Kernel.from_ptx(ptx.neighbours(True)))[1](dw.poison(64, np.uint32))
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*neighbours: * cycles, 10 are allowed*"])


def test_faults_fail_the_test(inner):
    result = inner("""
@pytest.mark.drywell(drivers=["eager"])
def test_fault(drywell):
    drywell(dw.Kernel.from_ptx(ptx.neighbours(True)))[1](dw.poison(8, np.uint32))
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*F3001*out of bounds*"])


def test_triton_kernels_run_simulated(inner):
    pytest.importorskip("triton")
    inner("""
from test_triton_elementwise import add_kernel

@pytest.mark.drywell(drivers=["eager", "timed"], triton=True)
def test_add(drywell):
    x, z = np.arange(300, dtype=np.float32), dw.poison(300)
    add_kernel[(2,)](x, x, z, 300, BLOCK=256)
    assert (z == 2 * x).all() and len(drywell.launches) == 1
""").assert_outcomes(passed=2)


RACE = """
@pytest.mark.drywell(drivers=["eager", "lazy"])
def test_race(drywell):
    drywell(dw.Kernel.from_ptx(ptx.neighbours(False)))[1](dw.poison(64, np.uint32))
"""


def test_reports_for_machines_have_the_hazards(inner, pytester):
    inner(RACE, "--drywell-sarif=h.sarif", "--junitxml=j.xml").assert_outcomes(failed=2)
    sarif = json.loads((pytester.path / "h.sarif").read_text())
    (run,) = sarif["runs"]
    assert sarif["version"] == "2.1.0" and [r["id"] for r in run["tool"]["driver"]["rules"]] == ["H7401", "H7501"]
    texts = [json.dumps(r) for r in run["results"]]
    assert texts and len(texts) == len(set(texts))  # what both drivers find is there once
    assert all("neighbours" in r["locations"][0]["message"]["text"] for r in run["results"])
    cases = list(ElementTree.parse(pytester.path / "j.xml").iter("testcase"))
    assert ["H7401" in c.find("failure").get("message") for c in cases] == [True, True]
    assert all("warp instructions" in c.find("properties/property").get("value") for c in cases)


GOLDEN = """
@pytest.mark.drywell(drivers=["eager", "lazy", "timed"], golden="goldens")
def test_trace(drywell):
    drywell(dw.Kernel.from_ptx(ptx.AXPY))[1](np.ones(64, np.float32), np.ones(64, np.float32), {factor}, 64, block=64)
"""


def test_golden_traces(inner, pytester):
    missing = inner(GOLDEN.format(factor=2.0))
    missing.assert_outcomes(failed=3)
    missing.stdout.fnmatch_lines(["*no golden trace*--drywell-bless writes it*"])
    inner(GOLDEN.format(factor=2.0), "--drywell-bless").assert_outcomes(passed=3)
    assert len(list((pytester.path / "goldens").glob("*.0.arch.trace"))) == 1 and len(list((pytester.path / "goldens").glob("*.0.cycle.trace"))) == 1
    inner(GOLDEN.format(factor=2.0)).assert_outcomes(passed=3)
    other = inner(GOLDEN.format(factor=2.0).replace("64, block=64", "33, block=64"))
    other.assert_outcomes(failed=3)
    other.stdout.fnmatch_lines(["*the trace differs from*"])


def test_a_test_that_fails_by_itself_shows_the_hazards_too(inner):
    result = inner(RACE.replace('["eager", "lazy"]', '["eager"]') + "    assert False, 'of its own'\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*of its own*", "*drywell*", "*error H7401*"])


def test_a_mark_alone_counts(inner):
    """A test that names no fixture runs under the drivers and is checked, too; a mark of the whole file or class likewise."""
    if importlib.util.find_spec("triton") is None:  # not imported here, for the same reason
        pytest.skip("no triton")
    body = """
from test_triton_elementwise import add_kernel

{file}
class TestAdd:
    {mark}
    def test_add(self):
        x, z = np.arange(300, dtype=np.float32), dw.poison(300)
        add_kernel[(2,)](x, x, z, {n}, BLOCK=256)
"""
    mark = '@pytest.mark.drywell(drivers=["eager", "timed"], triton=True)'
    inner(body.format(file="", mark=mark, n=300), own_process=True).assert_outcomes(passed=2)
    inner(body.format(file=mark, mark="", n=300), own_process=True).assert_outcomes(passed=2)
    inner(body.format(file=mark.replace("@", "pytestmark = "), mark="", n=300), own_process=True).assert_outcomes(passed=2)
    inner(body.format(file="", mark=mark, n=600), own_process=True).assert_outcomes(failed=2)


@pytest.mark.parametrize("mark", ["driver='eager'", "['eager']", "max_cycle=5"])
def test_an_option_that_does_not_exist_fails(inner, mark):
    result = inner(f"""
@pytest.mark.drywell({mark})
def test_it(drywell):
    pass
""")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*mark drywell: *its options are drivers=, check=*"])


def test_one_driver_may_be_a_word(inner):
    inner("""
@pytest.mark.drywell(drivers="timed")
def test_it(drywell):
    assert drywell(dw.Kernel.from_ptx(ptx.neighbours(True)))[1](dw.poison(64, np.uint32)).cycles > 0
""").assert_outcomes(passed=1)


@pytest.mark.parametrize("mark, text", [("drivers=[]", "the test would never run"), ("drivers='eager', max_cycles=9", "no launch has cycles")])
def test_a_mark_that_checks_nothing_fails(inner, mark, text):
    result = inner(f"""
@pytest.mark.drywell({mark})
def test_it(drywell):
    drywell(dw.Kernel.from_ptx(ptx.neighbours(True)))[1](dw.poison(64, np.uint32))
""")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{text}*"])


def test_a_launch_past_the_fixture_is_no_test(inner):
    """A kernel that is called by itself is not checked, however wrong it is; one that is expected to fault was tried."""
    result = inner("""
@pytest.mark.drywell(drivers="eager")
def test_past(drywell):
    dw.Kernel.from_ptx(ptx.neighbours(False))[1](dw.poison(64, np.uint32))

@pytest.mark.drywell(drivers="eager")
def test_faults(drywell):
    with pytest.raises(dw.Fault):
        drywell(dw.Kernel.from_ptx(ptx.AXPY))[1](None, None, 1.0, 4, block=32)

def test_unmarked(drywell):
    pass
""")
    result.assert_outcomes(failed=1, passed=2)
    result.stdout.fnmatch_lines(["*nothing was launched that mark drywell sees*"])


def test_one_allowed_hazard_may_be_a_word_and_the_machine_is_the_marks(inner):
    result = inner("""
@pytest.mark.drywell(drivers="eager", allow="H7401")
def test_race(drywell):
    drywell(dw.Kernel.from_ptx(ptx.neighbours(False)))[1](dw.poison(64, np.uint32))

@pytest.mark.drywell(drivers="eager", arch="sm_90a")
def test_arch(drywell):
    with pytest.raises(dw.IllegalError, match="sm_90a does not load PTX for sm_100a"):
        drywell(dw.Kernel.from_ptx(ptx.neighbours(True)))[1](dw.poison(64, np.uint32))
""")
    result.assert_outcomes(passed=2)


def test_a_kernel_of_triton_without_its_option_has_a_remedy(inner):
    result = inner("""
@pytest.mark.drywell(drivers="eager")
def test_forgotten(drywell):
    raise RuntimeError("0 active drivers ([]). There should only be one.")  # Triton's words
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*hint: triton=True in the mark drywell*"])
