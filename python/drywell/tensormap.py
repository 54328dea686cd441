"""Tensor maps (CUtensorMap) for TMA copies, encoded by the rules of the CUDA driver."""

from __future__ import annotations

from dataclasses import dataclass
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
class TensorMap:
    """A tensor map over an array: an argument of a kernel. Dimensions are in the array's order, the innermost last."""

    array: Any
    view: View
    type: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: int
    interleave: int
    l2_promotion: int
    fill: int

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

    ``box``: elements per dimension, in the array's order (the innermost last, as its shape). ``swizzle``: None, "32B", "64B" or "128B".
    ``type``, ``shape`` (elements) and ``strides`` (bytes) default to the array's; ``fill``: "zero" or "nan" outside the array. The
    rules of cuTensorMapEncodeTiled are checked at the launch: IllegalError E146x."""
    view = view_of(x)
    chosen = type or _TYPES.get(view.dtype)
    if chosen is None:
        chosen = "u8" if view.itemsize == 1 else None
    if chosen not in _core.tensor_map_types():
        raise ValueError(f"type {chosen or view.dtype}: one of {', '.join(_core.tensor_map_types())}")
    dims = tuple(shape) if shape is not None else view.shape
    steps = tuple(strides) if strides is not None else view.strides
    if len(tuple(box)) != len(dims):
        raise ValueError(f"box {tuple(box)} has {len(tuple(box))} dimensions, the array has {len(dims)}")
    return TensorMap(x, view, chosen, dims, steps, tuple(box), tuple(element_strides or (1,) * len(dims)), _lookup(_SWIZZLES, swizzle, "swizzle"),
                     _lookup(_INTERLEAVES, interleave, "interleave"), _lookup(_L2, l2_promotion, "l2_promotion"), _lookup(_FILLS, fill, "fill"))
