"""Triton: element-wise kernels, conversions, shapes, random numbers."""

import math

import numpy as np
import pytest

pytest.importorskip("triton")
import ml_dtypes
import triton
import triton.language as tl

import drywell as dw
from cases import Check, Registry, check_case, floats, rng

R = Registry()


@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(z + i, tl.load(x + i, m) + tl.load(y + i, m), m)


def _add(dtype, n=1000):
    x, y, z = floats(n, dtype=dtype), floats(n, seed=1, dtype=dtype), dw.poison(n, dtype)
    add_kernel[(triton.cdiv(n, 256),)](x, y, z, n, BLOCK=256)
    return Check(z, x + y)


@R.case()
def add_f32():
    return _add(np.float32)


@R.case()
def add_f16():
    return _add(np.float16)


@R.case()
def add_bf16():
    return _add(ml_dtypes.bfloat16)


@R.case()
def add_f64():
    return _add(np.float64)


@R.case()
def add_int64():
    n = 777
    x, y, z = rng().integers(-2**62, 2**62, n), rng(1).integers(-2**62, 2**62, n), dw.poison(n, np.int64)
    add_kernel[(4,)](x, y, z, n, BLOCK=256)
    return Check(z, x + y)


@R.case()
def add_unaligned_views():
    n = 500
    base, z = floats(1001), dw.poison(1003)
    add_kernel[(2,)](base[1:501], base[501:1001], z[3:503], n, BLOCK=256)
    return [Check(z[3:503], base[1:501] + base[501:1001]), Check(z[:3].view(np.uint32), np.full(3, 0xFFFFFFFF, np.uint32))]


@triton.jit
def copy2d_kernel(x, y, rows, cols, xr, xc, yr, yc, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)[:, None]
    c = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    m = (r < rows) & (c < cols)
    tl.store(y + r * yr + c * yc, tl.load(x + r * xr + c * xc, m), m)


@R.case()
def transpose_copy():
    x, y = floats(70, 45), dw.poison((45, 70))
    copy2d_kernel[(3, 2)](x, y, 70, 45, 45, 1, 1, 70, B=32)
    return Check(y, x.T)


@triton.jit
def silu_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n, other=0.0)
    tl.store(y + i, v * tl.sigmoid(v), i < n)


@R.case()
def silu():
    x, y = floats(512), dw.poison(512)
    silu_kernel[(2,)](x, y, 512, BLOCK=256)
    return Check(y, x / (1 + np.exp(-x.astype(np.float64))), 1e-5)


@triton.jit
def gelu_kernel(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(y + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)))


@R.case()
def gelu_erf():
    x, y = floats(256), dw.poison(256)
    gelu_kernel[(2,)](x, y, BLOCK=128)
    return Check(y, 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))), 1e-5)


