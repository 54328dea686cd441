"""Number formats of the tensor core: conversions as PTX's cvt does them, quantization and dequantization.

Formats: "e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "ue4m3", "ue8m0", "tf32", "bf16", "f16", "f32". A code is the format's bits, right-aligned,
in an unsigned integer (4-bit codes one per element, not packed).
"""

from __future__ import annotations

from dataclasses import dataclass
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


# Elements of k that one instruction takes, by its kind.
_K_OF_ONE = {"f16": 16, "tf32": 8, "f8f6f4": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}


@dataclass(frozen=True)
class MMA:
    """The matrix instruction whose arithmetic :func:`mma` computes.

    ``arch``: "sm_70", "sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120". ``instruction``: "tcgen05", "wgmma", "mma.sync". ``kind``: "f16" (with bf16),
    "tf32", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4". ``d_format``: "f32" or "f16". ``k``: elements of k in one instruction; 0: the kind's usual
    number (256 bits, mxf4 kinds 64 elements)."""

    arch: str = "sm_100"
    instruction: str = "tcgen05"
    kind: str = "f16"
    d_format: str = "f32"
    k: int = 0


def mma(a: Any, b: Any, c: Any = None, *, a_format: str = "f16", b_format: str | None = None, by: MMA = MMA(), a_scales: Any = None, b_scales: Any = None,
        scale_format: str = "ue8m0") -> np.ndarray:
    """D = C + A times the transpose of B with a tensor core's own bits: sums with its window, its truncation, its order of k.

    ``a``: codes [M, K] of ``a_format``; ``b``: codes [N, K] of ``b_format`` (default: A's), as an instruction with K-major operands has them. ``c``:
    values [M, N], default 0. K is cut into instructions of ``by.k`` elements; D of one is C of the next. Block-scaled kinds: ``a_scales``
    [M, blocks] and ``b_scales`` [N, blocks], codes of ``scale_format``, each for K / blocks elements. Returns values [M, N] in float32, or float16 for
    a D of f16. ValueError for shapes that do not fit, and for a product that ``by`` does not have. Integer products are exact: NumPy's are equal."""
    x, y = np.asarray(a), np.asarray(b)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise ValueError(f"A {x.shape} and B {y.shape}: codes [M, K] and [N, K] of one K")
    r = _mma_request(by, x.shape, y.shape, a_format, b_format or a_format)
    scaled = [_scales(s, rows, r.k) for s, rows in ((a_scales, r.m), (b_scales, r.n))]
    if scaled[0].size:
        r.scale_format, r.scales_of_one = scale_format, scaled[0].shape[1] * r.k_of_one // r.k
    if scaled[0].shape[1:] != scaled[1].shape[1:] or scaled[0].shape[1] * r.k_of_one != r.scales_of_one * r.k:
        raise ValueError(f"scales {scaled[0].shape} and {scaled[1].shape}: equal numbers for A and B, whole blocks in each instruction of {r.k_of_one} elements")
    out_type = np.float16 if by.d_format == "f16" else np.float32
    start = np.zeros((r.m, r.n), out_type) if c is None else np.ascontiguousarray(np.broadcast_to(np.asarray(c, out_type), (r.m, r.n)))
    d = start.view(f"u{start.itemsize}").astype(np.uint32).reshape(-1)
    _core.mma(r, _codes(x), _codes(y), d, scaled[0].reshape(-1), scaled[1].reshape(-1))
    return d.astype(f"u{start.itemsize}").view(out_type).reshape(r.m, r.n)


def _mma_request(by: MMA, a: tuple[int, ...], b: tuple[int, ...], a_format: str, b_format: str) -> _core.MmaRequest:
    r = _core.MmaRequest()
    r.arch, r.instruction, r.kind, r.d_format, r.a_format, r.b_format = by.arch, by.instruction, by.kind, by.d_format, a_format, b_format
    r.m, r.n, r.k = a[0], b[0], a[1]
    r.k_of_one = by.k or _K_OF_ONE.get(by.kind, 16)
    if r.k % r.k_of_one or not r.k:
        raise ValueError(f"K = {r.k}: a multiple of {r.k_of_one}, the elements of one instruction")
    return r


def _scales(scales: Any, rows: int, k: int) -> np.ndarray:
    """Codes of scales, [rows, blocks]; no blocks without scales."""
    s = np.zeros((rows, 0), np.uint8) if scales is None else np.ascontiguousarray(scales, np.uint8)
    if s.ndim != 2 or s.shape[0] != rows or (s.shape[1] and k % s.shape[1]):
        raise ValueError(f"scales {s.shape}: [{rows}, blocks], a whole number of the {k} elements each")
    return s
