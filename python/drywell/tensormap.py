"""Tensor maps (CUtensorMap) for TMA copies, encoded by the rules of the CUDA driver."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from operator import index
from typing import Any, Sequence

from . import _core
from .arrays import View, view_of
from .launching import MOST

# Names of CUtensorMapDataType's members as Drywell writes them, and of array types.
_TYPES = {"uint8": "u8", "int8": "u8", "bool": "u8", "uint16": "u16", "int16": "u16", "uint32": "u32", "int32": "s32", "uint64": "u64",
          "int64": "s64", "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16"}
_SWIZZLES = {None: 0, "none": 0, "32B": 1, "64B": 2, "128B": 3, "128B_atom_32B": 4, "128B_atom_32B_flip_8B": 5, "128B_atom_64B": 6}
_INTERLEAVES = {None: 0, "none": 0, "16B": 1, "32B": 2}
_L2 = {None: 0, "none": 0, "64B": 1, "128B": 2, "256B": 3}
_FILLS = {"zero": 0, "nan": 1}


@dataclass(frozen=True)
class Im2col:
    """What an im2col map has in place of a box: corners of the bounding box per spatial dimension, in the array's order; size of one load."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int


@dataclass(frozen=True, eq=False)
class TensorMap:
    """A tensor map over an array: an argument of a kernel. Dimensions are in the array's order, the innermost last."""

    array: Any = field(repr=False)
    view: View = field(repr=False)
    type: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: int
    interleave: int
    l2_promotion: int
    fill: int
    im2col: Im2col | None = None  # then box is empty

    def encode(self, address: int, capability: int = 100) -> bytes:
        """The 128 bytes for the array at a device address. IllegalError E146x for every broken rule."""
        r = _core.MapRequest()
        r.type = _core.tensor_map_types().index(self.type)
        r.address = address
        r.shape = list(reversed(self.shape))
        r.strides = list(reversed(self.strides))[1:]
        r.box = list(reversed(self.box))
        r.element_strides = list(reversed(self.element_strides))
        r.swizzle, r.interleave, r.l2, r.fill = self.swizzle, self.interleave, self.l2_promotion, self.fill
        r.capability = capability
        if self.im2col is not None:
            r.lower, r.upper = list(reversed(self.im2col.lower)), list(reversed(self.im2col.upper))
            r.channels, r.pixels = self.im2col.channels, self.im2col.pixels
        return _core.encode_tensor_map(r)

    def describe(self) -> str:
        """The fields as text (the address is that of the host array)."""
        return "\n".join(_core.describe_tensor_map(self.encode(self.view.address & ~0xFF)))

    def _repr_html_(self) -> str:
        from .html import lines_html

        return lines_html("tensor map", self.describe().splitlines())


def _lookup(table: dict[Any, int], key: Any, what: str) -> int:
    if key not in table:
        raise ValueError(f"{what}={key!r}: one of {', '.join(str(k) for k in table if k)}")
    return table[key]


def _steps(view: View, dims: tuple[int, ...], strides: Sequence[int] | None) -> tuple[int, ...]:
    """Bytes from element to element. A map has no stride for the innermost dimension: its elements lie beside each other."""
    if strides is not None:
        return _numbers(strides, "strides", len(dims))
    if len(view.strides) != len(dims):
        raise ValueError(f"shape={dims}: {len(dims)} dimensions, the array has {len(view.strides)}: give strides=, in bytes")
    if dims and dims[-1] > 1 and view.strides[-1] != view.itemsize:
        raise ValueError(f"the innermost elements of the array are {view.strides[-1]} bytes apart, not {view.itemsize}: a tensor map takes them side by side")
    return _numbers(view.strides, "the array's strides", len(dims))


