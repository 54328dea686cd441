"""Kernels of the corpus in Triton, compiled for sm_90a to PTX (no GPU needed). Writes NAME.ptx and prints the launch's facts as JSON."""
import sys

import triton
import triton.language as tl

from triton_build import build


@triton.jit
def t_add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def t_swiglu(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n).to(tl.float32)
    b = tl.load(y + i, mask=i < n).to(tl.float32)
    tl.store(z + i, (a * tl.sigmoid(a) * b).to(tl.bfloat16), mask=i < n)


@triton.jit
def t_softmax(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + i, mask=i < cols, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * cols + i, v / tl.sum(v, 0), mask=i < cols)


@triton.jit
def t_layer_norm(x, g, b, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    m = i < cols
    v = tl.load(x + row * cols + i, mask=m, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / cols
    d = tl.where(m, v - mean, 0.0)
    r = 1 / tl.sqrt(tl.sum(d * d, 0) / cols + 1e-5)
    tl.store(y + row * cols + i, (d * r * tl.load(g + i, mask=m) + tl.load(b + i, mask=m)).to(tl.bfloat16), mask=m)


@triton.jit
def t_cross_entropy(x, label, loss, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    m = -float("inf")
    s = 0.0
    for c in range(0, cols, BLOCK):
        i = c + tl.arange(0, BLOCK)
        v = tl.load(x + row * cols + i, mask=i < cols, other=-float("inf"))
        n = tl.maximum(m, tl.max(v, 0))
        s = s * tl.exp(m - n) + tl.sum(tl.exp(v - n), 0)
        m = n
    at = tl.load(label + row) % cols
    tl.store(loss + row, m + tl.log(s) - tl.load(x + row * cols + at))


@triton.jit
def t_matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    rm = pm * BM + tl.arange(0, BM)
    rn = pn * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * K + rk[None, :]
    pb = b + rn[None, :] * K + rk[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(OUT))


@triton.jit
def t_matmul_desc(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0)
    pn = tl.program_id(1)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([pm * BM, k]), b.load([pn * BN, k]).T, acc)
    c.store([pm * BM, pn * BN], acc.to(tl.float16))


@triton.jit
def t_attention(q, k, v, o, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    head = tl.program_id(1) * n * D
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    rn = tl.arange(0, BN)
    qq = tl.load(q + head + rm[:, None] * D + rd[None, :])
    m = tl.full((BM,), -1e30, tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = (tl.program_id(0) + 1) * BM if CAUSAL else n
    for s in range(0, end, BN):
        kk = tl.load(k + head + (s + rn)[None, :] * D + rd[:, None])
        p = tl.dot(qq, kk) * scale
        if CAUSAL:
            p = tl.where(rm[:, None] >= (s + rn)[None, :], p, -1e30)
        top = tl.maximum(m, tl.max(p, 1))
        p = tl.exp2(p - top[:, None])
        f = tl.exp2(m - top)
        l = l * f + tl.sum(p, 1)
        vv = tl.load(v + head + (s + rn)[:, None] * D + rd[None, :])
        acc = tl.dot(p.to(tl.float16), vv, acc * f[:, None])
        m = top
    tl.store(o + head + rm[:, None] * D + rd[None, :], (acc / l[:, None]).to(tl.float16))


@triton.jit
def t_dropout(x, y, n, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > 0.5
    tl.store(y + i, tl.where(keep, tl.load(x + i, mask=i < n) * 2, 0.0), mask=i < n)


@triton.jit
def t_embedding(table, index, out, cols, mask_rows, BLOCK: tl.constexpr):
    row = tl.load(index + tl.program_id(0)) & mask_rows
    i = tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0) * cols + i, tl.load(table + row * cols + i, mask=i < cols), mask=i < cols)


@triton.jit
def t_scatter_add(x, index, table, cols, mask_rows, BLOCK: tl.constexpr):
    row = tl.load(index + tl.program_id(0)) & mask_rows
    i = tl.arange(0, BLOCK)
    tl.atomic_add(table + row * cols + i, tl.load(x + tl.program_id(0) * cols + i, mask=i < cols), mask=i < cols)


@triton.jit
def t_quantize(x, y, s, cols, G: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    i = tl.program_id(1) * G + tl.arange(0, G)
    v = tl.load(x + r[:, None] * cols + i[None, :]).to(tl.float32)
    m = tl.max(tl.abs(v), 1)
    scale = tl.maximum(m, 1e-10) / 448.0
    tl.store(y + r[:, None] * cols + i[None, :], (v / scale[:, None]).to(tl.float8e4nv))
    tl.store(s + r * (cols // G) + tl.program_id(1), scale)


@triton.jit
def t_cumsum(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(y + row * cols + i, tl.cumsum(tl.load(x + row * cols + i), 0))


@triton.jit
def t_sort(x, y, cols: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, cols)
    tl.store(y + row * cols + i, tl.sort(tl.load(x + row * cols + i)))


@triton.jit
def t_histogram(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    h = tl.histogram(tl.load(x + i) & 255, 256)
    tl.atomic_add(y + tl.arange(0, 256), h)


@triton.jit
def t_transpose(x, y, M, N, B: tl.constexpr):
    rm = tl.program_id(0) * B + tl.arange(0, B)
    rn = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + rm[:, None] * N + rn[None, :])
    tl.store(y + rn[:, None] * M + rm[None, :], tl.trans(v))


@triton.jit
def t_column_sum(x, y, rows, cols, BR: tl.constexpr, BC: tl.constexpr):
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    acc = tl.zeros((BC,), tl.float32)
    for r in range(0, rows, BR):
        i = r + tl.arange(0, BR)
        acc += tl.sum(tl.load(x + i[:, None] * cols + c[None, :]), 0)
    tl.store(y + c, acc)


P, B, H, F8, I, S = "*fp32", "*bf16", "*fp16", "*fp8e4nv", "*i32", "i32"
build("t_add", t_add, dict(x=P, y=P, z=P, n=S), dict(BLOCK=1024))
build("t_swiglu", t_swiglu, dict(x=B, y=B, z=B, n=S), dict(BLOCK=2048))
build("t_softmax_1k", t_softmax, dict(x=P, y=P, cols=S), dict(BLOCK=1024))
build("t_softmax_4k", t_softmax, dict(x=P, y=P, cols=S), dict(BLOCK=4096), warps=8)
build("t_layer_norm", t_layer_norm, dict(x=B, g=P, b=P, y=B, cols=S), dict(BLOCK=2048), warps=8)
build("t_cross_entropy", t_cross_entropy, dict(x=P, label=I, loss=P, cols=S), dict(BLOCK=1024))
MM = dict(M=S, N=S, K=S)
build("t_matmul_f16_128x128", t_matmul, dict(a=H, b=H, c=H, **MM), dict(BM=128, BN=128, BK=64, OUT=tl.float16))
build("t_matmul_f16_64x64", t_matmul, dict(a=H, b=H, c=H, **MM), dict(BM=64, BN=64, BK=32, OUT=tl.float16))
build("t_matmul_f16_128x256", t_matmul, dict(a=H, b=H, c=H, **MM), dict(BM=128, BN=256, BK=64, OUT=tl.float16), warps=8)
build("t_matmul_bf16_128x64", t_matmul, dict(a=B, b=B, c=P, **MM), dict(BM=128, BN=64, BK=64, OUT=tl.float32), stages=4)
build("t_matmul_tf32", t_matmul, dict(a=P, b=P, c=P, **MM), dict(BM=128, BN=128, BK=32, OUT=tl.float32))
build("t_matmul_f8", t_matmul, dict(a=F8, b=F8, c=H, **MM), dict(BM=128, BN=128, BK=128, OUT=tl.float16))
build("t_matmul_small_mma", t_matmul, dict(a=H, b=H, c=H, **MM), dict(BM=32, BN=32, BK=32, OUT=tl.float16))
for causal in (0, 1):
    build(f"t_attention_{'causal' if causal else 'full'}", t_attention, dict(q=H, k=H, v=H, o=H, n=S, scale="fp32"), dict(BM=128, BN=64, D=64, CAUSAL=causal))
build("t_attention_d128", t_attention, dict(q=H, k=H, v=H, o=H, n=S, scale="fp32"), dict(BM=128, BN=64, D=128, CAUSAL=0), warps=8)
build("t_dropout", t_dropout, dict(x=P, y=P, n=S, seed=S), dict(BLOCK=1024))
build("t_embedding", t_embedding, dict(table=P, index=I, out=P, cols=S, mask_rows=S), dict(BLOCK=1024))
build("t_scatter_add", t_scatter_add, dict(x=P, index=I, table=P, cols=S, mask_rows=S), dict(BLOCK=1024))
build("t_quantize", t_quantize, dict(x=B, y=F8, s=P, cols=S), dict(G=128, ROWS=16))
build("t_cumsum", t_cumsum, dict(x=P, y=P, cols=S), dict(BLOCK=2048))
build("t_sort", t_sort, dict(x=P, y=P), dict(cols=512))
build("t_histogram", t_histogram, dict(x=I, y=I, n=S), dict(BLOCK=2048))
build("t_transpose", t_transpose, dict(x=P, y=P, M=S, N=S), dict(B=64))
build("t_column_sum", t_column_sum, dict(x=P, y=P, rows=S, cols=S), dict(BR=16, BC=64))
TD = "tensordesc<fp16[{}]>"
try:
    build("t_matmul_tma", t_matmul_desc, dict(a="tensordesc<fp16[128,64]>", b="tensordesc<fp16[128,64]>", c="tensordesc<fp16[128,128]>", **MM), dict(BM=128, BN=128, BK=64))
except Exception as e:
    print("tma:", e, file=sys.stderr)
