"""What a launch leaves: time, hazards, stalls, units, lines, timeline, trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

from . import _core
from .errors import HazardError

Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Place:
    """Where something happened: launch coordinates, instruction, and the author's line (0 and "" if not known)."""

    kernel: str
    function: str
    cta: Triple
    warp: int
    lanes: int
    instruction: str
    file: str
    line: int
    inlined_at: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        at = f" at {self.file}:{self.line}" if self.line else ""
        return f"{self.kernel} CTA {self.cta} warp {self.warp}: {self.instruction}{at}"


@dataclass(frozen=True)
class Hazard:
    """An error in a kernel that its values may not show (docs/hazards.md). ``level``: "error", "warning" or "note". ``order``: what the
    order between the two parties lacks, how far the synchronisation that there is goes; may be empty."""

    code: str
    level: str
    rule: str
    memory: str
    here: Place | None
    other: Place | None
    roles: tuple[str, str]
    order: str
    why: str
    fix: str
    ptx_isa: str
    count: int
    text: str = field(repr=False)

    @property
    def lines(self) -> tuple[tuple[str, int], ...]:
        """Author's (file, line) of both parties, and of the calls that were inlined there."""
        places = [p for p in (self.here, self.other) if p is not None]
        direct = [(p.file, p.line) for p in places if p.line]
        return tuple(dict.fromkeys(direct + [at for p in places for at in p.inlined_at]))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Unit:
    """Time of one hardware unit, all its instances together. ``utilisation``: busy share of the run, 0 to 1."""

    name: str
    instances: int
    busy_cycles: float
    utilisation: float
    work: float
    work_unit: str


@dataclass(frozen=True)
class Role:
    """Warps of one role: how many cycles, summed over its warps, they spent in each state."""

    name: str
    warps: int
    instructions: int
    stalls: Mapping[str, float]


@dataclass(frozen=True)
class Limit:
    """The least cycles that one resource alone would need; ``fraction`` of the run."""

    name: str
    cycles: float
    fraction: float
    what: str


@dataclass(frozen=True)
class Line:
    """Cost of one source line: warp instructions, and warp cycles up to their issue."""

    file: str
    line: int
    instructions: int
    cycles: float


@dataclass(frozen=True)
class Timing:
    """Account of a run by the timed driver. ``seconds`` is ``cycles`` at the nominal clock."""

    cycles: int
    clock_ghz: float
    seconds: float
    launch_seconds: float
    sms: int
    sms_used: int
    ctas_per_sm: int
    residency_limit: str
    hbm_bytes_read: int
    hbm_bytes_written: int
    units: Mapping[str, Unit]
    roles: Mapping[str, Role]
    limits: tuple[Limit, ...]
    lines: tuple[Line, ...]
    text: str = field(repr=False)


def make_place(d: Mapping[str, Any]) -> Place:
    source = d["source"] or {"file": "", "line": 0}
    inlined = tuple((p["file"], p["line"]) for p in d["inlined_at"] if p)
    return Place(d["kernel"], d["function"], d["cta"], d["warp"], d["lanes"], d["instruction"], source["file"], source["line"], inlined)


def make_hazard(d: Mapping[str, Any]) -> Hazard:
    parties = [d["here"], d["other"]]
    places = [make_place(p["place"]) if p else None for p in parties]
    roles = (parties[0]["role"] if parties[0] else "", parties[1]["role"] if parties[1] else "")
    return Hazard(d["code"], d["level"], d["rule"], d["memory"], places[0], places[1], roles, d["order"], d["why"], d["fix"], d["ptx_isa"],
                  d["count"], d["text"])


def make_timing(d: Mapping[str, Any]) -> Timing:
    lists = {"units": {u["name"]: Unit(**u) for u in d["units"]}, "roles": {r["name"]: Role(**r) for r in d["roles"]},
             "limits": tuple(Limit(**x) for x in d["limits"]), "lines": tuple(Line(**x) for x in d["lines"])}
    return Timing(**{**d, **lists})


@dataclass(frozen=True)
class Launch:
    """The shape and options of a launch."""

    kernel: str
    grid: Triple
    block: Triple
    cluster: Triple
    smem: int
    arch: str
    driver: str
    check: str | None


