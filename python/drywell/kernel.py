"""A kernel from PTX, and its launches."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Sequence

from . import _core
from .arguments import Parameter, encode_all
from .launching import MOST, Extent, Options, Request, count, launch, triple
from .machine import Machine, compute_capability
from .results import Run


def _read(source: str | bytes | os.PathLike[str]) -> tuple[str, str]:
    """PTX text and its name in messages. Bytes are a text, as compilers give it, or none: what is not UTF-8 is the parser's to refuse."""
    if isinstance(source, (bytes, bytearray)):
        return source.rstrip(b"\0").decode(errors="replace"), "<ptx>"
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"source={source!r}: PTX, or the path of a file of it")
    if isinstance(source, str) and (not source or "\n" in source or ".version" in source):
        return source, "<ptx>"
    path = Path(source)
    return path.read_bytes().decode(errors="replace"), str(path)


@dataclass(frozen=True)
class Kernel:
    """A kernel of a PTX module. ``k[grid](args…)`` launches it on a fresh simulated device.

    Immutable: several threads may launch one kernel at once."""

    name: str
    params: tuple[Parameter, ...]
    ptx: str
    arch: str
    reqntid: tuple[int, int, int] | None
    required_cluster: tuple[int, int, int] | None
    _module: _core.Module = field(compare=False)
    _smem: int = 0
    _source: str = "<ptx>"  # the text's name in messages

    @staticmethod
    def from_ptx(source: str | bytes | os.PathLike[str], entry: str | None = None, *, arch: str | None = None, smem: int = 0) -> Kernel:
        """A kernel from PTX text (or its bytes), or from a file by its path.

        ``entry``: its name; may be left out if the module has one kernel. ``arch``: default machine, otherwise that of the text's
        ``.target``. ``smem``: default dynamic shared memory in bytes. Raises IllegalError with every error of the text (line and
        column each), UnsupportedError, KeyError for a name that the module does not have."""
        return kernel_of(*_read(source), entry, arch, smem)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, for worker processes, as the text of its PTX."""
        return kernel_of, (self.ptx, self._source, self.name, self.arch, self._smem)

    def __getitem__(self, grid: Extent) -> Callable[..., Run]:
        """A launch of 1 to 3 extents in CTAs; call it with the arguments. See :meth:`launch`."""

        def call(*args: Any, **kwargs: Any) -> Run:
            return self.launch(grid, *args, **kwargs)

        return call

    def launch(self, grid: Extent, *args: Any, block: Extent | None = None, cluster: Extent | None = None, smem: int | None = None,
               driver: str = "eager", check: str | bool | None = None, arch: str | None = None, trace: bool | str = False,
               timeline: bool | Extent = False, threads: int = 0, max_instructions: int = 0, max_seconds: float = 0,
               values: bool = True, cooperative: bool = False, progress: bool | Callable[[int, int, int], object] = False,
               contract: bool = False, dump: str = "", **named: Any) -> Run:
        """Runs the kernel to its end and returns the result.

        Arguments, in the order of ``params`` or by name: arrays (a pointer; changed in place), scalars of Python, NumPy and ctypes (by the
        parameter's type and size), :func:`drywell.tensor_map`, bytes or ctypes structures of the parameter's size, None (a null pointer).

        ``grid``, ``block``, ``cluster``: CTAs, threads, CTAs per cluster; block and cluster default to what the PTX requires.
        ``smem``: dynamic shared memory in bytes. ``driver``: "eager", "lazy", "shuffled:SEED", "parted:SEED", "timed". ``check``: None (or "off", False), "basic", "full" (or True).
        ``trace``, ``timeline``: keep them in the result. ``max_instructions``, ``max_seconds``: limits, Stopped if one is reached.
        ``contract``: products and sums without rounding modifiers become one fma where ptxas makes one, as on a GPU (docs/numerics.md).
        ``dump``: a folder; the launch is written to NUMBER-KERNEL/launch.toml in it, for ``drywell run``, ``step``, ``mutate``, …

        Raises IllegalError (a launch that a device refuses), Fault, Deadlock, UnsupportedError; arrays are then unchanged. The GIL is
        released while it runs, and Ctrl-C ends it."""
        options = Options(driver, check, arch or self.arch, trace, timeline, threads, max_instructions, max_seconds, values, cooperative, progress, contract, dump)
        machine = Machine(options.arch, contract=contract)
        capability = compute_capability(machine.figures()["target"])
        request = Request(machine.device.load(self._module), self.name, triple(grid, "grid"), self._block(block),
                          triple(cluster if cluster is not None else self.required_cluster or 1, "cluster"),
                          count(self._smem if smem is None else smem, "smem", MOST), encode_all(self.params, args, named, machine, capability))
        return launch(machine, request, options)

    def _block(self, block: Extent | None) -> tuple[int, int, int]:
        if block is not None:
            return triple(block, "block")
        if self.reqntid is None:
            raise TypeError(f"kernel '{self.name}' has no .reqntid: give block=")
        return self.reqntid

    def __repr__(self) -> str:
        params = ", ".join(f"{p.name}: .{p.type}" + (f"[{p.bytes}]" if p.is_array else "") for p in self.params)
        return f"<drywell.Kernel {self.name}({params}) for {self.arch}>"


def kernel_of(text: str, source: str, entry: str | None, arch: str | None, smem: int = 0) -> Kernel:
    """A kernel of a text that is never taken for a path; ``source``: its name in messages."""
    module = _core.parse(text, source)
    entries = {e["name"]: e for e in module.entries()}
    if entry is None and len(entries) != 1:
        raise KeyError(f"entry=: the module has {len(entries)} kernels: {', '.join(entries)}")
    chosen: str = next(iter(entries)) if entry is None else entry
    if chosen not in entries:
        raise KeyError(f"no kernel '{chosen}': {', '.join(entries)}")
    e = entries[chosen]
    params = tuple(Parameter(**p) for p in e["params"])
    return Kernel(chosen, params, text, arch or _machine_of(module.target()), e["reqntid"], e["cluster"], module, smem, source)


def _machine_of(target: str) -> str:
    """The shipped machine for a PTX target."""
    chip = target.rstrip("af")
    return f"{chip}a" if chip in ("sm_90", "sm_103", "sm_120", "sm_121") else "sm_100a"
