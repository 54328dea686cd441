"""Triton and Gluon kernels on the simulator, without PyTorch and without a GPU.

>>> import drywell as dw
>>> with dw.triton.simulate(driver="timed", check="full") as s:
...     add[(4,)](x, y, z, n, BLOCK=256)        # NumPy arrays, in place
>>> s.launches[0].cycles, s.launches[0].hazards

or, one kernel at a time, ``r = dw.triton.kernel(add)[(4,)](x, y, z, n, BLOCK=256, driver="timed")``.

Triton itself compiles to PTX, as for a device; its assembler is not run, and its cache keeps these kernels under keys of their own.
Needs the package ``triton`` (3.6 or newer).
"""

from __future__ import annotations

import contextlib
import contextvars
import importlib
import itertools
import threading
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Iterator, Sequence, SupportsIndex, cast

import numpy as np

try:
    from . import triton_driver
except ImportError as e:
    if e.name != "triton":
        raise
    raise ImportError("drywell.triton needs the package triton, 3.6 or newer: pip install triton", name="triton") from e
from .arrays import View, is_array, view_of
from .kernel import Kernel
from .launching import Options
from .machine import Machine
from .results import Run

__all__ = ["Session", "Tensor", "descriptor", "kernel", "simulate", "tensor"]


@dataclass
class Session:
    """What ran inside :func:`simulate`."""

    options: Options
    launches: list[Run] = field(default_factory=list)
    benchmarks: list[Run] = field(default_factory=list)   # of autotuning and do_bench, under the timed driver
    kernels: dict[str, Kernel] = field(default_factory=dict)  # by name; the PTX that Triton made
    tried: int = 0  # launches that were begun, also those that ended in an exception

    @property
    def hazards(self) -> list[Any]:
        """Hazards of all launches."""
        return [h for r in self.launches for h in r.hazards or []]


_session: contextvars.ContextVar[Session | None] = contextvars.ContextVar("drywell_session", default=None)
_machine: contextvars.ContextVar[Machine | None] = contextvars.ContextVar("drywell_machine", default=None)


