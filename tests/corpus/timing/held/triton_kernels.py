"""Triton kernels of the families held back since 26 November."""
import pathlib
import sys

import triton
import triton.language as tl

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from triton_build import build  # noqa: E402


@triton.jit
def t_rope(q, cosines, sines, heads, HALF: tl.constexpr):
    token = tl.program_id(0)
    head = tl.program_id(1)
    i = tl.arange(0, HALF)
    c = tl.load(cosines + token * HALF + i)
    s = tl.load(sines + token * HALF + i)
    base = q + (token * heads + head) * 2 * HALF
    a = tl.load(base + i).to(tl.float32)
    b = tl.load(base + HALF + i).to(tl.float32)
    tl.store(base + i, (a * c - b * s).to(tl.bfloat16))
    tl.store(base + HALF + i, (b * c + a * s).to(tl.bfloat16))


@triton.jit
def t_adam(w, g, m, v, n, lr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    a = tl.load(g + i, mask=ok)
    p = 0.9 * tl.load(m + i, mask=ok) + 0.1 * a
    q = 0.999 * tl.load(v + i, mask=ok) + 0.001 * a * a
    x = tl.load(w + i, mask=ok)
    tl.store(m + i, p, mask=ok)
    tl.store(v + i, q, mask=ok)
    tl.store(w + i, x - lr * p / (tl.sqrt(tl.abs(q)) + 1e-8), mask=ok)


@triton.jit
def t_gemv(a, x, y, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    s = tl.zeros((ROWS,), tl.float32)
    for k in range(0, cols, BLOCK):
        c = k + tl.arange(0, BLOCK)
        s += tl.sum(tl.load(a + r[:, None] * cols + c[None, :]).to(tl.float32) * tl.load(x + c)[None, :].to(tl.float32), 1)
    tl.store(y + r, s)


@triton.jit
def t_experts(a, b, c, expert, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    e = tl.load(expert + tl.program_id(0)) & 7
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        acc = tl.dot(tl.load(a + r[:, None] * K + (i + k)[None, :]), tl.load(b + e * K * N + (i + k)[:, None] * N + n[None, :]), acc)
    tl.store(c + r[:, None] * N + n[None, :], acc.to(tl.float16))


@triton.jit
def t_permute(x, y, b, c, B: tl.constexpr):
    r = tl.program_id(1) * B + tl.arange(0, B)
    k = tl.program_id(0) * B + tl.arange(0, B)
    base = tl.program_id(2) * b * c
    v = tl.load(x + base + r[:, None] * c + k[None, :])
    tl.store(y + base + k[:, None] * b + r[None, :], tl.trans(v))


@triton.jit
def t_beam(x, parent, y, cols, BLOCK: tl.constexpr):
    p = tl.load(parent + tl.program_id(0)) & 255
    for k in range(0, cols, BLOCK):
        i = k + tl.arange(0, BLOCK)
        tl.store(y + tl.program_id(0) * cols + i, tl.load(x + p * cols + i, mask=i < cols), mask=i < cols)


P, H, B, I, S = "*fp32", "*fp16", "*bf16", "*i32", "i32"
build("t_rope", t_rope, dict(q=B, cosines=P, sines=P, heads=S), dict(HALF=64), warps=1)
build("t_adam", t_adam, dict(w=P, g=P, m=P, v=P, n=S, lr="fp32"), dict(BLOCK=1024))
build("t_gemv", t_gemv, dict(a=H, x=H, y=P, cols=S), dict(ROWS=8, BLOCK=512))
build("t_experts", t_experts, dict(a=H, b=H, c=H, expert=I, K=S, N=S), dict(BM=64, BN=128, BK=64))
build("t_permute", t_permute, dict(x=H, y=H, b=S, c=S), dict(B=64))
build("t_beam", t_beam, dict(x=H, parent=I, y=H, cols=S), dict(BLOCK=1024))
