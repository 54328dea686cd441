"""Triton: kernels of unusual kinds. Scans and reductions of several values, atomics of every kind, a lock, random numbers, packed inline PTX,
conversions at their limits, descriptors of odd shapes, warp specialisation, clusters, loops whose lengths are data."""

import pickle
import threading

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")
import triton
import triton.language as tl

import drywell as dw
from cases import BLACKWELL, Check, Registry, check_case, floats, rng, small_ints

R = Registry()
bf16, e4, e5 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


@triton.jit
def sortk(x, y, z, t, M: tl.constexpr, N: tl.constexpr, T: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + i)
    tl.store(y + i, tl.sort(v, 1))
    tl.store(z + i, tl.sort(v, 1, descending=True))
    tl.store(t + tl.arange(0, M)[:, None] * T + tl.arange(0, T)[None, :], tl.topk(v, T))


def sorts(dt, M, N, T):
    x = rng(5).permutation(M * N).reshape(M, N)
    x = (x - M * N // 2).astype(dt)
    y, z, t = dw.poison((M, N), dt), dw.poison((M, N), dt), dw.poison((M, T), dt)
    sortk[(1,)](x, y, z, t, M=M, N=N, T=T)
    return [Check(y, np.sort(x.astype(np.float64), 1)), Check(z, -np.sort(-x.astype(np.float64), 1)), Check(t, -np.sort(-x.astype(np.float64), 1)[:, :T])]


@R.case()
def sort_f16():
    return sorts(np.float16, 8, 32, 4)


@R.case()
def sort_i8():
    return sorts(np.int8, 2, 64, 2)


@triton.jit
def comb_first_order(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def seg(v1, f1, v2, f2):
    return tl.where(f2 != 0, v2, v1 + v2), f1 | f2


@triton.jit
def scank(a, b, f, h, s, M: tl.constexpr, N: tl.constexpr, REV: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x, y, fl = tl.load(a + i), tl.load(b + i), tl.load(f + i)
    _, hh = tl.associative_scan((x, y), 1, comb_first_order, reverse=REV)
    ss, _ = tl.associative_scan((y, fl), 0, seg)
    tl.store(h + i, hh)
    tl.store(s + i, ss)


def scans(rev):
    M, N = 16, 64
    a, b = rng(1).integers(0, 2, (M, N)).astype(np.float32), small_ints(M, N, seed=2)
    f = (rng(3).random((M, N)) < 0.2).astype(np.int32)
    h, s = dw.poison((M, N)), dw.poison((M, N))
    scank[(1,)](a, b, f, h, s, M=M, N=N, REV=rev)
    H = np.zeros((M, N))
    st = np.zeros(M)
    for j in (range(N - 1, -1, -1) if rev else range(N)):
        st = st * a[:, j] + b[:, j]
        H[:, j] = st
    S = np.zeros((M, N))
    st = np.zeros(N)
    for r in range(M):
        st = np.where(f[r] != 0, b[r], st + b[r])
        S[r] = st
    return [Check(h, H), Check(s, S)]


@R.case()
def scan_pair():
    return scans(False)


@R.case()
def scan_pair_reverse():
    return scans(True)


@triton.jit
def welford(m1, s1, n1, m2, s2, n2):
    n = n1 + n2
    d = m2 - m1
    r = tl.where(n == 0, 0.0, n2 / n)
    return m1 + d * r, s1 + s2 + d * d * n1 * r, n


@triton.jit
def argminmax(v1, i1, w1, j1, v2, i2, w2, j2):
    t = (v1 > v2) | ((v1 == v2) & (i1 < i2))
    u = (w1 < w2) | ((w1 == w2) & (j1 < j2))
    return tl.where(t, v1, v2), tl.where(t, i1, i2), tl.where(u, w1, w2), tl.where(u, j1, j2)


@triton.jit
def redk(x, mean, var, am, an, M: tl.constexpr, N: tl.constexpr):
    r, cidx = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + r * N + cidx)
    mu, m2, n = tl.reduce((v, tl.zeros_like(v), tl.full(v.shape, 1.0, tl.float32)), 1, welford)
    tl.store(mean + tl.arange(0, M), mu)
    tl.store(var + tl.arange(0, M), m2 / n)
    ii = tl.broadcast_to(cidx, (M, N))
    _, a, _, b = tl.reduce((v, ii, v, ii), 1, argminmax)
    tl.store(am + tl.arange(0, M), a)
    tl.store(an + tl.arange(0, M), b)


@R.case()
def reduce_custom():
    M, N = 32, 256
    x = floats(M, N, seed=8)
    x[:, 200] = x[:, 17] = 9
    x[:, 3] = x[:, 100] = -9
    mean, var, a, b = dw.poison(M), dw.poison(M), dw.poison(M, np.int32), dw.poison(M, np.int32)
    redk[(1,)](x, mean, var, a, b, M=M, N=N)
    return [Check(mean, x.astype(np.float64).mean(1), 1e-5), Check(var, x.astype(np.float64).var(1), 1e-4), Check(a, x.argmax(1)), Check(b, x.argmin(1))]


@triton.jit
def xork(a, b):
    return a ^ b


@triton.jit
def red3(x, o0, o1, o2, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i, j, k = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    v = tl.load(x + (i * B + j) * C + k)
    tl.store(o0 + tl.arange(0, B)[:, None] * C + tl.arange(0, C)[None, :], tl.reduce(v, 0, xork))
    tl.store(o1 + tl.arange(0, A)[:, None] * C + tl.arange(0, C)[None, :], tl.reduce(v, 1, xork))
    tl.store(o2 + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], tl.xor_sum(v, 2))


@R.case()
def reduce_3d_xor():
    x = rng(4).integers(0, 1 << 30, (8, 16, 32)).astype(np.int32)
    o = [dw.poison(s, np.int32) for s in ((16, 32), (8, 32), (8, 16))]
    red3[(1,)](x, *o, A=8, B=16, C=32)
    return [Check(o[i], np.bitwise_xor.reduce(x, axis=i)) for i in range(3)]


@triton.jit
def histk(x, h, n, N: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    hh = tl.histogram(tl.load(x + i, i < n, other=0), B, mask=i < n)
    tl.atomic_add(h + tl.arange(0, B), hh)


@R.case()
def histogram_masked():
    x, h = rng(2).integers(0, 64, 1000).astype(np.int32), np.zeros(64, np.int32)
    histk[(4,)](x, h, 1000, N=256, B=64)
    return Check(h, np.bincount(x, minlength=64))


@triton.jit
def gk(x, idx, y0, y1, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v, j = tl.load(x + i), tl.load(idx + i)
    tl.store(y0 + i, tl.gather(v, j % M, 0))
    tl.store(y1 + i, tl.gather(v, j, 1))


@R.case()
def gather_both_axes():
    x, j = floats(32, 64), rng(1).integers(0, 64, (32, 64)).astype(np.int32)
    y0, y1 = dw.poison((32, 64)), dw.poison((32, 64))
    gk[(1,)](x, j, y0, y1, M=32, N=64)
    return [Check(y0, np.take_along_axis(x, j % 32, 0)), Check(y1, np.take_along_axis(x, j, 1))]


@triton.jit
def atomk(x, o, of, oh, old, N: tl.constexpr, SEM: tl.constexpr, SCOPE: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i)
    b = v & 7
    tl.atomic_add(o + b, v, sem=SEM, scope=SCOPE)
    tl.atomic_max(o + 8 + b, v, sem=SEM)
    tl.atomic_min(o + 16 + b, v, sem=SEM)
    tl.atomic_and(o + 24 + b, v | 0xFF00, sem=SEM)
    tl.atomic_or(o + 32 + b, v, sem=SEM)
    tl.atomic_xor(o + 40 + b, v, sem=SEM)
    tl.atomic_add(of + b, v.to(tl.float32))
    tl.atomic_max(of + 8 + b, v.to(tl.float32) - 50)
    tl.atomic_min(of + 16 + b, v.to(tl.float32) - 50)
    tl.atomic_add(oh + b, (v % 4).to(tl.float16), mask=v % 2 == 0)
    tl.store(old + i, tl.atomic_xchg(old + i, v * 2) + 1)


def atom(SEM, SCOPE):
    x = rng(3).integers(0, 100, 512).astype(np.int32)
    o = np.zeros(48, np.int32)
    o[16:24] = 1000
    o[24:32] = -1
    of = np.zeros(24, np.float32)
    of[8:16] = -1000
    of[16:] = 1000
    oh = np.zeros(8, np.float16)
    old = np.arange(512, dtype=np.int32)
    w, wf, wh = o.copy(), of.copy(), oh.copy()
    for v in x:
        b = v & 7
        w[b] += v
        w[8 + b] = max(w[8 + b], v)
        w[16 + b] = min(w[16 + b], v)
        w[24 + b] &= v | 0xFF00
        w[32 + b] |= v
        w[40 + b] ^= v
        wf[b] += v
        wf[8 + b] = max(wf[8 + b], v - 50)
        wf[16 + b] = min(wf[16 + b], v - 50)
        if v % 2 == 0:
            wh[b] += v % 4
    atomk[(4,)](x, o, of, oh, old, N=128, SEM=SEM, SCOPE=SCOPE)
    return [Check(o, w), Check(of, wf), Check(oh, wh), Check(old, np.arange(512) + 1)]


@R.case()
def atomics_relaxed():
    return atom("relaxed", "gpu")


@triton.jit
def atom64(x, o, of, ob, lock, cnt, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + i)
    tl.atomic_add(o + (v & 3), v)
    tl.atomic_max(o + 4 + (v & 3), v)
    tl.atomic_min(o + 8 + (v & 3), v)
    tl.atomic_xor(o + 12 + (v & 3), v)
    tl.atomic_add(of + (v & 3), v.to(tl.float64))
    tl.atomic_add(ob + (v & 3), (v & 1).to(tl.bfloat16))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    c = tl.load(cnt)
    tl.store(cnt, c + tl.sum(v))
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@R.case()
def atomics_64_and_lock():
    x = rng(3).integers(0, 1 << 40, 512).astype(np.int64)
    o = np.zeros(16, np.int64)
    o[8:12] = 1 << 60
    of = np.zeros(4)
    ob = np.zeros(4, bf16)
    lock = np.zeros(1, np.int32)
    cnt = np.zeros(1, np.int64)
    w = o.copy()
    wf = of.copy()
    wb = np.zeros(4)
    for v in x:
        b = int(v & 3)
        w[b] += v
        w[4 + b] = max(w[4 + b], v)
        w[8 + b] = min(w[8 + b], v)
        w[12 + b] ^= v
        wf[b] += v
        wb[b] += v & 1
    atom64[(4,)](x, o, of, ob, lock, cnt, N=128)
    return [Check(o, w), Check(of, wf), Check(ob, wb), Check(cnt, np.array([x.sum()]))]


@triton.jit
def randk(o, o2, o3, seed, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o + i, tl.randint(seed, i))
    tl.store(o2 + i, tl.rand(seed, i))
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(o3 + i, a ^ b ^ c ^ d)


def philox(seed, i, rounds=10):
    A, B, W0, W1 = 0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85
    M = np.uint64(0xFFFFFFFF)
    c = [i.astype(np.uint64), np.zeros_like(i, np.uint64), np.zeros_like(i, np.uint64), np.zeros_like(i, np.uint64)]
    k0, k1 = np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32)
    for _ in range(rounds):
        p0, p1 = np.uint64(A) * c[0], np.uint64(B) * c[2]
        c = [((p1 >> np.uint64(32)) ^ c[1] ^ k0) & M, p1 & M, ((p0 >> np.uint64(32)) ^ c[3] ^ k1) & M, p0 & M]
        k0, k1 = (k0 + np.uint64(W0)) & M, (k1 + np.uint64(W1)) & M
    return [x.astype(np.uint32) for x in c]


@R.case()
def random_philox():
    n = 256
    o, o2, o3 = dw.poison(n, np.int32), dw.poison(n), dw.poison(n, np.int32)
    seed = 0x123456789A
    randk[(2,)](o, o2, o3, seed, N=128)
    r = philox(seed, np.arange(n))
    s = r[0].view(np.int32)
    u = np.where(s < 0, -s.astype(np.int64) - 1, s).astype(np.float32) * np.float32(4.6566127342e-10)
    return [Check(o, s), Check(o2, u), Check(o3, (r[0] ^ r[1] ^ r[2] ^ r[3]).view(np.int32))]


@triton.jit
def asmk(x, y, z, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    # four int8 in one register
    r = tl.inline_asm_elementwise(
        "vabsdiff4.u32.u32.u32.add $0, $1, 0, 0;" if False else "{ .reg .b32 t; not.b32 t, $1; add.u32 $0, t, 0x01010101; }",
        "=r,r",
        [v],
        dtype=tl.int8,
        is_pure=True,
        pack=4,
    )
    tl.store(y + i, r)
    a, b = tl.inline_asm_elementwise(
        """{ .reg .b8 t<4>; mov.b32 {t0, t1, t2, t3}, $8; cvt.u32.u8 $0, t0; cvt.u32.u8 $1, t1; cvt.u32.u8 $2, t2; cvt.u32.u8 $3, t3; add.u32 $4, $0, 1; add.u32 $5, $1, 1; add.u32 $6, $2, 1; add.u32 $7, $3, 1; }""",
        "=r,=r,=r,=r,=r,=r,=r,=r,r",
        [v],
        dtype=(tl.int32, tl.int32),
        is_pure=True,
        pack=4,
    )
    tl.store(z + i, a + b)


@R.case()
def inline_asm_packed():
    x = rng(1).integers(1, 127, 512).astype(np.int8)
    y, z = dw.poison(512, np.int8), dw.poison(512, np.int32)
    asmk[(1,)](x, y, z, N=512)
    return [Check(y, ((~x.view(np.uint8)) + np.uint8(1)).view(np.int8)), Check(z, 2 * x.astype(np.int32) + 1)]


@triton.jit
def convk(x, o16, ob, o8, o5, o_i8, o_u8, back4, back5, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o16 + i, v.to(tl.float16))
    tl.store(ob + i, v.to(tl.bfloat16))
    tl.store(o8 + i, v.to(tl.float8e4nv))
    tl.store(o5 + i, v.to(tl.float8e5))
    tl.store(o_i8 + i, v.to(tl.int32).to(tl.int8))
    tl.store(o_u8 + i, tl.abs(v).to(tl.uint8))
    tl.store(back4 + i, v.to(tl.float8e4nv).to(tl.float16))
    tl.store(back5 + i, v.to(tl.float8e5).to(tl.bfloat16))


@R.case()
def conversions():
    x = np.concatenate(
        [floats(480, seed=3) * 50, np.array([0.0, -0.0, 1e-8, -1e-8, 448, 449, 465, -470, 1e5, 2**-9, 3 * 2.0**-11, 2**-16, 57344, 61440, 60000, -60000] * 2)]
    ).astype(np.float32)
    n = x.size
    o16, ob, o8, o5 = dw.poison(n, np.float16), dw.poison(n, bf16), dw.poison(n, e4), dw.poison(n, e5)
    i8, u8, b4, b5 = dw.poison(n, np.int8), dw.poison(n, np.uint8), dw.poison(n, np.float16), dw.poison(n, bf16)
    convk[(1,)](x, o16, ob, o8, o5, i8, u8, b4, b5, N=n)
    s4 = np.clip(x, -448, 448).astype(e4)
    s5 = np.clip(x, -57344, 57344).astype(e5)
    ok = np.abs(x) < 256
    return [
        Check(o16.view(np.uint16), x.astype(np.float16).view(np.uint16)),
        Check(ob.view(np.uint16), x.astype(bf16).view(np.uint16)),
        Check(o8.view(np.uint8), s4.view(np.uint8)),
        Check(o5.view(np.uint8), s5.view(np.uint8)),
        Check(i8, x.astype(np.int32).astype(np.int8)),
        Check(u8[ok], np.abs(x[ok]).astype(np.uint8)),
        Check(b4, s4.astype(np.float64)),
        Check(b5, s5.astype(np.float64)),
    ]


@triton.jit
def descrk(x, y, z, M, N, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    e = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BM, BN])
    q = tl.make_tensor_descriptor(z, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM + 3, tl.program_id(1) * BN
    v = d.load([m, n])
    e.store([m, n], v * 2)
    q.atomic_add([m, n], v)


@R.case()
def descriptor_odd():
    M, N = 37, 52
    x, y, z = small_ints(M, N), np.zeros((M, N), np.float32), small_ints(M, N, seed=4)
    w = z + x
    w[:3] = z[:3]

    def alloc(size, align, stream):
        return dw.triton.tensor(np.zeros(size, np.uint8))

    descrk[(5, 2)](x, y, z, M, N, BM=8, BN=32)
    v = 2 * x
    v[:3] = 0
    return [Check(y, v), Check(z, w)]


@triton.jit
def descr_at(x, o, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    e = tl.make_tensor_descriptor(o, [M, N], [N, 1], [BM, BN])
    v = d.load([0, tl.program_id(0) * BN])
    if K == 0:
        e.atomic_max([0, tl.program_id(0) * BN], v)
    elif K == 1:
        e.atomic_min([0, tl.program_id(0) * BN], v)
    elif K == 2:
        e.atomic_and([0, tl.program_id(0) * BN], v)
    elif K == 3:
        e.atomic_or([0, tl.program_id(0) * BN], v)
    else:
        e.atomic_xor([0, tl.program_id(0) * BN], v)


@R.case()
def descriptor_atomics():
    out = []
    for k, f in enumerate((np.maximum, np.minimum, np.bitwise_and, np.bitwise_or, np.bitwise_xor)):
        x, o = rng(k).integers(0, 1 << 31, (16, 40)).astype(np.uint32), rng(k + 9).integers(0, 1 << 31, (16, 40)).astype(np.uint32)
        w = f(x, o)
        descr_at[(2,)](x, o, 16, 40, K=k, BM=16, BN=32)
        out.append(Check(o, w))
    return out


@triton.jit
def descr_nd(x, y, A, B, C, D, BA: tl.constexpr, BB: tl.constexpr, BC: tl.constexpr, BD: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [A, B, C, D], [B * C * D, C * D, D, 1], [BA, BB, BC, BD])
    e = tl.make_tensor_descriptor(y, [A, B, C, D], [B * C * D, C * D, D, 1], [BA, BB, BC, BD])
    p = tl.program_id(0)
    for a in range(0, A, BA):
        for c in range(0, C, BC):
            e.store([a, p * BB, c, 0], -d.load([a, p * BB, c, 0]))


@R.case()
def descriptor_4d():
    x = small_ints(3, 5, 7, 16, dtype=np.float16)
    y = dw.poison(x.shape, np.float16)
    descr_nd[(3,)](x, y, 3, 5, 7, 16, BA=1, BB=2, BC=4, BD=16)
    return Check(y, -x)


@triton.jit
def persist(ad, bd, cd, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr, FLAT: tl.constexpr):
    tm, tn = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), tm * tn, tl.num_programs(0), warp_specialize=WS, flatten=FLAT):
        pm, pn = tl.swizzle2d(t // tn, t % tn, tm, tn, 2)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(ad.load([pm * BM, k * BK]), bd.load([pn * BN, k * BK]).T, acc)
        cd.store([pm * BM, pn * BN], acc.to(cd.dtype))


def persistent(ws, flat, stages=3, warps=4, BM=128, BN=64, BK=64, M=300, N=200, K=136, dt=np.float16, ctas=1):
    a, b, c = small_ints(M, K, dtype=dt), small_ints(N, K, seed=1, dtype=dt), dw.poison((M, N), np.float16)
    d = dw.triton.descriptor
    persist[(3,)](d(a, [BM, BK]), d(b, [BN, BK]), d(c, [BM, BN]), M, N, K, BM=BM, BN=BN, BK=BK, WS=ws, FLAT=flat, num_stages=stages, num_warps=warps)
    return Check(c, (a.astype(np.float64) @ b.astype(np.float64).T).astype(np.float16))


@R.case(BLACKWELL)
def persistent_ws_flat():
    return persistent(True, True, stages=4)


@triton.jit
def mmctas(a, b, c, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        kk = k + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * sam + kk[None, :] * sak, (m[:, None] < M) & (kk[None, :] < K), other=0.0)
        y = tl.load(b + kk[:, None] * sbk + n[None, :] * sbn, (kk[:, None] < K) & (n[None, :] < N), other=0.0)
        acc += tl.dot(x, y)
    tl.store(c + m[:, None] * N + n[None, :], acc, (m[:, None] < M) & (n[None, :] < N))


def ctas(n, M=130, N=70, K=50, ta=False, tb=False, **o):
    a, b = small_ints(M, K, dtype=np.float16), small_ints(K, N, seed=1, dtype=np.float16)
    w = a.astype(np.float64) @ b.astype(np.float64)
    if ta:
        a = np.asfortranarray(a)
    if tb:
        b = np.asfortranarray(b)
    c = dw.poison((M, N))
    sa, sb = [s // 2 for s in a.strides], [s // 2 for s in b.strides]
    mmctas[(-(-M // 64), -(-N // 64))](a, b, c, M, N, K, *sa, *sb, BM=64, BN=64, BK=32, num_ctas=n, **o)
    return Check(c, w)


@R.case()
def four_ctas_tb():
    return ctas(4, tb=True, num_warps=8)


@triton.autotune(
    [triton.Config({"B": 64}, num_warps=2), triton.Config({"B": 128}, num_warps=4), triton.Config({"B": 2048}, num_warps=8)],
    key=["n"],
    reset_to_zero=["o"],
    restore_value=["x"],
)
@triton.heuristics({"EVEN": lambda a: a["n"] % a["B"] == 0})
@triton.jit
def tuned(x, o, n, B: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i) if EVEN else tl.load(x + i, i < n, other=0)
    tl.atomic_add(o, tl.sum(v))
    if EVEN:
        tl.store(x + i, v + 1)
    else:
        tl.store(x + i, v + 1, i < n)


@R.case()
def autotune_restore():
    x, o = small_ints(1000, dtype=np.int32), np.zeros(1, np.int32)
    s = x.sum()
    w = x + 1
    tuned[lambda m: (triton.cdiv(1000, m["B"]),)](x, o, 1000)
    return [Check(o, np.array([s])), Check(x, w)]


@triton.jit
def jag(vals, offs, out, B: tl.constexpr):
    r = tl.program_id(0)
    s, e = tl.load(offs + r), tl.load(offs + r + 1)
    acc = tl.zeros((B,), tl.float32)
    mx = float("-inf")
    for i in range(s, e, B):
        k = i + tl.arange(0, B)
        v = tl.load(vals + k, k < e, other=0.0)
        acc += v
        mx = max(mx, tl.max(tl.where(k < e, v, float("-inf"))))
    i = s
    c = 0
    while i < e:
        if tl.load(vals + i) < 0:
            c += 1
        i += 3
    tl.store(out + r * 3, tl.sum(acc))
    tl.store(out + r * 3 + 1, mx)
    tl.store(out + r * 3 + 2, c.to(tl.float32) if False else c * 1.0)


@R.case()
def jagged():
    lens = np.array([0, 1, 33, 100, 7, 64])
    offs = np.concatenate([[0], lens.cumsum()]).astype(np.int32)
    v = small_ints(offs[-1])
    out = dw.poison((6, 3))
    jag[(6,)](v, offs, out, B=32)
    w = [[v[a:b].sum(), v[a:b].max(initial=-np.inf), (v[a:b:3] < 0).sum()] for a, b in zip(offs, offs[1:])]
    return Check(out, np.array(w))


@triton.jit
def shapes(x, o, p, q, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = (tl.arange(0, A)[:, None, None] * B + tl.arange(0, B)[None, :, None]) * C + tl.arange(0, C)[None, None, :]
    v = tl.load(x + i)
    t = tl.permute(v, (2, 0, 1))
    oi = (tl.arange(0, C)[:, None, None] * A + tl.arange(0, A)[None, :, None]) * B + tl.arange(0, B)[None, None, :]
    tl.store(o + oi, t)
    f = tl.reshape(v, (A * B, C))
    tl.store(p + tl.arange(0, A * B)[:, None] * C + tl.arange(0, C)[None, :], tl.flip(f, 1))
    a, b = tl.split(tl.reshape(v, (A, B, C // 2, 2)))
    j = tl.join(b, a)
    w = tl.interleave(a, b)
    tl.store(q + i, tl.reshape(j, (A, B, C)) + w * 1000)


@R.case()
def permute_split_join():
    x = small_ints(4, 8, 16)
    o, p, q = dw.poison((16, 4, 8)), dw.poison((32, 16)), dw.poison((4, 8, 16))
    shapes[(1,)](x, o, p, q, A=4, B=8, C=16)
    sw = x.reshape(4, 8, 8, 2)[..., ::-1].reshape(4, 8, 16)
    return [Check(o, x.transpose(2, 0, 1)), Check(p, x.reshape(32, 16)[:, ::-1]), Check(q, sw + 1000 * x)]


@triton.jit
def ints(a, b, o, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(a + i), tl.load(b + i)
    tl.store(o + i, x // y)
    tl.store(o + N + i, x % y)
    tl.store(o + 2 * N + i, x >> (y & 7))
    tl.store(o + 3 * N + i, x << (y & 7))
    tl.store(o + 4 * N + i, tl.umulhi(x.to(tl.uint32), y.to(tl.uint32)).to(tl.int32))
    tl.store(o + 5 * N + i, tl.minimum(x, y))
    tl.store(o + 6 * N + i, ~x ^ (x | y))
    tl.store(o + 7 * N + i, tl.where(x > y, x - y, tl.abs(x)))


@R.case()
def integers():
    a, b = rng(1).integers(-(2**31), 2**31, 256).astype(np.int32), rng(2).integers(1, 1000, 256).astype(np.int32) * rng(3).choice([-1, 1], 256).astype(np.int32)
    o = dw.poison((8, 256), np.int32)
    ints[(1,)](a, b, o, N=256)
    q = (np.abs(a.astype(np.int64)) // np.abs(b)) * np.sign(a.astype(np.int64)) * np.sign(b)
    r = a - q * b
    sh = b & 7
    w = [
        q,
        r,
        a >> sh,
        (a.astype(np.int64) << sh).astype(np.int32),
        ((a.view(np.uint32).astype(np.uint64) * b.view(np.uint32).astype(np.uint64)) >> np.uint64(32)).astype(np.uint32).view(np.int32),
        np.minimum(a, b),
        ~a ^ (a | b),
        np.where(a > b, (a.astype(np.int64) - b).astype(np.int32), np.abs(a)),
    ]
    return [Check(o[i], np.asarray(x).astype(np.int32)) for i, x in enumerate(w)]


@triton.jit
def two(x, y):
    return x + y, x * y


@triton.jit(noinline=True)
def outline(x, y):
    return x * 3 + y


@triton.jit
def mapped(a, b, o, p, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(a + i), tl.load(b + i)
    s, m = tl.map_elementwise(two, x, y)
    tl.store(o + i, s + m * 3 + x)
    tl.store(p, outline(tl.sum(x), 7.0))


@R.case()
def map_and_noinline():
    a, b = small_ints(256), small_ints(256, seed=1)
    o, p = dw.poison(256), dw.poison(1)
    mapped[(1,)](a, b, o, p, N=256)
    return [Check(o, a + b + a * b * 3 + a), Check(p, np.array([3 * a.sum() + 7]))]


@triton.jit
def cum(x, o, p, q, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + i)
    tl.store(o + i, tl.cumsum(v, 1, reverse=True))
    tl.store(p + i, tl.cumprod(tl.where(v > 0, 1.0, -1.0), 0))
    mv, mi = tl.max(v, 1, return_indices=True)
    tl.store(q + tl.arange(0, M), tl.argmin(v, 1, tie_break_left=True) * 1000 + mi)


@R.case()
def cumulative():
    x = small_ints(16, 128, seed=6)
    o, p, q = dw.poison((16, 128)), dw.poison((16, 128)), dw.poison(16, np.int32)
    cum[(1,)](x, o, p, q, M=16, N=128)
    return [Check(o, x[:, ::-1].cumsum(1)[:, ::-1]), Check(p, np.where(x > 0, 1.0, -1.0).cumprod(0)), Check(q, x.argmin(1) * 1000 + x.argmax(1))]


@triton.jit
def edge(x, y, n, stride, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i * stride, mask=(i < n) & (i % 3 != 1), other=-7, eviction_policy="evict_first")
    tl.store(y + (n - 1 - i) * stride, v, mask=i < n, cache_modifier=".cs")


@R.case()
def strided_reverse():
    x = rng(1).integers(0, 200, 500).astype(np.uint8)
    y = np.zeros(500, np.uint8)
    edge[(2,)](x[1::2], y[1::2], 249, 2, B=128)
    w = np.zeros(500, np.uint8)
    i = np.arange(249)
    v = np.where(i % 3 != 1, x[1::2][:249], np.uint8(249))
    w[1::2][248 - i] = v
    return Check(y, w)


@triton.jit
def splitk(a, b, c, sem, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BK: tl.constexpr, S: tl.constexpr, part):
    p = tl.program_id(0)
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    kk = p * BK + tl.arange(0, BK)
    acc = tl.dot(tl.load(a + m * K + kk[None, :]), tl.load(b + kk[:, None] * N + n))
    tl.store(part + p * M * N + m * N + n, acc)
    tl.debug_barrier()
    t = tl.atomic_add(sem, 1, sem="acq_rel", scope="gpu")
    if t == S - 1:
        s = tl.zeros((M, N), tl.float32)
        for i in range(S):
            s += tl.load(part + i * M * N + m * N + n)
        tl.store(c + m * N + n, s)


@R.case()
def split_k_last_one_sums():
    a, b = small_ints(64, 128, dtype=np.float16), small_ints(128, 64, seed=1, dtype=np.float16)
    c, part, sem = dw.poison((64, 64)), dw.poison((4, 64, 64)), np.zeros(1, np.int32)
    splitk[(4,)](a, b, c, sem, M=64, N=64, K=128, BK=32, S=4, part=part)
    return Check(c, a.astype(float) @ b.astype(float))


@triton.jit
def sem_wait(flag, x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    if tl.program_id(0) == 0:
        tl.store(x + i, i * 5)
        tl.debug_barrier()
        tl.atomic_xchg(flag, 1, sem="release")
    else:
        while tl.atomic_add(flag, 0, sem="acquire") == 0:
            pass
        tl.debug_barrier()
        tl.store(o + i, tl.load(x + i) + 1)


@R.case()
def producer_consumer_ctas():
    f, x, o = np.zeros(1, np.int32), dw.poison(256, np.int32), dw.poison(256, np.int32)
    sem_wait[(2,)](f, x, o, N=256)
    return Check(o, np.arange(256) * 5 + 1)


@triton.jit
def bits(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    u = v.to(tl.uint32, bitcast=True)
    e = ((u >> 23) & 0xFF).to(tl.int32) - 127
    tl.store(o + i, tl.where(v != v, -999, e))
    tl.store(o + N + i, tl.clamp(v, -1.0, 1.0).to(tl.int32))
    tl.store(o + 2 * N + i, (v > 0).to(tl.int32) + (v == float("inf")).to(tl.int32))


@R.case()
def nonfinite_bits():
    x = floats(256)
    x[:6] = [np.nan, np.inf, -np.inf, 0, -0.0, 1e-42]
    o = dw.poison((3, 256), np.int32)
    bits[(1,)](x, o, N=256)
    e = ((x.view(np.uint32) >> 23) & 255).astype(np.int32) - 127
    return [Check(o[0], np.where(np.isnan(x), -999, e)), Check(o[1][1:], np.clip(x[1:], -1, 1).astype(np.int32)), Check(o[2], (x > 0).astype(int) + (x == np.inf))]


@triton.jit
def nested(x, o, T: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    acc = tl.zeros((N,), tl.int32)
    for a in tl.static_range(3):
        for b in tl.range(0, T, loop_unroll_factor=2):
            v = tl.load(x + b * N + i)
            if a == 1:
                acc += v
            elif b % 2 == 0:
                acc -= v
            else:
                acc ^= v
    tl.store(o + i, acc)


@R.case()
def nested_loops():
    x = rng(3).integers(-50, 50, (5, 128)).astype(np.int32)
    o = dw.poison(128, np.int32)
    nested[(1,)](x, o, T=5, N=128)
    acc = np.zeros(128, np.int32)
    for a in range(3):
        for b in range(5):
            acc = acc + x[b] if a == 1 else (acc - x[b] if b % 2 == 0 else acc ^ x[b])
    return Check(o, acc)


@triton.jit
def scratchy(x, o, R_, N: tl.constexpr, M: tl.constexpr):
    # device descriptors in a loop; each iteration a new base
    for r in range(R_):
        d = tl.make_tensor_descriptor(x + r * M * N, [M, N], [N, 1], [M, N])
        e = tl.make_tensor_descriptor(o + r * M * N, [M, N], [N, 1], [M, N])
        e.store([0, 0], d.load([0, 0]) + r)


@R.case()
def descriptors_in_loop():
    x, o = small_ints(3, 16, 32), dw.poison((3, 16, 32))
    scratchy[(1,)](x, o, 3, N=32, M=16)
    return Check(o, x + np.arange(3)[:, None, None])


@triton.jit
def ragged_desc(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr, PAD: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N + 4, 1], [BM, BN], padding_option=PAD)
    v = d.load([tl.program_id(0) * BM, 0])
    m, n = tl.program_id(0) * BM + tl.arange(0, BM)[:, None], tl.arange(0, BN)[None, :]
    tl.store(o + m * BN + n, v)


def pad(opt):
    x = small_ints(21, 20)
    o = dw.poison((32, 32))
    ragged_desc[(2,)](x, o, 21, 16, BM=16, BN=32, PAD=opt)
    w = np.full((32, 32), 0.0 if opt == "zero" else np.nan, np.float32)
    w[:21, :16] = x[:, :16]
    return Check(o, w)


@R.case()
def descriptor_padding_nan():
    return pad("nan")


@triton.jit
def wrapped_kernel(x, y, n, B: tl.constexpr):
    i = (tl.program_id(0) * B + tl.arange(0, B)) % n
    tl.store(y + i, tl.load(x + i))


@R.case()
def indices_modulo_the_length():
    """The last threads begin anew and store what is there, across the accesses of others and of their own CTA."""
    x, y, z = floats(3000), dw.poison(3000), dw.poison(100)
    wrapped_kernel[(3,)](x, y, 3000, B=1024)
    wrapped_kernel[(1,)](x, z, 100, B=256)
    return [Check(y, x), Check(z, x[:100])]


# --- products with a scale for each block of 128, on machines for which Triton has other instructions
@triton.jit
def block_scaled_kernel(a, sa, b, sb, c, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, N)
    acc = tl.zeros((BM, N), tl.float32)
    for block in range(K // 128):
        k = block * 128 + tl.arange(0, 128)
        d = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + n[None, :] * K + k[:, None]))
        acc += d * tl.load(sa + m * (K // 128) + block)[:, None] * tl.load(sb + block)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@R.case(("sm_90a", "sm_100a", "sm_103a", "sm_120a"))
def blocks_with_scales():
    M, N, K = 128, 64, 384
    a, b = small_ints(M, K, dtype=e4), small_ints(N, K, seed=1, dtype=e4)
    sa, sb = (2.0 ** rng(2).integers(-2, 3, (M, 3))).astype(np.float32), np.array([0.5, 2, 1], np.float32)
    c = dw.poison((M, N))
    block_scaled_kernel[(2,)](a, sa, b, sb, c, N=N, K=K, BM=64, num_stages=3)
    x, y = a.astype(np.float64).reshape(M, 3, 128), b.astype(np.float64).reshape(N, 3, 128)
    return Check(c, np.einsum("mbk,nbk,mb,b->mn", x, y, sa, sb))


@triton.jit
def scaled_rows(x, y, n, F: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * n + tl.arange(0, B)
    inside = tl.arange(0, B) < n
    tl.store(y + i, tl.load(x + i, mask=inside) * F, mask=inside)


def test_a_compiled_kernel_is_launched_by_itself():
    """As Triton's tutorial of softmax does: the grid comes from the registers of a kernel that warmup() compiled."""
    x, y = floats(3, 50), dw.poison((3, 50), np.float32)
    with dw.triton.simulate(check="full") as s:
        k = scaled_rows.warmup(x, y, 50, F=3, B=64, grid=(1,))
        k._init_handles()
        assert 16 <= k.n_regs <= 255 and k.n_spills == 0
        k[(3, 1, 1)](x, y, 50, 3, 64)
        np.testing.assert_array_equal(y, x * np.float32(3))
        again = dw.poison((3, 50), np.float32)
        scaled_rows[(3,)](x, again, 50, F=3, B=64)[(3, 1, 1)](y, again, 50, 3, 64)
        np.testing.assert_array_equal(again, y * np.float32(3))
    assert len(s.launches) == 3 and not s.hazards


def test_triton_compiles_for_the_machine():
    with dw.triton.simulate(arch="sm_120a"):
        assert triton.runtime.driver.active.get_current_target().arch == 120
    with dw.triton.simulate(arch="sm_103a"):
        assert triton.runtime.driver.active.get_current_target().arch == 103


@pytest.mark.parametrize("fn, arch", R.parameters())
def test_right(fn, arch):
    check_case(fn, arch, dw.triton.simulate)


@triton.jit
def past_the_end(x, z, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(z + i, tl.load(x + i))


def test_a_fault_names_the_argument_and_extents_may_be_one_number():
    with pytest.raises(dw.Fault, match="the allocation below is 'x'"):
        dw.triton.kernel(past_the_end)[1](np.ones(32, np.float32), dw.poison(64), B=64)


def test_extents_that_are_none_are_refused_by_name():
    for grid in (-1,), (1.5,):
        with pytest.raises((TypeError, ValueError), match="grid=.*one to three whole numbers"):
            dw.triton.kernel(past_the_end)[grid](np.ones(64, np.float32), dw.poison(64), B=64)


def test_another_thread_is_told_that_it_has_no_simulation():
    said = []

    def call():
        with pytest.raises(RuntimeError) as e:
            past_the_end[(1,)](np.ones(64, np.float32), dw.poison(64), B=64)
        said.append(str(e.value))

    with dw.triton.simulate():
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
    assert said == ["a Triton kernel was called with arrays outside dw.triton.simulate() of this thread: each thread opens its own"]


def test_kernels_are_pickled_by_name():
    again = pickle.loads(pickle.dumps(dw.triton.kernel(past_the_end)))
    z = dw.poison(64)
    again[1](np.ones(64, np.float32), z, B=64)
    assert (z == 1).all()
