"""Triton: products in every precision and mix of types, scaled products of mixed formats; small whole numbers make all sums exact."""

from functools import partial

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")
import triton
import triton.language as tl

import drywell as dw
from cases import BOTH, Check, Registry, check_case, rng, small_ints

R = Registry()
bf16, e4, e5 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


@triton.jit
def product_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr, P: tl.constexpr):
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    acc = tl.zeros((M, N), OUT)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        x = tl.load(a + m * K + kk[None, :])
        y = tl.load(b + kk[:, None] * N + n)
        acc = tl.dot(x, y, acc, input_precision=P, out_dtype=OUT)
    tl.store(c + m * N + n, acc)


def product(adt, bdt=None, out=np.float32, OUT=tl.float32, M=64, N=64, K=128, BK=32, P="tf32", tol=0):
    a, b = small_ints(M, K, dtype=adt), small_ints(K, N, seed=1, dtype=bdt or adt)
    c = dw.poison((M, N), out)
    product_kernel[(1,)](a, b, c, M=M, N=N, K=K, BK=BK, OUT=OUT, P=P)
    return Check(c, (a.astype(np.float64) @ b.astype(np.float64)), tol)


for name, options in {
    "f32_tf32x3": dict(adt=np.float32, P="tf32x3"),
    "f32_bf16x3": dict(adt=np.float32, P="bf16x3"),
    "f32_bf16x6": dict(adt=np.float32, P="bf16x6"),
    "f32_ieee": dict(adt=np.float32, P="ieee"),
    "e4m3": dict(adt=e4),
    "e4e5": dict(adt=e4, bdt=e5),
    "i8": dict(adt=np.int8, out=np.int32, OUT=tl.int32),
    "f16_f16acc": dict(adt=np.float16, out=np.float16, OUT=tl.float16),
    "f16_tiny": dict(adt=np.float16, M=16, N=8, BK=16, K=48),
}.items():
    R["dot_" + name] = (partial(product, **options), BOTH)


@triton.jit
def scaled_kernel(a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, KA: tl.constexpr, KB: tl.constexpr, SA: tl.constexpr, SB: tl.constexpr, FA: tl.constexpr, FB: tl.constexpr):
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(a + m * KA + tl.arange(0, KA)[None, :])
    y = tl.load(b + tl.arange(0, KB)[:, None] * N + n)
    if SA > 0:
        xs = tl.load(sa + m * SA + tl.arange(0, SA)[None, :])
    else:
        xs = None
    if SB > 0:
        ys = tl.load(sb + tl.arange(0, N)[:, None] * SB + tl.arange(0, SB)[None, :])
    else:
        ys = None
    tl.store(c + m * N + n, tl.dot_scaled(x, xs, FA, y, ys, FB))


FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


def operand(kind, rows, K, seed, transpose):
    r = rng(seed)
    if kind == "e2m1":
        codes = r.integers(0, 16, (rows, K))
        vals = FP4[codes]
        packed = (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8)
        return (packed.T.copy() if transpose else packed), vals
    dt = {"e4m3": e4, "e5m2": e5, "bf16": bf16, "fp16": np.float16}[kind]
    x = r.integers(-4, 5, (rows, K)).astype(dt)
    return (x.T.copy() if transpose else x), x.astype(np.float64)


def scales(kind, rows, K, seed):
    r = rng(seed)
    if kind is None:
        return None, np.ones((rows, K)), 0
    if kind == "nv":
        s = r.integers(1, 5, (rows, K // 16)).astype(e4)
        return s, np.repeat(s.astype(np.float64), 16, 1), K // 16
    s = r.integers(124, 131, (rows, K // 32)).astype(np.uint8)
    return s, np.repeat(2.0 ** (s.astype(np.float64) - 127), 32, 1), K // 32


def scaled(fa, fb, ka="mx", kb="mx", M=128, N=128, K=128):
    a, av = operand(fa, M, K, 1, False)
    b, bv = operand(fb, N, K, 2, True)
    sa, fav, na = scales(ka, M, K, 3)
    sb, fbv, nb = scales(kb, N, K, 4)
    c = dw.poison((M, N))
    scaled_kernel[(1,)](a, sa, b, sb, c, M=M, N=N, KA=a.shape[1], KB=b.shape[0], SA=na, SB=nb, FA=fa, FB=fb)
    return Check(c, (av * fav) @ (bv * fbv).T, 1e-6)


for name, options in {
    "e4e2": dict(fa="e4m3", fb="e2m1"),
    "e2e5": dict(fa="e2m1", fb="e5m2"),
    "nvfp4": dict(fa="e2m1", fb="e2m1", ka="nv", kb="nv"),
    "bf16xe2": dict(fa="bf16", fb="e2m1", ka=None),
    "e4_small": dict(fa="e4m3", fb="e4m3", M=32, N=32, K=64),
    "e4noscale": dict(fa="e4m3", fb="e4m3", kb=None),
}.items():
    R["scaled_" + name] = (partial(scaled, **options), BOTH)


@pytest.mark.parametrize("fn, arch", R.parameters())
def test_right(fn, arch):
    check_case(fn, arch, dw.triton.simulate)


@pytest.mark.parametrize("name", ["scaled_e4e2", "scaled_e2e5"])
def test_the_padding_of_codes_of_four_bits_may_hold_anything(name):
    """In shared memory eight of sixteen bytes are padding, which Triton does not write and the tensor core does not read (H7501)."""
    with dw.triton.simulate(check="full") as s:
        R[name][0]()
    assert not [h.text for h in s.hazards if h.code == "H7501"]