class _DType:
    """An element type as Triton asks for it."""

    def __init__(self, name: str, itemsize: int) -> None:
        self.name, self.itemsize = name, itemsize
        self.is_floating_point = "float" in name
        self.primitive_bitwidth = 8 * itemsize

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return str(other).rpartition(".")[2] == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class Tensor:
    """An array in the form that Triton takes: NumPy's, PyTorch's (CPU), or any with DLPack. Kernels change the array in place. ``name``: in messages."""

    def __init__(self, array: Any, name: str = "") -> None:
        self.array = array
        self.name = name
        self.view: View = view_of(array)
        self.shape = tuple(self.view.shape)
        self.dtype = _DType(self.view.dtype, self.view.itemsize)
        self.device = "cpu"

    def data_ptr(self) -> int:
        """The address on the simulated device; outside a launch, one of the same alignment."""
        machine = _machine.get()
        if machine is not None:
            return machine.address_of(self.view, self.name)
        return (1 << 40) + self.view.address - self.view.memory.address

    def stride(self, dim: int | None = None) -> Any:
        """Strides in elements."""
        all_strides = tuple(s // self.view.itemsize for s in self.view.strides)
        return all_strides if dim is None else all_strides[dim]

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in elements."""
        return self.stride()

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def numel(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.view.itemsize

    def is_contiguous(self) -> bool:
        """Rows lie behind each other without a gap."""
        steps, expected = self.stride(), 1
        for n, s in zip(reversed(self.shape), reversed(steps)):
            if n != 1 and s != expected:
                return False
            expected *= n
        return True

    # What autotuning does to arguments: reset_to_zero, restore_value.
    def zero_(self) -> Tensor:
        """Sets every element to 0."""
        self.array[...] = 0
        return self

    def clone(self) -> Tensor:
        """A copy with memory of its own."""
        return Tensor(self.array.copy() if hasattr(self.array, "copy") else self.array.clone())

    def copy_(self, other: Tensor) -> Tensor:
        """Takes the elements of another."""
        self.array[...] = other.array
        return self


def tensor(x: Any) -> Tensor:
    """An array as a Triton tensor, for descriptors made on the host."""
    return x if isinstance(x, Tensor) else Tensor(x)


def descriptor(x: Any, block_shape: Sequence[int], layout: Any = None, padding: str = "zero", shape: Sequence[int] | None = None,
               strides: Sequence[int] | None = None) -> Any:
    """A host-side TMA descriptor over an array: Triton's TensorDescriptor, or Gluon's with a ``layout``. ``strides`` in elements."""
    t = tensor(x)
    dims, steps = list(shape or t.shape), list(strides or t.stride())
    if layout is None:
        from triton.tools.tensor_descriptor import TensorDescriptor

        return TensorDescriptor(t, dims, steps, list(block_shape), padding)
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor

    return GluonDescriptor(t, dims, steps, list(block_shape), layout, padding)


def wrap(x: Any, name: str = "") -> Any:
    """Arguments as Triton takes them: arrays as tensors, NumPy scalars as Python's."""
    if isinstance(x, Tensor):
        return x
    if isinstance(x, np.generic):
        return x.item()
    if isinstance(x, (tuple, list)) and any(is_array(i) for i in x):
        items = [wrap(i, name) for i in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    return _argument(Tensor(x, name)) if is_array(x) else x


def _argument(t: Tensor) -> Tensor:
    known = triton_driver.element_types()
    if known and t.dtype.name not in known:
        raise TypeError(f"an array of type {t.dtype.name}, which Triton does not have: give a view of its bytes, x.view(numpy.uint{8 * t.dtype.itemsize})")
    return t


@contextlib.contextmanager
def _launching(session: Session) -> Iterator[None]:
    """Device memory for one call of a kernel; nested calls (autotuning) share it."""
    if _machine.get() is not None:
        yield
        return
    token = _machine.set(Machine(session.options.arch, contract=session.options.contract))
    try:
        yield
    finally:
        _machine.reset(token)


def simulated_run(original: Callable[..., Any]) -> Callable[..., Any]:
    """Triton's run methods with arrays as arguments. Outside a simulation they are unchanged."""

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        session = _session.get()
        if session is None:
            _refuse_foreign_thread([*args, *kwargs.values()])
            return original(self, *args, **kwargs)
        names = getattr(self, "arg_names", [])
        with contextlib.nullcontext() if kwargs.get("warmup") else _launching(session):
            return original(self, *(wrap(a, n) for a, n in itertools.zip_longest(args, names[:len(args)], fillvalue="")),
                            **{k: v if k == "grid" else wrap(v, k) for k, v in kwargs.items()})

    return run


def _refuse_foreign_thread(values: Sequence[Any]) -> None:
    """A simulation is its thread's: Triton itself would only say that it does not know the array's type."""
    if _installed.is_open() and any(isinstance(v, np.ndarray) for v in values):
        raise RuntimeError("a Triton kernel was called with arrays outside dw.triton.simulate() of this thread: each thread opens its own")


@contextlib.contextmanager
def launching() -> Iterator[tuple[Session, Machine]]:
    """The simulation of this thread and the device memory of its call; new memory for a compiled kernel that is called by itself
    (``k = fn.warmup(…)``, ``k[grid](…)``). RuntimeError outside a simulation."""
    session = _session.get()
    if session is None:
        raise RuntimeError("a Triton kernel was launched on Drywell outside dw.triton.simulate() of this thread")
    with _launching(session):
        yield session, cast(Machine, _machine.get())


def do_bench(fn: Callable[[], Any], warmup: int = 25, rep: int = 100, grad_to_none: Any = None, quantiles: Sequence[float] | None = None, return_mode: str = "mean",
             **_: Any) -> Any:
    """In place of triton.testing.do_bench, with its arguments."""
    return benchmark(fn, quantiles, return_mode)


def do_bench_cudagraph(fn: Callable[[], Any], rep: int = 20, grad_to_none: Any = None, quantiles: Sequence[float] | None = None, return_mode: str = "mean", **_: Any) -> Any:
    """In place of triton.testing.do_bench_cudagraph, with its arguments."""
    return benchmark(fn, quantiles, return_mode)


def benchmark(call: Callable[[], Any], quantiles: Sequence[float] | None = None, return_mode: str = "mean", **_: Any) -> Any:
    """One run under the timed driver; milliseconds, in the form that Triton's autotuning takes."""
    session = _session.get()
    if session is None:
        raise RuntimeError("do_bench of Drywell outside dw.triton.simulate()")
    timed = Session(replace(session.options, driver="timed", check=None, trace=False, timeline=False), kernels=session.kernels)
    token = _session.set(timed)
    try:
        call()
    finally:
        _session.reset(token)
    session.benchmarks += timed.launches
    ms = sum(r.seconds or 0.0 for r in timed.launches) * 1e3
    if quantiles is not None:
        return [ms] * len(quantiles) if len(quantiles) > 1 else ms
    return [ms] if return_mode == "all" else ms


class _Installed:
    """Triton's active driver and run methods while at least one simulation is open in the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[str] = []
        self._undo: contextlib.ExitStack | None = None

    def enter(self, arch: str) -> None:
        with self._lock:
            if self._open and self._open[-1] != arch:
                raise RuntimeError(f"a simulation for {self._open[-1]} is open: one architecture at a time")
            if not self._open:
                self._undo = triton_driver.install(arch)
            self._open.append(arch)

    def is_open(self) -> bool:
        return bool(self._open)

    def leave(self) -> None:
        with self._lock:
            self._open.pop()
            if not self._open and self._undo is not None:
                self._undo.close()
                self._undo = None


# Triton has one active driver per process; this counts who uses it.
_installed = _Installed()


@contextlib.contextmanager
def simulate(check: str | bool | None = None, driver: str = "eager", arch: str = "sm_100a", **options: Any) -> Iterator[Session]:
    """Inside, calls ``kernel[grid](…)`` of Triton and Gluon run on the simulator, with arrays of NumPy (or any with DLPack).

    ``check``: None (or "off", False), "basic", "full" (or True). ``driver``: "eager", "lazy", "shuffled:SEED", "timed". ``arch``: "sm_100a", "sm_90a", another name of ``drywell arch``, or an
    architecture file; Triton compiles for its target. Further options are those of :meth:`drywell.Kernel.launch`. Autotuning and ``triton.testing.do_bench`` get the
    predicted time of one launch. Faults are exceptions. Other threads need a simulation of their own; all open ones have one
    architecture."""
    session = Session(Options(driver=driver, check=check, arch=arch, **options))
    _installed.enter(arch)
    token = _session.set(session)
    try:
        yield session
    finally:
        _session.reset(token)
        _installed.leave()


_OPTIONS = ("driver", "check", "arch", "trace", "timeline", "threads", "max_instructions", "max_seconds", "values", "progress", "contract", "dump")


@dataclass(frozen=True)
class _TritonKernel:
    """A Triton kernel that runs on the simulator."""

    fn: Any

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by the name of its function: Triton's functions cannot be."""
        return _kernel_named, (self.fn.__module__, self.fn.__name__)

    def __getitem__(self, grid: Any) -> Callable[..., Run]:
        grid = (grid,) if isinstance(grid, SupportsIndex) else grid

        def call(*args: Any, **kwargs: Any) -> Run:
            options = {k: kwargs.pop(k) for k in _OPTIONS if k in kwargs}
            with simulate(**options) as s:
                self.fn[grid](*args, **kwargs)
            if not s.launches:
                raise ValueError(f"grid {grid!r} has no CTA: nothing was launched, and there is no result")
            return s.launches[-1]

        return call


def _kernel_named(module: str, name: str) -> _TritonKernel:
    return _TritonKernel(getattr(importlib.import_module(module), name))


def kernel(fn: Any) -> _TritonKernel:
    """A ``@triton.jit``, ``@gluon.jit`` or autotuned function as a kernel: ``kernel(fn)[grid](arrays…, CONSTEXPR=…, driver=, check=)``
    returns a :class:`drywell.Run`."""
    return _TritonKernel(fn)
