"""Options of a launch, and the launch itself: from a prepared machine to a Run or an exception."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from operator import index
from typing import Any, Callable, Sequence, SupportsIndex

import numpy as np

from . import _core, results
from .errors import Deadlock, Error, Fault, Stopped, UnsupportedError
from .machine import Machine

Extent = SupportsIndex | Sequence[SupportsIndex]


@dataclass(frozen=True)
class Options:
    """How a launch runs. The defaults are those of the command."""

    driver: str = "eager"            # "eager", "lazy", "shuffled:SEED", "parted:SEED", "timed"
    check: str | bool | None = None  # None, False or "off", "basic", True or "full"
    arch: str = "sm_100a"            # a name of `drywell arch`, or the path of a .toml file
    trace: bool | str = False        # True, or "values": also the values that instructions wrote to registers
    timeline: bool | Extent = False  # timed driver: True (CTA 0), or the CTA
    threads: int = 0                 # host threads; 0 = all cores. Results do not depend on it
    max_instructions: int = 0        # warp instructions; 0 = unlimited
    max_seconds: float = 0           # of the host; 0 = unlimited
    values: bool = True              # False, timed driver: same cycles, the tensor core's results are not computed
    cooperative: bool = False
    progress: bool | Callable[[int, int, int], object] = False  # True: a bar of tqdm, if it is installed
    contract: bool = False           # products and sums become one fma where ptxas makes one
    dump: str = ""                   # a folder: the launch is written there as a launch file (NUMBER-KERNEL/launch.toml) before it runs

    def __post_init__(self) -> None:
        if isinstance(self.check, (bool, np.bool_)):
            object.__setattr__(self, "check", "full" if self.check else None)
        if isinstance(self.check, str) and self.check == "off":
            object.__setattr__(self, "check", None)
        for name in ("driver", "check", "arch", "dump"):
            value = getattr(self, name)
            if not isinstance(value, str) and not (name == "check" and value is None):
                raise TypeError(f"{name}={value!r}: a word is expected")
        for name in ("values", "cooperative", "contract"):
            object.__setattr__(self, name, truth(getattr(self, name), name))
        for name in ("threads", "max_instructions"):
            object.__setattr__(self, name, count(getattr(self, name), name))
        self._refuse_what_says_nothing()

    def _refuse_what_says_nothing(self) -> None:
        """Values that would be taken for another, or for no limit."""
        if not isinstance(self.max_seconds, Real) or not self.max_seconds >= 0:
            raise ValueError(f"max_seconds={self.max_seconds!r}: a number of seconds, 0 for no limit")
        if self.trace not in (True, False, "values"):
            raise ValueError(f"trace={self.trace!r}: True, False or 'values'")
        if self.progress not in (True, False, None) and not callable(self.progress):
            raise TypeError(f"progress={self.progress!r}: True, or a function of (done, total, cycles)")

    @property
    def level(self) -> str | None:
        """`check` as a word; None without checks."""
        return self.check if isinstance(self.check, str) else None


MOST = (1 << 32) - 1  # of an extent, and of bytes of shared memory


def truth(value: Any, what: str) -> bool:
    """A truth value, Python's or NumPy's."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what}={value!r}: True or False")
    return bool(value)


def count(value: Any, what: str, most: int = (1 << 63) - 1) -> int:
    """A whole number from 0 to `most`, Python's or NumPy's."""
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{what}={value!r}: a whole number") from None
    if not 0 <= number <= most:
        raise ValueError(f"{what}={value!r}: a whole number from 0 to {most}")
    return number


def triple(value: Extent, what: str, fill: int = 1) -> tuple[int, int, int]:
    """1 to 3 whole numbers, Python's or NumPy's, filled with ones: extents (a CTA's place is filled with zeros)."""
    items = _whole_numbers(value, what)
    if not 1 <= len(items) <= 3 or any(not 0 <= v <= MOST for v in items):
        raise ValueError(f"{what}={value!r}: one to three whole numbers from 0 to {MOST}")
    return (*items, fill, fill)[:3]  # type: ignore[return-value]


def _whole_numbers(value: Any, what: str) -> tuple[int, ...]:
    try:
        return tuple(index(v) for v in value) if hasattr(value, "__len__") else (index(value),)
    except TypeError:
        raise TypeError(f"{what}={value!r}: one to three whole numbers") from None


@dataclass(frozen=True)
class Request:
    """One launch on a machine: loaded module, kernel, shape and the bytes of its arguments."""

    module: int
    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    smem: int
    arguments: list[bytes]


def _core_request(r: Request, o: Options) -> _core.LaunchRequest:
    c = _core.LaunchRequest()
    c.entry, c.grid, c.block, c.cluster, c.smem = r.entry, list(r.grid), list(r.block), list(r.cluster), r.smem
    c.arguments = r.arguments
    c.driver = o.driver
    c.check = o.level or ""
    c.trace, c.trace_values = bool(o.trace), o.trace == "values"
    if o.timeline is not False:
        c.timeline = [0, 0, 0] if o.timeline is True else list(triple(o.timeline, "timeline", fill=0))
    c.threads, c.max_instructions, c.max_seconds = o.threads, o.max_instructions, o.max_seconds
    c.values, c.cooperative, c.dump = o.values, o.cooperative, o.dump
    return c


def _progress(o: Options) -> Any:
    from .progress import bar

    return bar() if o.progress is True else o.progress or None


def launch(machine: Machine, r: Request, o: Options) -> results.Run:
    """Runs a launch. Faults are exceptions; arrays are then left as they were. Otherwise changed arrays are written back."""
    c = _core_request(r, o)
    progress = _progress(o)
    c.progress = progress
    try:
        d = machine.device.launch(r.module, c)
    finally:
        if hasattr(progress, "close"):
            progress.close()
    run = _run(d, r, o)
    if d["fault"] is not None:
        _raise(_explained(machine, r.module, c, d, o), run)
    machine.copy_back()
    return run


def _explained(machine: Machine, module: int, c: _core.LaunchRequest, d: dict[str, Any], o: Options) -> dict[str, Any]:
    """A deadlock's fault, from a repeated launch with the hazard checker: it names the missing release of each wait."""
    if d["fault"]["code"] != "F3601" or o.check:
        return d
    machine.copy_in()
    c.check, c.trace, c.timeline, c.progress = "full", False, None, None
    again = machine.device.launch(module, c)
    return again if again["fault"] is not None and again["fault"]["code"] == "F3601" else d


def _run(d: dict[str, Any], r: Request, o: Options) -> results.Run:
    shape = results.Launch(r.entry, r.grid, r.block, r.cluster, r.smem, o.arch, o.driver, o.level)
    timing = results.make_timing(d["timing"]) if d["timing"] else None
    hazards = None if d["hazards"] is None else [results.make_hazard(h) for h in d["hazards"]]
    return results.Run(shape, d["instructions"], d["host_seconds"], d["output"].decode("utf-8", "replace"), timing, hazards, d["trace"],
                       d["timeline"], d["wait_graph"])


def _raise(d: dict[str, Any], run: results.Run) -> None:
    fault = d["fault"]
    code, text = fault["code"], fault["text"]
    run = replace(run, wait_graph=d["wait_graph"])
    if code.startswith("U"):
        raise UnsupportedError(text, code, run=run)
    kinds: dict[str, type[Fault]] = {"F3601": Deadlock, **dict.fromkeys(("F3602", "F3603", "F3604", "F3605", "F3606"), Stopped)}
    error: Error = kinds.get(code, Fault)(text, code, results.make_place(fault["place"]), run)
    raise error
