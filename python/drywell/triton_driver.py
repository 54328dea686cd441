"""A driver for Triton: it compiles for a target, loads PTX and launches on the simulator. Private; see drywell.triton."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any, Sequence

from triton import knobs  # pyright: ignore[reportAttributeAccessIssue] (without Triton, drywell.triton is found in its place)
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime import driver as active
from triton.runtime._allocation import _allocator

from . import _core, tensormap
from .arguments import Parameter, encode
from .kernel import Kernel
from .launching import Request, launch, triple
from .machine import compute_capability

# Triton numbers tensor map types as tensormap.replace does (triton/backends/nvidia/driver.py); Drywell's table is the CUDA driver's.
_HOST_TYPE = {8: 10, 9: 8, 10: 9}
_TF32 = 11
_STAGES_KEY = "drywell: PTX instead of an assembled binary"


class _Utils:
    """Loading of binaries, which are PTX here, and properties of the device."""

    def __init__(self, arch: str) -> None:
        self.arch = arch
        self._figures = _core.Device(arch, 0).figures()

    def load_binary(self, name: str, binary: bytes, shared: int, device: int) -> tuple[None, Kernel, int, int, int]:
        kernel = Kernel.from_ptx(binary.decode(), name, arch=self.arch, smem=shared)
        machine = _core.Device(self.arch, 0)
        return None, kernel, machine.registers(machine.load(kernel._module), name), 0, 1024  # nothing is spilled

    def unload_module(self, module: object) -> None:
        pass

    def get_device_properties(self, device: int) -> dict[str, int]:
        f = self._figures
        return {"max_shared_mem": f["cta_smem"], "max_num_regs": 65536, "multiprocessor_count": f["sms"], "warpSize": 32,
                "sm_clock_rate": int(f["clock_ghz"] * 1e6), "mem_clock_rate": 0, "mem_bus_width": 0}


class Driver(DriverBase):
    """Triton's view of the simulated device."""

    def __init__(self, arch: str) -> None:
        super().__init__()
        self.arch = arch
        self.utils = _Utils(arch)
        self.capability = compute_capability(self.utils._figures["target"])
        self.launcher_cls = Launcher

    @classmethod
    def is_active(cls) -> Any:
        return False  # never chosen by itself

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> Any:
        return GPUTarget("cuda", self.capability, 32)

    def get_current_device(self) -> str:
        return f"drywell:{self.arch}"  # a key of Triton's caches: no number of a real device

    def set_current_device(self, device: Any) -> None:
        pass

    def get_current_stream(self, device: Any) -> int:
        return 0

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return self.capability // 10, self.capability % 10

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> Any:
        raise RuntimeError("Drywell has no PyTorch device: use triton.testing.do_bench, which is answered with the predicted time")

    def get_benchmarker(self) -> Any:
        from .triton import benchmark

        return benchmark

    def get_empty_cache_for_benchmark(self) -> None:
        return None

    def clear_cache(self, cache: Any) -> None:
        pass

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Any:
        return _scratch(size)


def element_types() -> Any:
    """Names of array types that Triton takes; empty if this version does not say."""
    import triton._utils as utils

    return getattr(utils, "type_canonicalisation_dict", {})


def _scratch(size: int) -> Any:
    import numpy as np

    from .triton import Tensor

    return Tensor(np.zeros(size, np.uint8))


class Launcher:
    """Launches a compiled kernel with the values of one call."""

    def __init__(self, src: Any, metadata: Any) -> None:
        self.signature = tuple(src.signature.values())
        self.metadata = metadata
        self.maps = list(getattr(metadata, "tensordesc_meta", None) or [])

    def __call__(self, x: int, y: int, z: int, stream: Any, function: Kernel, kernel_metadata: Any, launch_metadata: Any, enter: Any,
                 leave: Any, *args: Any) -> None:
        from .triton import launching, wrap

        if x * y * z == 0:
            return
        if enter is not None:
            enter(launch_metadata)
        with launching() as (session, machine):
            options = replace(session.options, cooperative=True) if self.metadata.launch_cooperative_grid else session.options
            request = self._request(triple((x, y, z), "grid"), function, [wrap(a) for a in args], machine)
            session.kernels[function.name] = function
            session.tried += 1
            session.launches.append(launch(machine, request, options))
        if leave is not None:
            leave(launch_metadata)

    def _request(self, grid: tuple[int, int, int], function: Kernel, args: Sequence[Any], machine: Any) -> Request:
        ctas = self.metadata.num_ctas
        x, y, z = grid
        values = list(self._values(args)) + self._scratches(x * y * z * ctas)
        parameters = function.params
        if len(values) != len(parameters):
            raise RuntimeError(f"{function.name}: {len(values)} values for {len(parameters)} PTX parameters: a version of Triton that Drywell does not know?")
        machine.copy_in()
        driver: Any = active.active
        data = [_bytes(p, v, machine, driver.capability) for p, v in zip(parameters, values)]
        cluster = function.required_cluster or (ctas, 1, 1)
        block = function.reqntid or (32 * self.metadata.num_warps, 1, 1)
        return Request(machine.device.load(function._module), function.name, (x * ctas, y, z), block, cluster, self.metadata.shared, data)

    def _values(self, args: Sequence[Any]) -> Any:
        maps = iter(self.maps)
        for kind, value in zip(self.signature, args):
            yield from _flat(kind, value, maps if self.maps else None)

    def _scratches(self, ctas: int) -> list[Any]:
        m = self.metadata
        out: list[Any] = [None, None]
        if m.global_scratch_size:
            out[0] = _allocated(_allocator.get(), ctas * m.global_scratch_size, m.global_scratch_align)
        if m.profile_scratch_size:
            out[1] = _scratch(ctas * m.profile_scratch_size)
        return out


