"""pytest plugin: ``@pytest.mark.drywell(drivers=[…], check="full", max_cycles=…)`` and the fixture ``drywell``.

A marked test runs once per driver. What it launches through the fixture, or through Triton inside it, is checked: a hazard of level
error, a fault, or more predicted cycles than ``max_cycles`` fail the test with their text. JUnit and other reports are pytest's own.

    @pytest.mark.drywell(drivers=["eager", "shuffled:1", "timed"], check="full", max_cycles=5000, triton=True)
    def test_add(drywell):
        add[(4,)](x, y, z, n, BLOCK=256)          # a Triton kernel: simulated
        drywell(kernel)[8](x, y, 2.0, 1000)       # a dw.Kernel with the driver and check of the mark
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Sequence

import pytest

_DRIVERS = ("eager", "lazy", "shuffled:1", "timed")


class Checked:
    """The fixture: launches kernels with the mark's driver and check, and keeps the runs."""

    def __init__(self, driver: str, check: str | None, arch: str, max_cycles: int | None, strict: bool, allow: Sequence[str]) -> None:
        self.driver, self.check, self.arch = driver, check, arch
        self.max_cycles, self.strict, self.allow = max_cycles, strict, tuple(allow)
        self.launches: list[Any] = []

    def __call__(self, kernel: Any) -> _Bound:
        """A :class:`drywell.Kernel` under this test's driver: ``drywell(kernel)[grid](args…)``."""
        return _Bound(self, kernel)

    def verify(self) -> None:
        """Fails the test for hazards and cycles of what was launched."""
        bad = ("error", "warning") if self.strict else ("error",)
        texts = [h.text for r in self.launches for h in r.hazards or [] if h.level in bad and h.code not in self.allow]
        for r in self.launches:
            if self.max_cycles is not None and r.cycles is not None and r.cycles > self.max_cycles:
                texts.append(f"{r.launch.kernel}: {r.cycles} cycles, {self.max_cycles} are allowed")
        if texts:
            pytest.fail("\n\n".join(texts), pytrace=False)


class _Bound:
    def __init__(self, owner: Checked, kernel: Any) -> None:
        self._owner, self._kernel = owner, kernel

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            o = self._owner
            run = self._kernel[grid](*args, **{"driver": o.driver, "check": o.check, **kwargs})
            o.launches.append(run)
            return run

        return call


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "drywell(drivers, check='full', max_cycles=None, arch='sm_100a', triton=False, strict=False, allow=()): "
                                       "run under each driver of the simulator; hazards fail the test")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A marked test that takes the fixture is one test per driver."""
    mark = metafunc.definition.get_closest_marker("drywell")
    if mark is not None and "drywell" in metafunc.fixturenames:
        metafunc.parametrize("drywell", list(mark.kwargs.get("drivers", _DRIVERS)), indirect=True)


@pytest.fixture
def drywell(request: pytest.FixtureRequest) -> Iterator[Checked]:
    """Launches of this test, under the mark's driver and checks."""
    mark = request.node.get_closest_marker("drywell")
    options = dict(mark.kwargs) if mark is not None else {}
    checked = Checked(getattr(request, "param", "eager"), options.get("check", "full"), options.get("arch", "sm_100a"), options.get("max_cycles"),
                      options.get("strict", False), options.get("allow", ()))
    with contextlib.ExitStack() as stack:
        if options.get("triton"):
            from .triton import simulate

            session = stack.enter_context(simulate(check=checked.check, driver=checked.driver, arch=checked.arch))
            checked.launches = session.launches
        yield checked
    checked.verify()