@dataclass(frozen=True)
class Run:
    """Result of one launch. What was not asked for is None: ``cycles`` and ``seconds`` without ``driver="timed"``, ``hazards``
    without ``check=``, ``trace`` and ``timeline`` without their option."""

    launch: Launch
    instructions: int
    host_seconds: float
    output: str
    timing: Timing | None
    hazards: list[Hazard] | None
    trace: str | None
    timeline: Mapping[str, Any] | None
    wait_graph: Mapping[str, Any] | None = None

    @property
    def cycles(self) -> int | None:
        """Predicted cycles from the first CTA's start to the last write; timed driver only."""
        return self.timing.cycles if self.timing else None

    @property
    def seconds(self) -> float | None:
        """Predicted seconds on the device at its nominal clock; timed driver only."""
        return self.timing.seconds if self.timing else None

    @property
    def units(self) -> Mapping[str, Unit]:
        """Hardware units by name: how long each was busy; empty without the timed driver."""
        return self.timing.units if self.timing else {}

    @property
    def stalls(self) -> Mapping[str, Mapping[str, float]]:
        """Cycles per state, by role."""
        return {name: role.stalls for name, role in self.timing.roles.items()} if self.timing else {}

    @property
    def lines(self) -> tuple[Line, ...]:
        """Source lines, the most expensive first."""
        return self.timing.lines if self.timing else ()

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Resources, the tightest first."""
        return self.timing.limits if self.timing else ()

    @property
    def errors(self) -> list[Hazard]:
        """Hazards of level error."""
        return [h for h in self.hazards or [] if h.level == "error"]

    def assert_clean(self, warnings: bool = False) -> Run:
        """Raises HazardError if there is a hazard of level error (or, with ``warnings``, of level warning). Returns the run."""
        if self.hazards is None:
            raise ValueError("this launch was not checked: check='full'")
        bad = [h for h in self.hazards if h.level == "error" or (warnings and h.level == "warning")]
        if bad:
            raise HazardError("\n\n".join(h.text for h in bad), bad[0].code)
        return self

    def report(self) -> str:
        """The report of the timed driver and the hazards as text."""
        parts = [self.timing.text] if self.timing else []
        parts += [h.text for h in self.hazards or []]
        if self.launch.check == "basic":
            parts.append("hazards: bytes of shared and global memory were not followed (check='full' follows them)")
        return "\n\n".join(parts) or f"{self.launch.kernel}: {self.instructions} warp instructions"

    def perfetto(self) -> str:
        """The trace of a timed run as Chrome's trace-event JSON, for ui.perfetto.dev."""
        if self.timing is None:
            raise ValueError("this launch has no cycles: driver='timed', trace=True")
        return _core.trace_to_perfetto(self._trace())

    def csv(self) -> str:
        """The trace as CSV, a row per record."""
        return _core.trace_to_csv(self._trace())

    def _trace(self) -> str:
        if self.trace is None:
            raise ValueError("this launch was not traced: trace=True")
        return self.trace

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts, for tables and JSON."""
        out: dict[str, Any] = {"kernel": self.launch.kernel, "grid": list(self.launch.grid), "block": list(self.launch.block),
                               "driver": self.launch.driver, "arch": self.launch.arch, "instructions": self.instructions}
        if self.timing:
            out |= {"cycles": self.cycles, "seconds": self.seconds, "limit": self.limits[0].name if self.limits else None,
                    "hbm_bytes_read": self.timing.hbm_bytes_read, "hbm_bytes_written": self.timing.hbm_bytes_written}
        if self.hazards is not None:
            out |= {"errors": len(self.errors), "hazards": sorted({h.code for h in self.hazards})}
        return out

    def _repr_html_(self) -> str:
        from .html import run_html

        return run_html(self)

    def __repr__(self) -> str:
        parts = [self.launch.kernel, f"grid {self.launch.grid}", f"driver {self.launch.driver}"]
        if self.timing:
            parts.append(f"{self.cycles} cycles, {self.timing.seconds * 1e6:.2f} us")
        if self.hazards is not None:
            parts.append(f"{len(self.hazards)} hazards ({len(self.errors)} errors){', bytes of memory not followed' if self.launch.check == 'basic' else ''}")
        return f"<drywell.Run {', '.join(parts)}>"


def diff_traces(a: Run | str, b: Run | str) -> str:
    """The first difference of two traces, owner by owner; empty if they agree."""
    if not all(isinstance(x, (Run, str)) for x in (a, b)):
        raise TypeError(f"{type(a).__name__} and {type(b).__name__}: runs with trace=True, or the texts of traces")
    texts = [x if isinstance(x, str) else x._trace() for x in (a, b)]
    return _core.diff_traces(*texts)["message"]
