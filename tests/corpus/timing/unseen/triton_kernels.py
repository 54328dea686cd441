"""Triton kernels of the second set that is held back since 27 November."""
import pathlib
import sys

import triton
import triton.language as tl

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from triton_build import build  # noqa: E402


@triton.jit
def t_softmax_dropout_back(p, dy, dx, cols, seed, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    ok = i < cols
    v = tl.load(p + r * cols + i, mask=ok, other=0.0).to(tl.float32)
    g = tl.load(dy + r * cols + i, mask=ok, other=0.0).to(tl.float32)
    g = tl.where(tl.rand(seed, r * cols + i) > 0.2, g * 1.25, 0.0)
    s = tl.sum(v * g, 0)
    tl.store(dx + r * cols + i, (v * (g - s)).to(tl.float16), mask=ok)


@triton.jit
def t_layer_norm_back(x, dy, w, dx, dw, db, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    ok = i < cols
    g = tl.load(w + i, mask=ok, other=0.0)
    sw = tl.zeros((BLOCK,), tl.float32)
    sb = tl.zeros((BLOCK,), tl.float32)
    for k in range(ROWS):
        at = (pid * ROWS + k) * cols + i
        v = tl.load(x + at, mask=ok, other=0.0).to(tl.float32)
        d = tl.load(dy + at, mask=ok, other=0.0).to(tl.float32)
        mean = tl.sum(v, 0) / cols
        c = tl.where(ok, v - mean, 0.0)
        inv = 1 / tl.sqrt(tl.sum(c * c, 0) / cols + 1e-5)
        h = c * inv
        sw += d * h
        sb += d
        d = d * g
        a = tl.sum(h * d, 0) / cols
        b = tl.sum(d, 0) / cols
        tl.store(dx + at, ((d - (h * a + b)) * inv).to(tl.bfloat16), mask=ok)
    tl.store(dw + pid * cols + i, sw, mask=ok)
    tl.store(db + pid * cols + i, sb, mask=ok)


@triton.jit
def grouped(pid, tiles_m, tiles_n, GROUP: tl.constexpr):
    group = pid // (GROUP * tiles_n)
    first = group * GROUP
    size = min(tiles_m - first, GROUP)
    rest = pid % (GROUP * tiles_n)
    return first + rest % size, rest // size


@triton.jit
def t_matmul_splitk(a, b, c, M, N, K, each, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pm, pn = grouped(tl.program_id(0), M // BM, N // BN, GROUP)
    first = tl.program_id(1) * each
    r = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    k = first + tl.arange(0, BK)
    pa = a + r[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, each, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * N
    tl.atomic_add(c + r[:, None] * N + n[None, :], acc, sem="relaxed")


@triton.jit
def t_matmul_grouped_f8(a, b, sa, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pm, pn = grouped(tl.program_id(0), M // BM, N // BN, GROUP)
    r = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        u = tl.load(a + r[:, None] * K + (i + k)[None, :])
        v = tl.load(b + n[None, :] * K + (i + k)[:, None])
        acc += tl.dot(u, v) * tl.load(sa + r * (K // BK) + i // BK)[:, None] * tl.load(sb + pn * (K // BK) + i // BK)
    tl.store(c + r[:, None] * N + n[None, :], acc.to(tl.bfloat16))


@triton.jit
def t_matmul_int4(a, w, s, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pw = w + (k[:, None] // 8) * N + n[None, :]
    shift = (k % 8)[:, None] * 4
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        u = tl.load(a + r[:, None] * K + (i + k)[None, :])
        q = ((tl.load(pw) >> shift) & 15) - 8
        v = q.to(tl.float16) * tl.load(s + (i // BK) * N + n)[None, :]
        acc = tl.dot(u, v, acc)
        pw += (BK // 8) * N
    tl.store(c + r[:, None] * N + n[None, :], acc.to(tl.float16))


@triton.jit
def t_attention_window(q, k, v, o, n, window, scale, SHARE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1) * n * D
    kv = tl.program_id(1) // SHARE * n * D
    first = tl.program_id(0) * BM
    rm = first + tl.arange(0, BM)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    qq = tl.load(q + head + rm[:, None] * D + rd[None, :])
    m = tl.full((BM,), -1e30, tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for s in range(max(0, first - window), first + BM, BN):
        kk = tl.load(k + kv + (s + rn)[:, None] * D + rd[None, :])
        p = tl.dot(qq, kk.T) * scale
        far = rm[:, None] - (s + rn)[None, :]
        p = tl.where((far >= 0) & (far <= window), p, -1e30)
        top = tl.maximum(m, tl.max(p, 1))
        p = tl.exp2(p - top[:, None])
        f = tl.exp2(m - top)
        l = l * f + tl.sum(p, 1)
        vv = tl.load(v + kv + (s + rn)[:, None] * D + rd[None, :])
        acc = tl.dot(p.to(tl.bfloat16), vv, acc * f[:, None])
        m = top
    tl.store(o + head + rm[:, None] * D + rd[None, :], (acc / l[:, None]).to(tl.bfloat16))


@triton.jit
def t_linear_attention(q, k, v, o, n, C: tl.constexpr, D: tl.constexpr, DV: tl.constexpr):
    head = tl.program_id(1) * n * D
    rc = tl.arange(0, C)
    rd = tl.arange(0, D)
    rv = tl.program_id(0) * DV + tl.arange(0, DV)
    state = tl.zeros((D, DV), tl.float32)
    for s in range(0, n, C):
        at = head + (s + rc)[:, None] * D
        qq = tl.load(q + at + rd[None, :])
        kk = tl.load(k + at + rd[None, :])
        vv = tl.load(v + at + rv[None, :])
        p = tl.dot(qq, kk.T)
        p = tl.where(rc[:, None] >= rc[None, :], p, 0.0)
        out = tl.dot(p.to(tl.float16), vv)
        out = tl.dot(qq, state.to(tl.float16), out)
        state = tl.dot(kk.T, vv, state)
        tl.store(o + at + rv[None, :], out.to(tl.float16))


@triton.jit
def t_topk_row(x, y, cols, BLOCK: tl.constexpr, TOP: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + r * cols + i, mask=i < cols, other=-float("inf"))
    best = tl.topk(v, TOP)
    e = tl.exp(best - tl.max(best, 0))
    tl.store(y + r * TOP + tl.arange(0, TOP), e / tl.sum(e, 0))


@triton.jit
def t_scatter_rows(x, order, scale, y, cols, odd, last, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    to = ((r * odd) ^ tl.load(order)) & last
    f = tl.load(scale + r)
    for k in range(0, cols, BLOCK):
        i = k + tl.arange(0, BLOCK)
        v = tl.load(x + r * cols + i, mask=i < cols).to(tl.float32)
        tl.store(y + to * cols + i, (v * f).to(tl.bfloat16), mask=i < cols)


P, H, B, I, S, Q, F = "*fp32", "*fp16", "*bf16", "*i32", "i32", "*fp8e4nv", "fp32"
build("t_softmax_dropout_back", t_softmax_dropout_back, dict(p=H, dy=H, dx=H, cols=S, seed=S), dict(BLOCK=2048), uneven=("seed",))
build("t_layer_norm_back", t_layer_norm_back, dict(x=B, dy=B, w=P, dx=B, dw=P, db=P, cols=S), dict(ROWS=4, BLOCK=1024))
build("t_matmul_splitk", t_matmul_splitk, dict(a=H, b=H, c=P, M=S, N=S, K=S, each=S), dict(BM=64, BN=256, BK=32, GROUP=8), warps=8, stages=4)
build("t_matmul_grouped_f8", t_matmul_grouped_f8, dict(a=Q, b=Q, sa=P, sb=P, c=B, M=S, N=S, K=S), dict(BM=128, BN=128, BK=128, GROUP=4), warps=8, stages=3)
build("t_matmul_int4", t_matmul_int4, dict(a=H, w=I, s=H, c=H, N=S, K=S), dict(BM=32, BN=64, BK=64), warps=4, stages=4)
build("t_attention_window", t_attention_window, dict(q=B, k=B, v=B, o=B, n=S, window=S, scale=F), dict(SHARE=4, BM=128, BN=32, D=64), warps=8, stages=2)
build("t_linear_attention", t_linear_attention, dict(q=H, k=H, v=H, o=H, n=S), dict(C=64, D=64, DV=32), warps=4, stages=2)
build("t_topk_row", t_topk_row, dict(x=P, y=P, cols=S), dict(BLOCK=512, TOP=8), warps=2)
build("t_scatter_rows", t_scatter_rows, dict(x=B, order=I, scale=P, y=B, cols=S, odd=S, last=S), dict(BLOCK=1024), warps=4, uneven=("odd", "last"))
