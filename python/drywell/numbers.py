"""Number formats of the tensor core: conversions as PTX's cvt does them, quantization and dequantization.

Formats: "e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "ue4m3", "ue8m0", "tf32", "bf16", "f16", "f32". A code is the format's bits, right-aligned,
in an unsigned integer (4-bit codes one per element, not packed).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core

FORMATS = ("e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "ue4m3", "ue8m0", "tf32", "bf16", "f16", "f32")


def info(format: str) -> dict[str, Any]:
    """Bits, exponent and fraction bits, bias, greatest finite value, whether there are NaN and infinity."""
    return _core.format_info(format)


def _codes(x: Any) -> np.ndarray:
    return np.ascontiguousarray(x, dtype=np.uint32).reshape(-1)


def _container(format: str) -> Any:
    bits = info(format)["bits"]
    return np.uint8 if bits <= 8 else np.uint16 if bits <= 16 else np.uint32


def convert(codes: Any, source: str, target: str, rounding: str = "rn", *, satfinite: bool = False, relu: bool = False, ftz: bool = False,
            random: Any = None) -> np.ndarray:
    """Converts codes of format ``source`` to ``target`` as PTX's cvt: same shape, in the smallest unsigned type.

    ``rounding``: "rn", "rz", "rm", "rp", "rna", or "rs" with ``random`` integers (an array of the codes' shape). Targets below 16 bits
    always saturate. ValueError for unknown names."""
    flat = _codes(codes)
    out = np.empty_like(flat)
    r = _core.ConvertRequest()
    r.source, r.target, r.rounding = source, target, rounding
    r.satfinite, r.relu, r.ftz = satfinite, relu, ftz
    _core.convert(r, flat, out, None if random is None else _codes(random))
    return out.reshape(np.shape(codes)).astype(_container(target))


def quantize(x: Any, format: str, rounding: str = "rn", *, satfinite: bool = True, random: Any = None) -> np.ndarray:
    """Codes of float32 values in ``format``; values outside its range become its greatest finite value unless ``satfinite`` is false."""
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)
    return convert(bits.reshape(np.shape(x)), "f32", format, rounding, satfinite=satfinite, random=random)


def dequantize(codes: Any, format: str) -> np.ndarray:
    """The values of codes, exact, as float32."""
    flat = _codes(codes)
    out = np.empty(flat.shape, np.float64)
    _core.values(format, flat, out)
    return out.astype(np.float32).reshape(np.shape(codes))


def pack_fp4(codes: Any) -> np.ndarray:
    """Two 4-bit codes per byte along the last axis, the first in the low half."""
    c = np.asarray(codes, np.uint8)
    if c.shape[-1] % 2:
        raise ValueError(f"the last axis has {c.shape[-1]} codes: an even number can be packed")
    return c[..., 0::2] & 15 | (c[..., 1::2] & 15) << 4


def unpack_fp4(packed: Any) -> np.ndarray:
    """The inverse of :func:`pack_fp4`."""
    p = np.asarray(packed, np.uint8)
    return np.stack([p & 15, p >> 4], axis=-1).reshape(*p.shape[:-1], -1)


def quantize_blocks(x: Any, format: str = "e2m1", scale_format: str = "ue4m3", block: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Quantizes along the last axis in blocks that share a scale factor: (codes, codes of the factors).

    The factor is the block's greatest magnitude over the format's greatest value, rounded to nearest in ``scale_format`` (ue8m0: rounded
    up to a power of two, so that nothing saturates); elements are divided by the rounded factor."""
    a = np.ascontiguousarray(x, np.float32)
    if a.shape[-1] % block:
        raise ValueError(f"the last axis has {a.shape[-1]} elements: no multiple of {block}")
    parts = a.reshape(*a.shape[:-1], -1, block)
    wanted = np.abs(parts).max(-1) / np.float32(info(format)["max"])
    scales = quantize(wanted, scale_format, "rp" if scale_format == "ue8m0" else "rn")
    factor = dequantize(scales, scale_format)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(factor > 0, parts / factor, np.float32(0))
    return quantize(scaled, format).reshape(a.shape), scales


def dequantize_blocks(codes: Any, scales: Any, format: str = "e2m1", scale_format: str = "ue4m3", block: int = 16) -> np.ndarray:
    """The values of block-scaled codes as float32."""
    c = np.asarray(codes)
    parts = dequantize(c, format).reshape(*c.shape[:-1], -1, block)
    return (parts * dequantize(scales, scale_format)[..., None]).reshape(c.shape)