def _allocated(allocator: Any, size: int, align: int) -> Any:
    """Scratch memory from the user's allocator, or Drywell's own if none is set."""
    from triton.runtime._allocation import NullAllocator

    return _scratch(size) if isinstance(allocator, NullAllocator) else allocator(size, align, 0)


def _flat(kind: Any, value: Any, maps: Any) -> Any:
    """The values of one argument of the signature: tuples and descriptors are several."""
    if isinstance(kind, tuple):
        for k, v in zip(kind, value):
            yield from _flat(k, v, maps)
    elif isinstance(kind, str) and kind.startswith("tensordesc"):
        yield from _decomposed(value) if maps is None else _map_values(value, next(maps))
    elif kind != "constexpr":
        yield value


def _decomposed(d: Any) -> list[Any]:
    """A descriptor without a map: the pointer, and shape and strides twice, as Triton passes it (3.6 without the flag of TF32)."""
    rounds = [d.round_f32_to_tf32] if hasattr(d, "round_f32_to_tf32") else []
    return [d.base, *d.shape, *d.strides, d.padding == "nan", *rounds, *d.shape, *d.strides]


def _map_values(d: Any, meta: dict[str, Any]) -> Any:
    """A host-side descriptor as the CUDA back end passes it: the map, the shape, the strides."""
    shape = list(d.shape)
    yield _tensor_map(d, meta, [*shape[:-1], shape[-1] * 2] if meta["fp4_padded"] else shape)
    yield from shape
    yield from d.strides


def _tensor_map(d: Any, meta: dict[str, Any], shape: list[int]) -> tensormap.TensorMap:
    kind: int = meta["elem_type"]
    number = _TF32 if getattr(d, "round_f32_to_tf32", False) else _HOST_TYPE.get(kind, kind)
    size = meta["elem_size"]
    box = tuple(meta["block_size"])
    strides = tuple(s * size for s in d.strides)
    element = _core.tensor_map_types()[int(number)]
    steps = tuple(getattr(d, "element_strides", None) or (1,) * len(shape))
    im2col = tensormap.Im2col(tuple(d.pixel_box_lower_corner), tuple(d.pixel_box_upper_corner), box[1], box[0]) if meta.get("is_im2col", False) else None
    return tensormap.TensorMap(d.base.array, d.base.view, element, tuple(shape), strides, () if im2col else box, steps, meta["swizzle"], 0, 2,
                               1 if d.padding == "nan" else 0, im2col)


def _bytes(p: Parameter, value: Any, machine: Any, capability: int) -> bytes:
    if hasattr(value, "data_ptr"):
        address = value.data_ptr() if not hasattr(value, "view") else machine.address_of(value.view, p.name)
        return int(address).to_bytes(8, "little")
    return encode(p, value, machine, capability)


def _ptx_stage(backend: Any = None, stages: Any = None, options: Any = None, language: Any = None, capability: Any = None) -> Any:
    """Triton's hook for its stages: the last one, the assembler, is replaced by the PTX itself. Without arguments: the cache's key."""
    if stages is None:
        return _STAGES_KEY, _STAGES_KEY
    stages["cubin"] = lambda ptx, metadata: ptx.encode()
    return None


def _set(stack: contextlib.ExitStack, owner: Any, name: str, value: Any) -> None:
    before = getattr(owner, name)
    setattr(owner, name, value)
    stack.callback(setattr, owner, name, before)


def install(arch: str) -> contextlib.ExitStack:
    """Makes the simulator Triton's active driver; closing the result restores what was there."""
    import triton.testing
    from triton.runtime.autotuner import Autotuner, Heuristics
    from triton.runtime.jit import JITFunction

    from .triton import do_bench, do_bench_cudagraph, simulated_run

    stack = contextlib.ExitStack()
    _set(stack, active, "_active", Driver(arch))
    _set(stack, knobs.runtime, "add_stages_inspection_hook", _ptx_stage)
    for kind in (JITFunction, Autotuner, Heuristics):
        _set(stack, kind, "run", simulated_run(kind.run))
    for name, ours in (("do_bench", do_bench), ("do_bench_cudagraph", do_bench_cudagraph)):
        for each in (name, f"{name}_proton"):  # the second since Triton 3.9
            if hasattr(triton.testing, each):
                _set(stack, triton.testing, each, ours)
    return stack
