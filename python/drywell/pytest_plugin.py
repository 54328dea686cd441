"""pytest plugin: ``@pytest.mark.drywell(drivers=[…], check="full", max_cycles=…)`` and the fixture ``drywell``.

A marked test runs once per driver. What it launches through the fixture, or through Triton inside it, is checked: a hazard of level
error, a fault, more predicted cycles than ``max_cycles``, or a trace that differs from its golden one fail the test with their text.

    @pytest.mark.drywell(drivers=["eager", "shuffled:1", "timed"], check="full", max_cycles=5000, triton=True)
    def test_add(drywell):
        add[(4,)](x, y, z, n, BLOCK=256)          # a Triton kernel: simulated
        drywell(kernel)[8](x, y, 2.0, 1000)       # a dw.Kernel with the driver and check of the mark

JUnit is pytest's own (``--junitxml``; kernels, cycles and hazards of a test are its properties), ``--drywell-sarif=FILE`` writes the hazards of all tests, and
``--drywell-bless`` writes golden traces anew.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from pathlib import Path
from typing import Any, Callable, Generator, Iterator, Sequence

import pytest

_DRIVERS = ("eager", "lazy", "shuffled:1", "timed")
_HAZARDS = pytest.StashKey["list[Any]"]()


class Goldens:
    """Traces of a test beside its file: ``FOLDER/TEST.N.arch.trace`` of launch N for every driver without a clock, ``….cycle.trace`` for the timed one."""

    def __init__(self, folder: Path, test: str, bless: bool) -> None:
        self.folder, self.test, self.bless = folder, re.sub(r"\W+", "_", test), bless

    def difference(self, number: int, run: Any) -> str:
        """What differs from the golden trace, as text; empty if nothing does. Writes it instead under ``--drywell-bless``."""
        from .results import diff_traces

        file = self.folder / f"{self.test}.{number}.{'cycle' if run.timing else 'arch'}.trace"
        if self.bless:
            self.folder.mkdir(parents=True, exist_ok=True)
            file.write_text(run.trace)
            return ""
        if not file.exists():
            return f"{run.launch.kernel}: no golden trace {file}; --drywell-bless writes it"
        message = diff_traces(file.read_text(), run)
        return f"{run.launch.kernel}: the trace differs from {file} (--drywell-bless, if that is meant)\n{message}" if message else ""


class Checked:
    """The fixture: launches kernels with the mark's driver and check, and keeps the runs."""

    def __init__(self, driver: str, check: str | None, arch: str | None, max_cycles: int | None, strict: bool, allow: str | Sequence[str],
                 goldens: Goldens | None = None) -> None:
        self.driver, self.check, self.arch = driver, check, arch
        self.max_cycles, self.strict, self.goldens = max_cycles, strict, goldens
        self.allow = (allow,) if isinstance(allow, str) else tuple(allow)
        self.launches: list[Any] = []
        self.tried = 0  # launches that were begun: a test may expect a fault
        self.session: Any = None  # of Triton

    def __call__(self, kernel: Any) -> _Bound:
        """A :class:`drywell.Kernel` under this test's driver: ``drywell(kernel)[grid](args…)``."""
        return _Bound(self, kernel)

    @property
    def hazards(self) -> list[Any]:
        """Hazards of what was launched."""
        return [h for r in self.launches for h in r.hazards or []]

    def complaints(self) -> list[str]:
        """What is wrong with what was launched: hazards, cycles, traces; a text each."""
        bad = ("error", "warning") if self.strict else ("error",)
        texts = [h.text for h in self.hazards if h.level in bad and h.code not in self.allow]
        for number, r in enumerate(self.launches):
            if self.max_cycles is not None and r.cycles is not None and r.cycles > self.max_cycles:
                texts.append(f"{r.launch.kernel}: {r.cycles} cycles, {self.max_cycles} are allowed")
            if self.goldens is not None:
                texts += filter(None, [self.goldens.difference(number, r)])
        return texts

    def is_idle(self) -> bool:
        """Nothing was launched that this fixture sees: a test that would pass whatever its kernel does."""
        return not self.tried and (self.session is None or not self.session.tried)

    def properties(self) -> list[tuple[str, object]]:
        """Of the test, in JUnit reports: a row per launch."""
        return [(f"drywell.{n}.{r.launch.kernel}", f"{r.cycles} cycles" if r.timing else f"{r.instructions} warp instructions") for n, r in enumerate(self.launches)]


