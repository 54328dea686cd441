"""The pytest plugin, in tests that run inside this one."""

from importlib.metadata import entry_points

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
    import os

    here = os.path.dirname(__file__)

    def run(body):
        pytester.makepyfile(KERNELS + body)
        pytester.syspathinsert(here)
        return pytester.runpytest_inprocess(*PLUGIN, "-p", "no:cacheprovider", "-v")

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
    result.assert_outcomes(passed=1, errors=1)
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
    result.assert_outcomes(passed=1, errors=1)
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