@triton.jit
def special_kernel(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(y + i, tl.sqrt(v))
    tl.store(y + BLOCK + i, tl.rsqrt(v))
    tl.store(y + 2 * BLOCK + i, tl.log(v))
    tl.store(y + 3 * BLOCK + i, tl.exp2(v))
    tl.store(y + 4 * BLOCK + i, tl.sin(v))
    tl.store(y + 5 * BLOCK + i, tl.cos(v))
    tl.store(y + 6 * BLOCK + i, tl.floor(v) + tl.ceil(v))


@R.case()
def special_functions():
    x, y = np.abs(floats(128)) + 0.1, dw.poison((7, 128))
    special_kernel[(1,)](x, y, BLOCK=128)
    v = x.astype(np.float64)
    want = np.stack([np.sqrt(v), v**-0.5, np.log(v), np.exp2(v), np.sin(v), np.cos(v), np.floor(v) + np.ceil(v)])
    return Check(y, want, 2e-5)


@triton.jit
def integer_kernel(x, y, z, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(z + i, a // b)
    tl.store(z + BLOCK + i, a % b)
    tl.store(z + 2 * BLOCK + i, (a & b) | (a ^ (b << 3)))
    tl.store(z + 3 * BLOCK + i, a >> 2)
    tl.store(z + 4 * BLOCK + i, tl.maximum(tl.minimum(a, 100), -100) * b)


@R.case()
def integer_arithmetic():
    x = rng().integers(-1000, 1000, 128).astype(np.int32)
    y = rng(1).integers(1, 50, 128).astype(np.int32)
    z = dw.poison((5, 128), np.int32)
    integer_kernel[(1,)](x, y, z, BLOCK=128)
    quotient = np.trunc(x / y).astype(np.int32)
    return Check(z, np.stack([quotient, x - quotient * y, (x & y) | (x ^ (y << 3)), x >> 2, np.clip(x, -100, 100) * y]))


@triton.jit
def mulhi_kernel(x, y, z, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(z + i, tl.umulhi(tl.load(x + i), tl.load(y + i)))


@R.case()
def multiply_high():
    x, y = (rng(s).integers(0, 2**32, 128, dtype=np.uint32) for s in (0, 1))
    z = dw.poison(128, np.uint32)
    mulhi_kernel[(1,)](x, y, z, BLOCK=128)
    return Check(z, (x.astype(np.uint64) * y >> np.uint64(32)).astype(np.uint32))


@triton.jit
def cast_kernel(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i).to(y.dtype.element_ty))


def _cast(source, target):
    x, y = (floats(512) * 10).astype(source), dw.poison(512, target)
    cast_kernel[(1,)](x, y, BLOCK=512)
    return Check(y, x.astype(target))


@R.case()
def cast_f32_to_bf16():
    return _cast(np.float32, ml_dtypes.bfloat16)


@R.case()
def cast_bf16_to_f32():
    return _cast(ml_dtypes.bfloat16, np.float32)


@R.case()
def cast_f32_to_e4m3():
    return _cast(np.float32, ml_dtypes.float8_e4m3fn)


@R.case()
def cast_f16_to_e5m2():
    return _cast(np.float16, ml_dtypes.float8_e5m2)


@R.case()
def cast_e4m3_to_f16():
    return _cast(ml_dtypes.float8_e4m3fn, np.float16)


@R.case()
def cast_f32_to_int32():
    return _cast(np.float32, np.int32)


@triton.jit
def interleave_kernel(x, y, z, w, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    pair = tl.join(tl.load(x + i), tl.load(y + i))
    a, b = tl.split(pair)
    tl.store(z + tl.arange(0, 2 * BLOCK), tl.interleave(a, b))
    tl.store(w + tl.arange(0, 2 * BLOCK), tl.reshape(tl.permute(pair, (1, 0)), (2 * BLOCK,)))


@R.case()
def join_split_interleave():
    x, y, z, w = floats(128), floats(128, seed=1), dw.poison(256), dw.poison(256)
    interleave_kernel[(1,)](x, y, z, w, BLOCK=128)
    return [Check(z, np.stack([x, y], 1).reshape(-1)), Check(w, np.concatenate([x, y]))]


@triton.jit
def collatz_kernel(x, steps, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    count = tl.zeros((BLOCK,), tl.int32)
    while tl.max(v, 0) > 1:
        running = v > 1
        v = tl.where(running, tl.where(v % 2 == 0, v // 2, 3 * v + 1), v)
        count += running.to(tl.int32)
    tl.store(steps + i, count)


@R.case()
def collatz_while():
    x, steps = np.arange(1, 129, dtype=np.int32), dw.poison(128, np.int32)
    collatz_kernel[(2,)](x, steps, BLOCK=64)

    def length(v):
        n = 0
        while v > 1:
            v, n = (v // 2 if v % 2 == 0 else 3 * v + 1), n + 1
        return n

    return Check(steps, np.array([length(int(v)) for v in x], np.int32))


@triton.jit
def polynomial_kernel(x, c, y, DEGREE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(DEGREE):
        total = total * v + tl.load(c + k)
    tl.store(y + i, total)


@R.case()
def polynomial_static_range():
    x, c, y = floats(128), floats(6), dw.poison(128)
    polynomial_kernel[(1,)](x, c, y, DEGREE=6, BLOCK=128)
    return Check(y, np.polyval(c.astype(np.float64), x.astype(np.float64)), 1e-5)


def philox(seed: int, counters: np.ndarray) -> np.ndarray:
    """First word of Philox 4x32-10 (Salmon et al., 2011) with counter (i, 0, 0, 0) and key (seed, 0)."""
    mask = np.uint64(0xFFFFFFFF)
    c = [counters.astype(np.uint64)] + [np.zeros_like(counters, np.uint64) for _ in range(3)]
    k = [np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [b >> np.uint64(32) ^ c[1] ^ k[0], b & mask, a >> np.uint64(32) ^ c[3] ^ k[1], a & mask]
        k = [k[0] + np.uint64(0x9E3779B9) & mask, k[1] + np.uint64(0xBB67AE85) & mask]
    return c[0].astype(np.uint32)


@triton.jit
def random_kernel(bits, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(bits + i, tl.randint(seed, i))


@R.case()
def random_bits_are_philox():
    bits = dw.poison(512, np.uint32)
    random_kernel[(2,)](bits, 1234, BLOCK=256)
    return Check(bits, philox(1234, np.arange(512)))


@triton.jit
def dropout_kernel(x, y, p, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(y + i, tl.where(keep, tl.load(x + i) * 2.0, 0.0))


@R.case()
def dropout():
    x, y = floats(1024), dw.poison(1024)
    dropout_kernel[(1,)](x, y, 0.5, 99, BLOCK=1024)
    word = philox(99, np.arange(1024)).view(np.int32)
    uniform = np.where(word < 0, -(word.astype(np.int64)) - 1, word) * np.float64(4.6566127342e-10)
    return Check(y, np.where(uniform.astype(np.float32) > np.float32(0.5), x * 2, 0))


@triton.jit
def strided_kernel(x, y, n, STEP: tl.constexpr, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i * STEP, i < n), i < n)


@R.case()
def grid_stride_loop():
    x, y = floats(3000), dw.poison(1000)
    strided_kernel[(2,)](x, y, 1000, STEP=3, BLOCK=128)
    return Check(y, x[::3])


@triton.jit
def complex_multiply_kernel(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    ar, ai = tl.load(a + 2 * i, m), tl.load(a + 2 * i + 1, m)
    br, bi = tl.load(b + 2 * i, m), tl.load(b + 2 * i + 1, m)
    tl.store(c + 2 * i, ar * br - ai * bi, m)
    tl.store(c + 2 * i + 1, ar * bi + ai * br, m)


@R.case()
def complex_multiply():
    a, b = ((floats(200, seed=s) + 1j * floats(200, seed=s + 9)).astype(np.complex64) for s in (0, 1))
    c = dw.poison(400)
    complex_multiply_kernel[(1,)](a.view(np.float32), b.view(np.float32), c, 200, BLOCK=256)
    return Check(c, (a.astype(np.complex128) * b).view(np.float64), 1e-5)


@pytest.mark.parametrize("fn, arch", R.parameters())
def test_elementwise(fn, arch):
    check_case(fn, arch, dw.triton.simulate)
