"""Kernels that are right: each runs under all drivers with full checks, and must give the reference's values without an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Iterable

import numpy as np

DRIVERS = ("eager", "lazy", "shuffled:7", "timed")
BOTH = ("sm_100a", "sm_90a")
BLACKWELL = ("sm_100a",)
HOPPER = ("sm_90a",)


@dataclass(frozen=True)
class Check:
    """One output, and what an independent computation says. ``tolerance`` 0: equal bits. ``ordered``: the same bits under every driver."""

    got: np.ndarray
    want: np.ndarray
    tolerance: float = 0.0
    ordered: bool = True


Case = Callable[[], "Iterable[Check] | Check"]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def floats(*shape: int, seed: int = 0, dtype: Any = np.float32) -> np.ndarray:
    return rng(seed).standard_normal(shape).astype(dtype)


def small_ints(*shape: int, seed: int = 0, dtype: Any = np.float32, least: int = -4, most: int = 5) -> np.ndarray:
    """Small whole numbers: sums of products are exact in every order."""
    return rng(seed).integers(least, most, shape).astype(dtype)


def as_float(x: np.ndarray) -> np.ndarray:
    return x if x.dtype.kind in "iub" else x.astype(np.float64)


def compare(c: Check) -> None:
    if c.tolerance == 0:
        np.testing.assert_array_equal(as_float(c.got), as_float(c.want))
    else:
        np.testing.assert_allclose(as_float(c.got), as_float(c.want), rtol=c.tolerance, atol=c.tolerance)


def check_case(fn: Case, arch: str, simulate: Any, drivers: Iterable[str] = DRIVERS) -> None:
    """Runs a case under each driver; equal bits under all of them."""
    first: list[bytes] | None = None
    for driver in drivers:
        with simulate(check="full", driver=driver, arch=arch) as s:
            checks = fn()
        checks = [checks] if isinstance(checks, Check) else list(checks)
        assert s.launches, "the case launched nothing"
        for c in checks:
            compare(c)
        errors = [h.text for h in s.hazards if h.level == "error"]
        assert not errors, f"{driver}: " + "\n".join(errors)
        bits = [c.got.tobytes() for c in checks if c.ordered]
        assert first is None or bits == first, f"{driver} gives other bits than {list(drivers)[0]}"
        first = bits


class Registry(dict[str, tuple[Case, tuple[str, ...]]]):
    """Cases of a file, by name."""

    def case(self, archs: tuple[str, ...] = BOTH) -> Callable[[Case], Case]:
        def add(fn: Case) -> Case:
            self[fn.__name__] = (fn, archs)
            return fn

        return add

    def parameters(self) -> list[Any]:
        import pytest

        return [pytest.param(fn, arch, id=f"{name}-{arch}") for name, (fn, archs) in self.items() for arch in archs]
