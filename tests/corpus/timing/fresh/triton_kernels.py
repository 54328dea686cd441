"""Triton kernels of the third set that is held back since 27 November."""
import pathlib
import sys

import triton
import triton.language as tl

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from triton_build import build  # noqa: E402


@triton.jit
def place(pid, tiles_m, tiles_n, GROUP: tl.constexpr):
    per = GROUP * tiles_n
    first = pid // per * GROUP
    size = min(tiles_m - first, GROUP)
    return first + pid % per % size, pid % per // size


@triton.jit
def t_matmul_gelu(a, b, bias, res, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pm, pn = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + (rm % M)[:, None] * K + rk[None, :]
    pb = b + rk[:, None] * N + (rn % N)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=rk[None, :] < K - k * BK, other=0.0)
        y = tl.load(pb, mask=rk[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += BK
        pb += BK * N
    acc += tl.load(bias + rn, mask=rn < N, other=0.0)[None, :]
    acc = acc * tl.sigmoid(1.702 * acc)
    ok = (rm[:, None] < M) & (rn[None, :] < N)
    at = rm[:, None] * N + rn[None, :]
    acc += tl.load(res + at, mask=ok, other=0.0).to(tl.float32)
    tl.store(c + at, acc.to(tl.float16), mask=ok)


@triton.jit
def t_matmul_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    tiles_m = M // BM
    tiles_n = N // BN
    rk = tl.arange(0, BK)
    for tile in range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0)):
        pm, pn = place(tile, tiles_m, tiles_n, GROUP)
        rm = pm * BM + tl.arange(0, BM)
        rn = pn * BN + tl.arange(0, BN)
        pa = a + rm[:, None] * K + rk[None, :]
        pb = b + rn[None, :] * K + rk[:, None]
        acc = tl.zeros((BM, BN), tl.float32)
        for _ in range(0, K, BK):
            acc = tl.dot(tl.load(pa), tl.load(pb), acc)
            pa += BK
            pb += BK
        tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.bfloat16))