def tensor_map(x: Any, box: Sequence[int], swizzle: str | None = None, *, type: str | None = None, shape: Sequence[int] | None = None,
               strides: Sequence[int] | None = None, element_strides: Sequence[int] | None = None, interleave: str | None = None,
               l2_promotion: str | None = None, fill: str = "zero") -> TensorMap:
    """A tiled tensor map over an array, for a kernel's ``CUtensorMap`` parameter.

    ``box``: elements per dimension, in the array's order (the innermost last, as its shape). ``swizzle``: None, "32B", "64B", "128B",
    "128B_atom_32B", "128B_atom_32B_flip_8B" or "128B_atom_64B". ``type``, ``shape`` (elements) and ``strides`` (bytes) default to the array's;
    ``fill``: "zero" or "nan" outside the array. The rules of cuTensorMapEncodeTiled are checked at the launch: IllegalError E146x."""
    plain = _map(x, swizzle, type, shape, strides, element_strides, interleave, l2_promotion, fill)
    return replace(plain, box=_numbers(box, "box", len(plain.shape), MOST))


def im2col_map(x: Any, channels: int, pixels: int, lower: Sequence[int], upper: Sequence[int], swizzle: str | None = None, *, type: str | None = None,
               shape: Sequence[int] | None = None, strides: Sequence[int] | None = None, element_strides: Sequence[int] | None = None,
               interleave: str | None = None, l2_promotion: str | None = None, fill: str = "zero") -> TensorMap:
    """An im2col tensor map over an array [N, …, C], as cuTensorMapEncodeIm2col makes it.

    ``channels`` and ``pixels``: of one load, 1 to 256 and 1 to 1024. ``lower``, ``upper``: corners of the bounding box, a number per spatial
    dimension in the array's order (D, H, W). The rest is as for :func:`tensor_map`."""
    plain = _map(x, swizzle, type, shape, strides, element_strides, interleave, l2_promotion, fill)
    sizes = _numbers((channels, pixels), "(channels, pixels)", 2, MOST)
    if 0 in sizes:
        raise ValueError(f"channels={channels}, pixels={pixels}: one or more")
    corners = [_numbers(c, name, len(plain.shape) - 2, 1 << 15, -(1 << 15)) for c, name in ((lower, "lower"), (upper, "upper"))]
    return replace(plain, im2col=Im2col(corners[0], corners[1], *sizes))


def _numbers(values: Any, what: str, dimensions: int | None, most: int = (1 << 63) - 1, least: int = 0) -> tuple[int, ...]:
    """A whole number for each dimension, of which there may be any number (None)."""
    try:
        found = tuple(index(v) for v in values)
    except TypeError:
        raise TypeError(f"{what}={values!r}: whole numbers, one per dimension") from None
    if dimensions is not None and len(found) != dimensions:
        raise ValueError(f"{what}={values!r}: {len(found)} numbers for {dimensions} dimensions")
    if not all(least <= v <= most for v in found):
        raise ValueError(f"{what}={values!r}: numbers from {least} to {most}")
    return found


def _map(x: Any, swizzle: str | None, type: str | None, shape: Sequence[int] | None, strides: Sequence[int] | None, element_strides: Sequence[int] | None,
         interleave: str | None, l2_promotion: str | None, fill: str) -> TensorMap:
    view = view_of(x)
    chosen = type or _TYPES.get(view.dtype)
    if chosen is None:
        chosen = "u8" if view.itemsize == 1 else None
    if chosen not in _core.tensor_map_types():
        raise ValueError(f"type {chosen or view.dtype}: one of {', '.join(_core.tensor_map_types())}")
    dims = view.shape if shape is None else _numbers(shape, "shape", None)
    steps = _steps(view, dims, strides)
    every = (1,) * len(dims) if element_strides is None else _numbers(element_strides, "element_strides", len(dims), MOST)
    return TensorMap(x, view, chosen, dims, steps, (), every, _lookup(_SWIZZLES, swizzle, "swizzle"),
                     _lookup(_INTERLEAVES, interleave, "interleave"), _lookup(_L2, l2_promotion, "l2_promotion"), _lookup(_FILLS, fill, "fill"))
