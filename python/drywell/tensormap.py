"""Tensor maps (CUtensorMap) for TMA copies, encoded by the rules of the CUDA driver."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Sequence

from . import _core
from .arrays import View, view_of

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


@dataclass(frozen=True)
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


def tensor_map(x: Any, box: Sequence[int], swizzle: str | None = None, *, type: str | None = None, shape: Sequence[int] | None = None,
               strides: Sequence[int] | None = None, element_strides: Sequence[int] | None = None, interleave: str | None = None,
               l2_promotion: str | None = None, fill: str = "zero") -> TensorMap:
    """A tiled tensor map over an array, for a kernel's ``CUtensorMap`` parameter.

    ``box``: elements per dimension, in the array's order (the innermost last, as its shape). ``swizzle``: None, "32B", "64B", "128B",
    "128B_atom_32B", "128B_atom_32B_flip_8B" or "128B_atom_64B". ``type``, ``shape`` (elements) and ``strides`` (bytes) default to the array's;
    ``fill``: "zero" or "nan" outside the array. The rules of cuTensorMapEncodeTiled are checked at the launch: IllegalError E146x."""
    plain = _map(x, swizzle, type, shape, strides, element_strides, interleave, l2_promotion, fill)
    if len(tuple(box)) != len(plain.shape):
        raise ValueError(f"box {tuple(box)} has {len(tuple(box))} dimensions, the array has {len(plain.shape)}")
    return replace(plain, box=tuple(box))


def im2col_map(x: Any, channels: int, pixels: int, lower: Sequence[int], upper: Sequence[int], swizzle: str | None = None, *, type: str | None = None,
               shape: Sequence[int] | None = None, strides: Sequence[int] | None = None, element_strides: Sequence[int] | None = None,
               interleave: str | None = None, l2_promotion: str | None = None, fill: str = "zero") -> TensorMap:
    """An im2col tensor map over an array [N, …, C], as cuTensorMapEncodeIm2col makes it.

    ``channels`` and ``pixels``: of one load, 1 to 256 and 1 to 1024. ``lower``, ``upper``: corners of the bounding box, a number per spatial
    dimension in the array's order (D, H, W). The rest is as for :func:`tensor_map`."""
    plain = _map(x, swizzle, type, shape, strides, element_strides, interleave, l2_promotion, fill)
    if channels < 1 or pixels < 1:
        raise ValueError(f"channels={channels}, pixels={pixels}: one or more")
    if len(tuple(lower)) != len(plain.shape) - 2 or len(tuple(upper)) != len(plain.shape) - 2:
        raise ValueError(f"corners {tuple(lower)} and {tuple(upper)}: {len(plain.shape) - 2} numbers each, one per spatial dimension")
    return replace(plain, im2col=Im2col(tuple(lower), tuple(upper), channels, pixels))


def _map(x: Any, swizzle: str | None, type: str | None, shape: Sequence[int] | None, strides: Sequence[int] | None, element_strides: Sequence[int] | None,
         interleave: str | None, l2_promotion: str | None, fill: str) -> TensorMap:
    view = view_of(x)
    chosen = type or _TYPES.get(view.dtype)
    if chosen is None:
        chosen = "u8" if view.itemsize == 1 else None
    if chosen not in _core.tensor_map_types():
        raise ValueError(f"type {chosen or view.dtype}: one of {', '.join(_core.tensor_map_types())}")
    dims = tuple(shape) if shape is not None else view.shape
    steps = tuple(strides) if strides is not None else view.strides
    return TensorMap(x, view, chosen, dims, steps, (), tuple(element_strides or (1,) * len(dims)), _lookup(_SWIZZLES, swizzle, "swizzle"),
                     _lookup(_INTERLEAVES, interleave, "interleave"), _lookup(_L2, l2_promotion, "l2_promotion"), _lookup(_FILLS, fill, "fill"))
