"""Triton kernels of the families held back since 27 November."""
import pathlib
import sys

import triton
import triton.language as tl

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from triton_build import build  # noqa: E402


@triton.jit
def t_geglu(x, y, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    for k in range(0, n, BLOCK):
        i = k + tl.arange(0, BLOCK)
        a = tl.load(x + r * 2 * n + i, mask=i < n).to(tl.float32)
        b = tl.load(x + r * 2 * n + n + i, mask=i < n).to(tl.float32)
        g = 0.5 * a * (1 + tl.erf(a * 0.70710678))
        tl.store(y + r * n + i, (g * b).to(tl.float16), mask=i < n)


@triton.jit
def t_group_norm(x, g, b, y, SIZE: tl.constexpr, PER: tl.constexpr):
    base = tl.program_id(0) * SIZE
    i = tl.arange(0, SIZE)
    v = tl.load(x + base + i)
    mean = tl.sum(v, 0) / SIZE
    d = v - mean
    inv = 1 / tl.sqrt(tl.sum(d * d, 0) / SIZE + 1e-5)
    c = i // PER
    tl.store(y + base + i, d * inv * tl.load(g + c) + tl.load(b + c))


@triton.jit
def t_matmul_s8(a, b, c, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.int32)
    for i in range(0, K, BK):
        acc += tl.dot(tl.load(a + r[:, None] * K + (i + k)[None, :]), tl.load(b + n[None, :] * K + (i + k)[:, None]))
    tl.store(c + r[:, None] * N + n[None, :], acc)


@triton.jit
def t_bias_dropout_add(x, bias, res, y, n, cols, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    v = tl.load(x + i, mask=ok) + tl.load(bias + i % cols, mask=ok)
    keep = tl.rand(seed, i) > 0.1
    tl.store(y + i, tl.where(keep, v / 0.9, 0.0) + tl.load(res + i, mask=ok), mask=ok)


@triton.jit
def t_conv1d(x, w, y, length, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.program_id(1)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    s = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(TAPS):
        j = i + k - TAPS + 1
        s += tl.load(x + c * length + j, mask=(j >= 0) & (j < length), other=0.0).to(tl.float32) * tl.load(w + c * TAPS + k)
    tl.store(y + c * length + i, (s * tl.sigmoid(s)).to(tl.bfloat16), mask=i < length)


@triton.jit
def t_amax_scale(x, y, s, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + r * cols + i, mask=i < cols, other=0.0).to(tl.float32)
    m = tl.max(tl.abs(v), 0)
    q = 448.0 / tl.maximum(m, 1e-6)
    tl.store(y + r * cols + i, (v * q).to(tl.float8e4nv), mask=i < cols)
    tl.store(s + r, m / 448.0)


P, H, B, I, S, Q, C = "*fp32", "*fp16", "*bf16", "*i32", "i32", "*fp8e4nv", "*i8"
build("t_geglu", t_geglu, dict(x=H, y=H, n=S), dict(BLOCK=1024))
build("t_group_norm", t_group_norm, dict(x=P, g=P, b=P, y=P), dict(SIZE=4096, PER=256), warps=8)
build("t_matmul_s8", t_matmul_s8, dict(a=C, b=C, c=I, K=S, N=S), dict(BM=64, BN=128, BK=128))
build("t_bias_dropout_add", t_bias_dropout_add, dict(x=P, bias=P, res=P, y=P, n=S, cols=S, seed=S), dict(BLOCK=512))
build("t_conv1d", t_conv1d, dict(x=B, w=P, y=B, length=S), dict(TAPS=4, BLOCK=1024))
build("t_amax_scale", t_amax_scale, dict(x=B, y=Q, s=P, cols=S), dict(BLOCK=4096), warps=8)
