"""Number formats of the tensor core: conversions as PTX's cvt does them, quantization and dequantization.

Formats: "e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "ue4m3", "ue8m0", "tf32", "bf16", "f16", "f32". A code is the format's bits, right-aligned,
in an unsigned integer (4-bit codes one per element, not packed).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from .arrays import host_array

FORMATS = ("e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "ue4m3", "ue8m0", "tf32", "bf16", "f16", "f32")


def info(format: str) -> dict[str, Any]:
    """Bits, exponent and fraction bits, bias, greatest finite value, whether there are NaN and infinity. ValueError for an unknown name."""
    if not isinstance(format, str):
        raise TypeError(f"format={format!r}: a word is expected")
    return _core.format_info(format)


# Formats by the names that arrays have for them.
_OF_DTYPES = {"float4_e2m1fn": "e2m1", "float6_e2m3fn": "e2m3", "float6_e3m2fn": "e3m2", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float8_e8m0fnu": "ue8m0",
              "bfloat16": "bf16", "float16": "f16", "float32": "f32"}


def _codes(x: Any, format: str) -> np.ndarray:
    """Codes as the core takes them; those of an array that has the format as its type are its bits. TypeError for values that are no
    codes, ValueError for codes that the format does not have."""
    a = host_array(x)
    bits = info(format)["bits"]
    if _OF_DTYPES.get(a.dtype.name) == format or (a.dtype.kind == "i" and 8 * a.itemsize == bits):
        a = a.view(f"u{a.itemsize}")
    if a.dtype.kind not in "iub" and a.size:
        raise TypeError(f"codes of {format}: whole numbers, or an array of that format; not {a.dtype}")
    _refuse_outside(a, bits, format)
    return np.ascontiguousarray(a, dtype=np.uint32).reshape(-1)


def _refuse_outside(a: np.ndarray, bits: int, format: str) -> None:
    if a.size and (a.min() < 0 or int(a.max()) >> bits):
        raise ValueError(f"codes of {format}: from 0 to {(1 << bits) - 1}; there are {a.min()} to {a.max()}")


def _words(x: Any) -> np.ndarray:
    return np.ascontiguousarray(host_array(x), dtype=np.uint32).reshape(-1)


def _values(x: Any, rounded_to_odd: bool = False) -> np.ndarray:
    """Values as float32. TypeError for what is no number."""
    a = host_array(x)
    if a.dtype.kind == "O":  # None would become NaN
        a = np.array([float(v) for v in a.reshape(-1)]).reshape(a.shape)
    if a.dtype.kind in "cSUMm":
        raise TypeError(f"values: real numbers; not {a.dtype}")
    wide = a.dtype.kind in "iuf" and a.itemsize > 2
    return _odd(a.astype(np.float64)) if wide and rounded_to_odd and a.dtype != np.float32 else _nearest(a)


def _nearest(a: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):
        return a.astype(np.float32)


def _odd(x: np.ndarray) -> np.ndarray:
    """float32 towards zero, the last bit set if something was cut off: a second rounding, to fewer bits, is then as if it were the only one."""
    near = _nearest(x)
    beyond = np.isfinite(x) & (np.abs(near.astype(np.float64)) > np.abs(x))
    cut = np.where(beyond, np.nextafter(near, np.float32(0)), near)
    inexact = np.isfinite(x) & (cut.astype(np.float64) != x)
    return (np.ascontiguousarray(cut).view(np.uint32) | inexact.astype(np.uint32)).view(np.float32)


def _container(format: str) -> Any:
    bits = info(format)["bits"]
    return np.uint8 if bits <= 8 else np.uint16 if bits <= 16 else np.uint32


def convert(codes: Any, source: str, target: str, rounding: str = "rn", *, satfinite: bool = False, relu: bool = False, ftz: bool = False,
            random: Any = None) -> np.ndarray:
    """Converts codes of format ``source`` (or an array with the format as its type) to ``target`` as PTX's cvt: same shape, in the smallest unsigned type.

    ``rounding``: "rn", "rz", "rm", "rp", "rna", or "rs" with ``random`` integers (an array of the codes' shape). Targets below 16 bits
    always saturate. ValueError for unknown names, and for codes that ``source`` does not have."""
    flat = _codes(codes, source)
    container = _container(target)
    out = np.empty_like(flat)
    r = _core.ConvertRequest()
    r.source, r.target, r.rounding = source, target, rounding
    r.satfinite, r.relu, r.ftz = satfinite, relu, ftz
    _core.convert(r, flat, out, None if random is None else _words(random))
    return out.reshape(np.shape(codes)).astype(container)


def quantize(x: Any, format: str, rounding: str = "rn", *, satfinite: bool = True, random: Any = None) -> np.ndarray:
    """Codes of real numbers in ``format``, rounded once, also from float64; values outside its range become its greatest finite value
    unless ``satfinite`` is false. Arrays of NumPy, ml_dtypes and PyTorch. ValueError for unknown names, TypeError for what is no real number."""
    bits = np.ascontiguousarray(_values(x, rounded_to_odd=format != "f32")).view(np.uint32)
    return convert(bits.reshape(np.shape(x)), "f32", format, rounding, satfinite=satfinite, random=random)


def dequantize(codes: Any, format: str) -> np.ndarray:
    """The values of codes (or of an array with the format as its type), exact, as float32. ValueError for codes that the format does not have."""
    flat = _codes(codes, format)
    out = np.empty(flat.shape, np.float64)
    _core.values(format, flat, out)
    return out.astype(np.float32).reshape(np.shape(codes))


def pack_fp4(codes: Any) -> np.ndarray:
    """Two 4-bit codes per byte along the last axis, the first in the low half. ValueError for an odd number, and for codes above 15."""
    c = _shaped(codes, "e2m1")
    if not c.ndim or c.shape[-1] % 2:
        raise ValueError(f"codes of shape {c.shape}: an even number along the last axis can be packed")
    return c[..., 0::2] & 15 | (c[..., 1::2] & 15) << 4


def unpack_fp4(packed: Any) -> np.ndarray:
    """The inverse of :func:`pack_fp4`."""
    p = _shaped(packed, "ue8m0")  # any byte
    return np.stack([p & 15, p >> 4], axis=-1).reshape(*p.shape[:-1], -1)


def quantize_blocks(x: Any, format: str = "e2m1", scale_format: str = "ue4m3", block: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Quantizes along the last axis in blocks that share a scale factor: (codes, codes of the factors).

    The factor is the block's greatest magnitude over the format's greatest value, rounded to nearest in ``scale_format`` (ue8m0: rounded
    up to a power of two, so that nothing saturates); elements are divided by the rounded factor, in float32."""
    a = np.ascontiguousarray(_values(x))
    _refuse_block(a.shape, block)
    parts = a.reshape(*a.shape[:-1], -1, block)
    wanted = np.abs(parts).max(-1) / np.float32(info(format)["max"])
    scales = quantize(wanted, scale_format, "rp" if scale_format == "ue8m0" else "rn")
    factor = dequantize(scales, scale_format)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = np.where(factor > 0, parts / factor, np.float32(0))
    return quantize(scaled, format).reshape(a.shape), scales


def dequantize_blocks(codes: Any, scales: Any, format: str = "e2m1", scale_format: str = "ue4m3", block: int = 16) -> np.ndarray:
    """The values of block-scaled codes as float32. ``scales``: a code for each block of the last axis."""
    values, factors = dequantize(codes, format), dequantize(scales, scale_format)
    _refuse_block(values.shape, block)
    wanted = (*values.shape[:-1], values.shape[-1] // block)
    if factors.shape != wanted:
        raise ValueError(f"scales of shape {factors.shape}: {wanted}, one for each block of {block}")
    return (values.reshape(*wanted, block) * factors[..., None]).reshape(values.shape)


def _refuse_block(shape: tuple[int, ...], block: int) -> None:
    if block < 1 or not shape or shape[-1] % block:
        raise ValueError(f"blocks of {block} along the last axis of {shape}: no whole number of them")


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
    x, y = host_array(a), host_array(b)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1]:
        raise ValueError(f"A {x.shape} and B {y.shape}: codes [M, K] and [N, K] of one K")
    r = _mma_request(by, x.shape, y.shape, a_format, b_format or a_format)
    scaled = [_scales(s, rows, r.k, scale_format) for s, rows in ((a_scales, r.m), (b_scales, r.n))]
    if scaled[0].size:
        r.scale_format, r.scales_of_one = scale_format, scaled[0].shape[1] * r.k_of_one // r.k
    if scaled[0].shape[1:] != scaled[1].shape[1:] or scaled[0].shape[1] * r.k_of_one != r.scales_of_one * r.k:
        raise ValueError(f"scales {scaled[0].shape} and {scaled[1].shape}: equal numbers for A and B, whole blocks in each instruction of {r.k_of_one} elements")
    out_type = np.float16 if by.d_format == "f16" else np.float32
    start = np.zeros((r.m, r.n), out_type) if c is None else _broadcast(c, (r.m, r.n), out_type)
    d = start.view(f"u{start.itemsize}").astype(np.uint32).reshape(-1)
    _core.mma(r, _codes(x, a_format), _codes(y, r.b_format), d, scaled[0].reshape(-1), scaled[1].reshape(-1))
    return d.astype(f"u{start.itemsize}").view(out_type).reshape(r.m, r.n)


def _broadcast(c: Any, shape: tuple[int, int], kind: Any) -> np.ndarray:
    values = host_array(c).astype(kind)
    try:
        return np.ascontiguousarray(np.broadcast_to(values, shape))
    except ValueError:
        raise ValueError(f"C {values.shape}: values [M, N], here {shape}") from None


def _mma_request(by: MMA, a: tuple[int, ...], b: tuple[int, ...], a_format: str, b_format: str) -> _core.MmaRequest:
    r = _core.MmaRequest()
    r.arch, r.instruction, r.kind, r.d_format, r.a_format, r.b_format = by.arch, by.instruction, by.kind, by.d_format, a_format, b_format
    r.m, r.n, r.k = a[0], b[0], a[1]
    r.k_of_one = by.k or _K_OF_ONE.get(by.kind, 16)
    if r.k % r.k_of_one or not r.k:
        raise ValueError(f"K = {r.k}: a multiple of {r.k_of_one}, the elements of one instruction")
    return r


def _shaped(codes: Any, format: str) -> np.ndarray:
    """Codes of at most 8 bits, in their own shape."""
    return _codes(codes, format).astype(np.uint8).reshape(host_array(codes).shape)


def _scales(scales: Any, rows: int, k: int, format: str) -> np.ndarray:
    """Codes of scales, [rows, blocks]; no blocks without scales."""
    s = np.zeros((rows, 0), np.uint8) if scales is None else _shaped(scales, format)
    if s.ndim != 2 or s.shape[0] != rows or (s.shape[1] and k % s.shape[1]):
        raise ValueError(f"scales {s.shape}: [{rows}, blocks], a whole number of the {k} elements each")
    return s