class _Bound:
    def __init__(self, owner: Checked, kernel: Any) -> None:
        self._owner, self._kernel = owner, kernel

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            o = self._owner
            o.tried += 1
            run = self._kernel[grid](*args, **{"driver": o.driver, "check": o.check, "arch": o.arch, "trace": o.goldens is not None, **kwargs})
            o.launches.append(run)
            return run

        return call


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("drywell", "kernels on Drywell's simulator")
    group.addoption("--drywell-sarif", metavar="FILE", help="write the hazards of all marked tests as SARIF 2.1.0")
    group.addoption("--drywell-bless", action="store_true", help="write the golden traces of marked tests anew")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_HAZARDS] = []
    config.addinivalue_line("markers", "drywell(drivers, check='full', max_cycles=None, arch=None, triton=False, strict=False, allow=(), golden=None): "
                                       "run under each driver of the simulator; hazards fail the test; golden: a folder of traces beside the test")


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> None:
    """A marked test uses the fixture also if it does not name it: a mark must not be without effect."""
    marked = any(m.name == "drywell" for m in getattr(obj, "pytestmark", ())) or collector.get_closest_marker("drywell") is not None
    if marked and inspect.isroutine(obj) and collector.istestfunction(obj, name):
        pytest.mark.usefixtures("drywell")(obj)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A marked test is one test per driver."""
    mark = metafunc.definition.get_closest_marker("drywell")
    if mark is not None and "drywell" in metafunc.fixturenames:
        metafunc.parametrize("drywell", _drivers(mark) or [_NONE], indirect=True)


_OPTIONS = ("drivers", "check", "max_cycles", "arch", "triton", "strict", "allow", "golden")


def _options(mark: pytest.Mark | None) -> dict[str, Any]:
    """Of the mark. A name that is none of them would be a test that checks less than it says."""
    if mark is None:
        return {}
    unknown = [*map(repr, mark.args), *(f"{name}=" for name in mark.kwargs if name not in _OPTIONS)]
    if unknown:
        pytest.fail(f"mark drywell: {', '.join(unknown)}: its options are {', '.join(f'{name}=' for name in _OPTIONS)}", pytrace=False)
    _refuse_what_checks_nothing(mark)
    return dict(mark.kwargs)


_NONE = "no driver"


def _refuse_what_checks_nothing(mark: pytest.Mark) -> None:
    if not _drivers(mark):
        pytest.fail("mark drywell: drivers=[]: the test would never run", pytrace=False)
    if mark.kwargs.get("max_cycles") is not None and "timed" not in _drivers(mark):
        pytest.fail("mark drywell: max_cycles= without the driver 'timed': no launch has cycles", pytrace=False)


def _drivers(mark: pytest.Mark) -> list[str]:
    given = mark.kwargs.get("drivers", _DRIVERS)
    return [given] if isinstance(given, str) else list(given)


def _goldens(request: pytest.FixtureRequest, folder: str | None) -> Goldens | None:
    if folder is None:
        return None
    name = request.node.nodeid.rpartition("::")[2].replace(str(getattr(request, "param", "")), "")
    return Goldens(request.path.parent / folder, f"{request.path.stem}_{name}".rstrip("[]-_"), bool(request.config.getoption("--drywell-bless")))


@pytest.fixture
def drywell(request: pytest.FixtureRequest) -> Iterator[Checked]:
    """Launches of this test, under the mark's driver and checks."""
    mark = request.node.get_closest_marker("drywell")
    options = _options(mark)
    checked = Checked(getattr(request, "param", "eager"), options.get("check", "full"), options.get("arch"), options.get("max_cycles"),
                      options.get("strict", False), options.get("allow", ()), _goldens(request, options.get("golden")))
    with contextlib.ExitStack() as stack:
        if options.get("triton"):
            from .triton import simulate

            checked.session = stack.enter_context(simulate(check=checked.check, driver=checked.driver, arch=checked.arch or "sm_100a",
                                                           trace=checked.goldens is not None))
            checked.launches = checked.session.launches
        yield checked


def _remedy(checked: Checked, error: Exception) -> list[str]:
    """Triton has no device where there is no GPU."""
    forgotten = checked.session is None and isinstance(error, RuntimeError) and "active drivers" in str(error)
    return ["hint: triton=True in the mark drywell simulates kernels of Triton"] if forgotten else []


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Judges what the test launched as a part of the test itself; a test that fails by itself shows the hazards, too."""
    checked = pyfuncitem.funcargs.get("drywell")
    if not isinstance(checked, Checked):
        return (yield)
    try:
        result = yield
    except Exception as e:
        pyfuncitem.add_report_section("call", "drywell", "\n\n".join(checked.complaints() + _remedy(checked, e)))
        raise
    finally:
        pyfuncitem.user_properties += checked.properties()
        pyfuncitem.config.stash[_HAZARDS] += checked.hazards
    texts = checked.complaints()
    if checked.is_idle() and pyfuncitem.get_closest_marker("drywell") is not None:
        texts = ["nothing was launched that mark drywell sees: drywell(kernel)[grid](…) for a dw.Kernel, triton=True for kernels of Triton"]
    if texts:
        pytest.fail("\n\n".join(texts), pytrace=False)
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    file = session.config.getoption("--drywell-sarif")
    if file:
        from .sarif import to_sarif

        Path(file).write_text(to_sarif(session.config.stash[_HAZARDS]))
