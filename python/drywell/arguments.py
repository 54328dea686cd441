"""Kernel arguments: Python values to the bytes of PTX parameters."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

import numpy as np

from .arrays import is_array, view_of
from .machine import Machine
from .tensormap import TensorMap


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: its PTX type and its size in bytes."""

    name: str
    type: str
    bytes: int
    align: int
    is_array: bool


_FLOATS = {"f32": "<f", "f64": "<d", "f16": "<e"}


def _integer(p: Parameter, value: int) -> bytes:
    bits = 8 * p.bytes
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise OverflowError(f"argument '{p.name}': {value} does not fit in {bits} bits")
    return (value & ((1 << bits) - 1)).to_bytes(p.bytes, "little")


def _real(p: Parameter, value: float) -> bytes:
    if p.type == "bf16":
        return _bfloat16(value)
    by_size = {4: "<f", 8: "<d"}
    form = _FLOATS.get(p.type) or (by_size.get(p.bytes) if p.type.startswith("b") and not p.is_array else None)
    if form is not None:
        return _packed(p, form, value)
    raise TypeError(f"argument '{p.name}': a float for a parameter of type .{p.type} ({p.bytes} bytes); give a NumPy scalar of that size")


def _packed(p: Parameter, form: str, value: float) -> bytes:
    try:
        return struct.pack(form, value)
    except OverflowError:
        raise OverflowError(f"argument '{p.name}': {value} does not fit in a float of {8 * p.bytes} bits") from None


def _bfloat16(value: float) -> bytes:
    import ml_dtypes

    return np.asarray(value, dtype=ml_dtypes.bfloat16).tobytes()


def _exact(p: Parameter, data: bytes, what: str) -> bytes:
    if len(data) != p.bytes:
        raise TypeError(f"argument '{p.name}': {what} has {len(data)} bytes, the parameter .{p.type} has {p.bytes}")
    return data


def _pointer(p: Parameter, value: Any, machine: Machine) -> bytes:
    if p.bytes != 8:
        raise TypeError(f"argument '{p.name}': an array for a parameter of {p.bytes} bytes; a pointer has 8")
    return machine.address_of(view_of(value), p.name).to_bytes(8, "little")


def encode(p: Parameter, value: Any, machine: Machine, capability: int) -> bytes:
    """The bytes of one argument. TypeError or OverflowError names the parameter."""
    if isinstance(value, TensorMap):
        return _exact(p, value.encode(machine.address_of(value.view, p.name), capability), "a tensor map")
    if isinstance(value, np.generic):
        return _scalar(p, value)
    if isinstance(value, ctypes._SimpleCData):
        return encode(p, 0 if value.value is None else value.value, machine, capability)  # c_void_p(0) has no value
    if value is None:
        return _null(p)
    if isinstance(value, (bool, int)):
        return _real(p, float(value)) if p.type in _FLOATS or p.type == "bf16" else _integer(p, int(value))
    if isinstance(value, float):
        return _real(p, value)
    if isinstance(value, (bytes, bytearray)):
        return _exact(p, bytes(value), "the value")
    if isinstance(value, (ctypes.Structure, ctypes.Union, ctypes.Array)):
        return _exact(p, bytes(value), type(value).__name__)
    if is_array(value):
        return _pointer(p, value, machine)
    raise TypeError(f"argument '{p.name}': {type(value).__name__} is neither an array nor a number")


def _null(p: Parameter) -> bytes:
    if p.bytes != 8 or p.type in _FLOATS:
        raise TypeError(f"argument '{p.name}': None for a parameter of type .{p.type} ({p.bytes} bytes); a null pointer has 8")
    return bytes(8)


def _scalar(p: Parameter, value: np.generic) -> bytes:
    """NumPy scalars of the parameter's size are taken bit for bit, others by their value."""
    if value.dtype.char == "g":  # long double: no parameter has its size, and .item() would give it back
        return _real(p, float(value))
    if value.dtype.itemsize == p.bytes and (value.dtype.kind not in "iub" or p.type not in _FLOATS):
        return value.tobytes()
    item = value.item()
    return _real(p, float(item)) if p.type in _FLOATS or isinstance(item, float) else _integer(p, int(item))


def encode_all(parameters: Sequence[Parameter], args: Sequence[Any], kwargs: Mapping[str, Any], machine: Machine, capability: int) -> list[bytes]:
    """The bytes of all arguments, by position and by name."""
    names = [p.name for p in parameters]
    if len(args) > len(names):
        raise TypeError(f"{len(args)} arguments for {len(names)} parameters: {', '.join(names) or 'none'}")
    given = dict(zip(names, args))
    for name, value in kwargs.items():
        if name not in names:
            raise TypeError(f"no parameter '{name}': {', '.join(names) or 'none'}")
        if name in given:
            raise TypeError(f"parameter '{name}' is given twice")
        given[name] = value
    missing = [n for n in names if n not in given]
    if missing:
        raise TypeError(f"missing arguments: {', '.join(missing)}")
    return [encode(p, given[p.name], machine, capability) for p in parameters]