@triton.jit
def t_grouped_gemm(a, b, c, sizes, groups, N, K, ROWS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    before = 0
    tiles_n = N // BN
    rk = tl.arange(0, BK)
    for g in range(groups):
        size = (tl.load(sizes + g) & (ROWS // BM - 1)) + 1
        count = size * tiles_n
        while tile >= before and tile < before + count:
            at = tile - before
            rm = g * ROWS + at // tiles_n * BM + tl.arange(0, BM)
            rn = at % tiles_n * BN + tl.arange(0, BN)
            pa = a + rm[:, None] * K + rk[None, :]
            pb = b + g * N * K + rn[None, :] * K + rk[:, None]
            acc = tl.zeros((BM, BN), tl.float32)
            for _ in range(0, K, BK):
                acc = tl.dot(tl.load(pa), tl.load(pb), acc)
                pa += BK
                pb += BK
            tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))
            tile += tl.num_programs(0)
        before += count


@triton.jit
def t_gate_up(x, wg, wu, y, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    px = x + rm[:, None] * K + rk[None, :]
    at = rn[None, :] * K + rk[:, None]
    gate = tl.zeros((BM, BN), tl.float32)
    up = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        v = tl.load(px)
        gate = tl.dot(v, tl.load(wg + at), gate)
        up = tl.dot(v, tl.load(wu + at), up)
        px += BK
        at += BK
    tl.store(y + rm[:, None] * N + rn[None, :], (gate * tl.sigmoid(gate) * up).to(tl.bfloat16))


@triton.jit
def t_conv2d(x, w, y, H, W, F, C: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    pixel = tl.program_id(0) * BM + tl.arange(0, BM)
    rf = tl.program_id(1) * BN + tl.arange(0, BN)
    rc = tl.arange(0, C)
    image = pixel // (H * W)
    row = pixel // W % H
    col = pixel % W
    acc = tl.zeros((BM, BN), tl.float32)
    for tap in range(9):
        r = row + tap // 3 - 1
        q = col + tap % 3 - 1
        inside = (r >= 0) & (r < H) & (q >= 0) & (q < W)
        u = tl.load(x + ((image * H + r) * W + q)[:, None] * C + rc[None, :], mask=inside[:, None], other=0.0)
        v = tl.load(w + (tap * C + rc)[:, None] * F + rf[None, :])
        acc = tl.dot(u, v, acc)
    tl.store(y + pixel[:, None] * F + rf[None, :], tl.maximum(acc, 0.0).to(tl.float16))


@triton.jit
def t_decode_gqa(q, k, v, o, stats, length, each, scale, G: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(0)
    split = tl.program_id(1)
    rg = tl.arange(0, G)
    rn = tl.arange(0, BN)
    rd = tl.arange(0, D)
    qq = tl.load(q + (head * G + rg)[:, None] * D + rd[None, :])
    m = tl.full((G,), -1e30, tl.float32)
    l = tl.zeros((G,), tl.float32)
    acc = tl.zeros((G, D), tl.float32)
    for s in range(split * each, split * each + each, BN):
        at = head * length * D + (s + rn)[:, None] * D + rd[None, :]
        p = tl.dot(qq, tl.load(k + at).T) * scale
        top = tl.maximum(m, tl.max(p, 1))
        p = tl.exp2(p - top[:, None])
        f = tl.exp2(m - top)
        l = l * f + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.bfloat16), tl.load(v + at), acc * f[:, None])
        m = top
    row = (head * tl.num_programs(1) + split) * G + rg
    tl.store(o + row[:, None] * D + rd[None, :], acc / l[:, None])
    tl.store(stats + row, m + tl.log2(l))


@triton.jit
def t_add_rms_fp8(x, res, w, y, s, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    ok = i < cols
    v = tl.load(x + r * cols + i, mask=ok, other=0.0).to(tl.float32) + tl.load(res + r * cols + i, mask=ok, other=0.0).to(tl.float32)
    tl.store(x + r * cols + i, (v * 0.5).to(tl.bfloat16), mask=ok)
    v = v / tl.sqrt(tl.sum(v * v, 0) / cols + 1e-6) * tl.load(w + i, mask=ok, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(v), 0), 1e-6) / 448.0
    tl.store(y + r * cols + i, (v / scale).to(tl.float8e4nv), mask=ok)
    tl.store(s + r, scale)


@triton.jit
def t_quant_tile(x, y, s, rows, cols, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    ok = (r[:, None] < rows) & (c[None, :] < cols)
    v = tl.load(x + r[:, None] * cols + c[None, :], mask=ok, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(v)), 1e-8) / 448.0
    tl.store(y + r[:, None] * cols + c[None, :], (v / scale).to(tl.float8e4nv), mask=ok)
    tl.store(s + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1), scale)


@triton.jit
def after(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def t_ssm_scan(x, dt, decay, y, steps, channels, T: tl.constexpr, C: tl.constexpr):
    rc = tl.program_id(0) * C + tl.arange(0, C)
    rt = tl.arange(0, T)
    base = tl.program_id(1) * steps * channels
    rate = -tl.abs(tl.load(decay + rc))
    state = tl.zeros((C,), tl.float32)
    for t in range(0, steps, T):
        at = base + (t + rt)[:, None] * channels + rc[None, :]
        d = tl.load(dt + at).to(tl.float32)
        d = tl.where(d > 20.0, d, tl.log(1.0 + tl.exp(d)))
        a = tl.exp(d * rate[None, :])
        b = d * tl.load(x + at).to(tl.float32)
        ca, cb = tl.associative_scan((a, b), 0, after)
        h = cb + ca * state[None, :]
        tl.store(y + at, h.to(tl.bfloat16))
        state = tl.sum(tl.where(rt[:, None] == T - 1, h, 0.0), 0)


@triton.jit
def t_argmax(x, token, value, cols, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    at = tl.zeros((BLOCK,), tl.int32)
    for k in range(0, cols, BLOCK):
        v = tl.load(x + r * cols + k + i, mask=k + i < cols, other=-float("inf")).to(tl.float32)
        at = tl.where(v > best, k + i, at)
        best = tl.maximum(best, v)
    top, lane = tl.max(best, 0, return_indices=True)
    tl.store(token + r, tl.sum(tl.where(i == lane, at, 0), 0))
    tl.store(value + r, top)


@triton.jit
def t_bag(table, index, weight, y, cols, last, BAG: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    ok = i < cols
    acc = tl.zeros((BLOCK,), tl.float32)
    for k in range(BAG):
        row = tl.load(index + r * BAG + k) & last
        acc += tl.load(weight + r * BAG + k) * tl.load(table + row.to(tl.int64) * cols + i, mask=ok, other=0.0).to(tl.float32)
    tl.store(y + r * cols + i, acc.to(tl.float16), mask=ok)


P, H, B, I, S, Q, F = "*fp32", "*fp16", "*bf16", "*i32", "i32", "*fp8e4nv", "fp32"
build("t_matmul_gelu", t_matmul_gelu, dict(a=H, b=H, bias=P, res=H, c=H, M=S, N=S, K=S), dict(BM=128, BN=128, BK=64, GROUP=8), warps=8)
build("t_matmul_persistent", t_matmul_persistent, dict(a=B, b=B, c=B, M=S, N=S, K=S), dict(BM=128, BN=128, BK=64, GROUP=8), warps=4, stages=4)
build("t_grouped_gemm", t_grouped_gemm, dict(a=H, b=H, c=H, sizes=I, groups=S, N=S, K=S), dict(ROWS=512, BM=128, BN=64, BK=64), warps=4, uneven=("groups",))
build("t_gate_up", t_gate_up, dict(x=B, wg=B, wu=B, y=B, N=S, K=S), dict(BM=64, BN=128, BK=64), warps=4)
build("t_conv2d", t_conv2d, dict(x=H, w=H, y=H, H=S, W=S, F=S), dict(C=64, BM=128, BN=64), warps=4, uneven=("H", "W"))
build("t_decode_gqa", t_decode_gqa, dict(q=B, k=B, v=B, o=P, stats=P, length=S, each=S, scale=F), dict(G=16, BN=64, D=128), warps=4, stages=2)
build("t_add_rms_fp8", t_add_rms_fp8, dict(x=B, res=B, w=P, y=Q, s=P, cols=S), dict(BLOCK=4096), warps=8)
build("t_quant_tile", t_quant_tile, dict(x=B, y=Q, s=P, rows=S, cols=S), dict(B=128), warps=8)
build("t_ssm_scan", t_ssm_scan, dict(x=B, dt=B, decay=P, y=B, steps=S, channels=S), dict(T=32, C=32), warps=4)
build("t_argmax", t_argmax, dict(x=B, token=I, value=P, cols=S), dict(BLOCK=2048), warps=8)
build("t_bag", t_bag, dict(table=H, index=I, weight=P, y=H, cols=S, last=S), dict(BAG=12, BLOCK=512), warps=4, uneven=("last",))
