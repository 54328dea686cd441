"""Arrays of NumPy, ml_dtypes, PyTorch (CPU) and anything with DLPack: where their memory is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core

# DLPack's type codes (dlpack.h) of the types that NumPy does not have, by bits.
_DLPACK = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool", 10: "float8_e4m3fn", 12: "float8_e5m2",
           14: "float8_e8m0fnu", 17: "float4_e2m1fn"}


@dataclass(frozen=True)
class Memory:
    """A piece of host memory: the whole owner's, in which an array is a view."""

    address: int
    bytes: int
    writable: bool
    keep: Any  # keeps the memory alive


@dataclass(frozen=True)
class View:
    """An array: its first element, its shape, its strides in bytes, and the memory of its owner."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    itemsize: int
    memory: Memory


class _Poison(bytearray):
    """Memory of :func:`poison`."""


def poison(shape: int | tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """An array of 0xFF bytes, as fresh device memory is in Drywell: what a kernel does not write stays NaN or -1. Until something has been written
    to it, a kernel that reads it is told so by ``check="full"`` (H7504), as with memory of cudaMalloc.

    ``dtype``: NumPy's, ml_dtypes' or PyTorch's, or a name such as "bfloat16"."""
    kind = as_dtype(dtype)
    if kind.hasobject:
        raise TypeError(f"dtype={dtype!r}: a type of numbers")
    if 0 in np.atleast_1d(shape):
        return np.empty(shape, dtype=kind)
    memory = np.frombuffer(_Poison(int(np.prod(shape, dtype=np.int64)) * kind.itemsize), np.uint8)
    memory[...] = 0xFF
    return memory.view(kind).reshape(shape)


def is_unwritten(m: Memory) -> bool:
    """The memory is that of :func:`poison`, and nothing has been written to it."""
    buffer = m.keep.base if isinstance(m.keep, np.ndarray) else None
    owner = buffer.obj if isinstance(buffer, memoryview) else None
    return isinstance(owner, _Poison) and owner.count(0xFF) == len(owner)


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """A NumPy dtype; names of ml_dtypes' types are looked up there."""
    if isinstance(dtype, str):
        try:
            return np.dtype(dtype)
        except TypeError:
            return _ml_dtype(dtype)
    text = str(dtype)
    return as_dtype(text.removeprefix("torch.")) if text.startswith("torch.") else np.dtype(dtype)


def _ml_dtype(name: str) -> np.dtype[Any]:
    import ml_dtypes

    if not hasattr(ml_dtypes, name):
        raise TypeError(f"dtype={name!r}: neither NumPy nor ml_dtypes has it")
    return np.dtype(getattr(ml_dtypes, name))


def raw(x: np.ndarray) -> np.ndarray:
    """The bytes of a contiguous array."""
    return x.reshape(-1).view(np.uint8)


def host_array(x: Any) -> np.ndarray:
    """An array of NumPy with the values of x. Tensors of PyTorch keep the names of their types: bf16 and FP8 become those of ml_dtypes."""
    if not hasattr(x, "untyped_storage"):
        return np.asarray(x)
    t = x.detach().cpu().contiguous()
    try:
        return t.numpy()
    except TypeError:  # a type that NumPy does not have
        import torch

        return t.view(torch.uint8 if t.element_size() == 1 else torch.int16).numpy().view(as_dtype(t.dtype))


def is_array(x: Any) -> bool:
    if isinstance(x, (np.generic, bool, int, float, bytes)):
        return False
    return isinstance(x, np.ndarray) or hasattr(x, "__dlpack__") or hasattr(x, "__array_interface__")


def view_of(x: Any) -> View:
    """Where an array is. TypeError for what is no array in host memory."""
    if isinstance(x, np.ndarray):
        return _numpy_view(x)
    if hasattr(x, "untyped_storage"):
        return _torch_view(x)
    if hasattr(x, "__dlpack__"):
        return _dlpack_view(x)
    if hasattr(x, "__array_interface__"):
        return _numpy_view(np.asarray(x))
    raise TypeError(f"{type(x).__name__} is no array: NumPy's, or an object with __dlpack__")


def _extent(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """First and last byte offset of the elements, the last exclusive."""
    if 0 in shape:
        return 0, 0
    low = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides))
    high = sum(max(0, (n - 1) * s) for n, s in zip(shape, strides))
    return low, high + itemsize


def _whole(x: np.ndarray) -> Memory:
    address = x.__array_interface__["data"][0]
    low, high = _extent(x.shape, x.strides, x.itemsize)
    return Memory(address + low, high - low, x.flags.writeable, x)


def _numpy_view(x: np.ndarray) -> View:
    if x.dtype.hasobject:
        raise TypeError("an array of Python objects: its memory holds addresses of this process; use a type of numbers")
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError("a masked array: a kernel does not see the mask; give .data, or .filled(value)")
    if not x.dtype.isnative:
        raise TypeError(f"an array of type {x.dtype.str}, whose bytes are in another order than the device's: use .astype({x.dtype.newbyteorder('=').name!r})")
    root = x
    while isinstance(root.base, np.ndarray):
        root = root.base
    own, owner = _whole(x), _whole(root)
    inside = owner.address <= own.address and own.address + own.bytes <= owner.address + owner.bytes
    chosen = owner if inside else own
    memory = Memory(chosen.address, chosen.bytes, x.flags.writeable, chosen.keep)
    return View(x.__array_interface__["data"][0], x.shape, x.strides, x.dtype.name, x.itemsize, memory)


def _torch_view(x: Any) -> View:
    if x.device.type != "cpu":
        raise TypeError(f"a tensor on device '{x.device}': only CPU tensors; use .cpu()")
    if x.layout.__repr__() != "torch.strided" or x.is_conj() or x.is_neg():
        raise TypeError(f"a tensor whose memory does not hold its values ({x.layout}, conjugated or negated by a flag); use .to_dense(), .resolve_conj() or .resolve_neg()")
    size = x.element_size()
    storage = x.untyped_storage()
    memory = Memory(storage.data_ptr(), storage.nbytes(), True, x)
    strides = tuple(s * size for s in x.stride())
    return View(x.data_ptr(), tuple(x.shape), strides, str(x.dtype).rpartition(".")[2], size, memory)


def _dlpack_view(x: Any) -> View:
    try:
        d = _core.describe_array(x)
    except TypeError:
        raise TypeError(f"{type(x).__name__}: its __dlpack__ gives no array in this machine's memory") from None
    name = _DLPACK.get(d["code"], f"dlpack{d['code']}")
    dtype = name if name.startswith("float8") or name.startswith("float4") or name == "bool" else f"{name}{d['bits']}"
    size = (d["bits"] + 7) // 8
    strides = tuple(s * size for s in d["strides"])
    low, high = _extent(d["shape"], strides, size)
    memory = Memory(d["address"] + low, high - low, True, d["keep"])
    return View(d["address"], d["shape"], strides, dtype, size, memory)
