"""Triton: kernels as libraries of operators have them: convolution, quantised products, mixtures of experts, paged and windowed attention, scans across CTAs."""

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")
import triton
import triton.language as tl

import drywell as dw
from cases import BLACKWELL, BOTH, Check, Registry, check_case, floats, rng, small_ints

R = Registry()


@triton.jit
def conv_kernel(x, w, y, H, W, OH, OW, P, C: tl.constexpr, F: tl.constexpr, KS: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr,
                BM: tl.constexpr, BK: tl.constexpr):
    """Implicit GEMM: rows are output pixels of all images, columns filters, k = (channel, tap)."""
    p = tl.program_id(0) * BM + tl.arange(0, BM)
    f = tl.arange(0, F)
    image, rest = p // (OH * OW), p % (OH * OW)
    row, col = rest // OW * STRIDE - PAD, rest % OW * STRIDE - PAD
    acc = tl.zeros((BM, F), tl.float32)
    for start in range(0, C * KS * KS, BK):
        k = start + tl.arange(0, BK)
        c, tap = k // (KS * KS), k % (KS * KS)
        r, s = row[:, None] + (tap // KS)[None, :], col[:, None] + (tap % KS)[None, :]
        inside = (r >= 0) & (r < H) & (s >= 0) & (s < W) & (k < C * KS * KS)[None, :] & (p < P)[:, None]
        a = tl.load(x + ((image[:, None] * C + c[None, :]) * H + r) * W + s, inside, other=0.0)
        b = tl.load(w + f[None, :] * (C * KS * KS) + k[:, None], (k < C * KS * KS)[:, None], other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(y + (image[:, None] * F + f[None, :]) * OH * OW + rest[:, None], acc, (p < P)[:, None])


@R.case()
def convolution():
    N, C, H, W, F, KS, STRIDE, PAD = 2, 5, 9, 11, 16, 3, 2, 1
    OH, OW = (H + 2 * PAD - KS) // STRIDE + 1, (W + 2 * PAD - KS) // STRIDE + 1
    x, w = small_ints(N, C, H, W, dtype=np.float16), small_ints(F, C, KS, KS, seed=1, dtype=np.float16)
    y = dw.poison((N, F, OH, OW))
    conv_kernel[(triton.cdiv(N * OH * OW, 64),)](x, w, y, H, W, OH, OW, N * OH * OW, C=C, F=F, KS=KS, STRIDE=STRIDE, PAD=PAD, BM=64, BK=16)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (PAD, PAD), (PAD, PAD)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (KS, KS), (2, 3))[:, :, ::STRIDE, ::STRIDE]
    return Check(y, np.einsum("ncijrs,fcrs->nfij", windows, w.astype(np.float64)))


@triton.jit
def rms_backward_kernel(x, w, g, dx, dw_sum, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < N
    a = tl.load(x + row * N + i, inside, other=0.0)
    up, weight = tl.load(g + row * N + i, inside, other=0.0), tl.load(w + i, inside, other=0.0)
    inverse = tl.rsqrt(tl.sum(a * a) / N + eps)
    wg = up * weight
    tl.store(dx + row * N + i, inverse * (wg - a * inverse * inverse * tl.sum(wg * a) / N), inside)
    tl.atomic_add(dw_sum + i, up * a * inverse, inside, sem="relaxed")


@R.case()
def rms_norm_backward():
    M, N = 7, 200
    x, w, g = floats(M, N), floats(N, seed=1), floats(M, N, seed=2)
    dx, dweight = dw.poison((M, N)), np.zeros(N, np.float32)
    rms_backward_kernel[(M,)](x, w, g, dx, dweight, N, 1e-5, BLOCK=256)
    X, G = x.astype(np.float64), g.astype(np.float64)
    inverse = 1 / np.sqrt((X * X).mean(1, keepdims=True) + 1e-5)
    wg = G * w
    return [Check(dx, inverse * (wg - X * inverse**2 * (wg * X).mean(1, keepdims=True)), 1e-4), Check(dweight, (G * X * inverse).sum(0), 1e-4, ordered=False)]


@triton.jit
def grouped_kernel(a, b, c, offsets, sizes, tiles, G: tl.constexpr, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PROGRAMS: tl.constexpr):
    """Products of groups of rows of A with a B each; one persistent walk over the tiles of all groups."""
    tile = tl.program_id(0)
    first = 0
    for g in range(G):
        m_tiles = tl.cdiv(tl.load(sizes + g), BM)
        n_tiles = tl.cdiv(N, BN)
        while tile < first + m_tiles * n_tiles:
            local = tile - first
            m, n = local // n_tiles * BM + tl.arange(0, BM), local % n_tiles * BN + tl.arange(0, BN)
            rows = tl.load(offsets + g) + m
            used = (m < tl.load(sizes + g))[:, None]
            acc = tl.zeros((BM, BN), tl.float32)
            for start in range(0, K, BK):
                k = start + tl.arange(0, BK)
                acc = tl.dot(tl.load(a + rows[:, None] * K + k[None, :], used, other=0.0), tl.load(b + g * K * N + k[:, None] * N + n[None, :], (n < N)[None, :], other=0.0), acc)
            tl.store(c + rows[:, None] * N + n[None, :], acc, used & (n < N)[None, :])
            tl.atomic_add(tiles, 1)
            tile += PROGRAMS
        first += m_tiles * n_tiles


@R.case()
def grouped_gemm():
    sizes = np.array([70, 0, 5, 128], np.int32)
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    K, N = 64, 80
    a, b = small_ints(int(sizes.sum()), K, dtype=ml_dtypes.bfloat16), small_ints(4, K, N, seed=1, dtype=ml_dtypes.bfloat16)
    c, tiles = dw.poison((int(sizes.sum()), N)), np.zeros(1, np.int32)
    grouped_kernel[(3,)](a, b, c, offsets, sizes, tiles, G=4, K=K, N=N, BM=64, BN=64, BK=32, PROGRAMS=3)
    want = np.concatenate([a[o:o + s].astype(np.float64) @ b[g].astype(np.float64) for g, (o, s) in enumerate(zip(offsets, sizes))])
    return [Check(c, want), Check(tiles, np.array([(2 + 0 + 1 + 2) * 2]))]


@triton.jit
def int8_kernel(a, b, c, a_scale, b_scale, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.int32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        acc += tl.dot(tl.load(a + m[:, None] * K + k[None, :], (m < M)[:, None], other=0), tl.load(b + n[None, :] * K + k[:, None], (n < N)[None, :], other=0))
    scaled = acc.to(tl.float32) * tl.load(a_scale + m, m < M, other=0.0)[:, None] * tl.load(b_scale + n, n < N, other=0.0)[None, :]
    tl.store(c + m[:, None] * N + n[None, :], scaled.to(tl.bfloat16), (m < M)[:, None] & (n < N)[None, :])


@R.case()
def int8_product_with_scales():
    M, N, K = 70, 50, 128
    a, b = small_ints(M, K, dtype=np.int8, least=-128, most=128), small_ints(N, K, seed=1, dtype=np.int8, least=-128, most=128)
    sa, sb = np.exp2(small_ints(M, seed=2)).astype(np.float32), np.exp2(small_ints(N, seed=3)).astype(np.float32)
    c = dw.poison((M, N), ml_dtypes.bfloat16)
    int8_kernel[(2, 1)](a, b, c, sa, sb, M, N, K=K, BM=64, BN=64, BK=64)
    return Check(c, ((a.astype(np.int64) @ b.T.astype(np.int64)).astype(np.float32) * sa[:, None] * sb).astype(ml_dtypes.bfloat16))


@triton.jit
def int4_kernel(a, b, zero, scale, c, M, N, K: tl.constexpr, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Weights of four bits, eight in a word along k; a scale and a zero point for GROUP weights."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, GROUP):
        k = start + tl.arange(0, GROUP)
        words = tl.load(b + (k // 8)[:, None] * N + n[None, :])
        codes = (words >> ((k % 8) * 4)[:, None]) & 15
        z, s = tl.load(zero + start // GROUP * N + n), tl.load(scale + start // GROUP * N + n)
        weights = ((codes - z[None, :]).to(tl.float16) * s[None, :]).to(tl.float16)
        acc = tl.dot(tl.load(a + m[:, None] * K + k[None, :], (m < M)[:, None], other=0.0), weights, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc, (m < M)[:, None])


@R.case()
def int4_weights():
    M, N, K, GROUP = 20, 64, 128, 32
    a, codes = small_ints(M, K, dtype=np.float16), rng(1).integers(0, 16, (K, N))
    words = sum(codes[i::8].astype(np.uint32) << (4 * i) for i in range(8)).astype(np.uint32).view(np.int32)
    zero, scale = rng(2).integers(0, 16, (K // GROUP, N)).astype(np.int32), np.exp2(small_ints(K // GROUP, N, seed=3, least=-2, most=1)).astype(np.float16)
    c = dw.poison((M, N))
    int4_kernel[(1, 1)](a, words, zero, scale, c, M, N, K=K, GROUP=GROUP, BM=32, BN=64)
    weights = (codes - np.repeat(zero, GROUP, 0)) * np.repeat(scale, GROUP, 0).astype(np.float64)
    return Check(c, a.astype(np.float64) @ weights)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@triton.jit
def paged_kernel(q, keys, values, table, lengths, out, scale, PAGES: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr, GROUP: tl.constexpr):
    """One new token for each sequence; keys and values lie in pages that a table names. A CTA: the query heads of one key head."""
    sequence, head, heads = tl.program_id(0), tl.program_id(1), tl.num_programs(1)
    i, d, t = tl.arange(0, GROUP), tl.arange(0, D), tl.arange(0, PAGE)
    query = tl.load(q + ((sequence * heads + head) * GROUP + i[:, None]) * D + d[None, :])
    length = tl.load(lengths + sequence)
    best, total, acc = tl.full((GROUP,), -float("inf"), tl.float32), tl.zeros((GROUP,), tl.float32), tl.zeros((GROUP, D), tl.float32)
    for p in range(0, tl.cdiv(length, PAGE)):
        page = tl.load(table + sequence * PAGES + p)
        at = ((page * PAGE + t[:, None]) * heads + head) * D + d[None, :]
        used = p * PAGE + t < length
        s = tl.dot(query, tl.trans(tl.load(keys + at, used[:, None], other=0.0))) * scale
        s = tl.where(used[None, :], s, -float("inf"))
        new = tl.maximum(best, tl.max(s, 1))
        e, old = tl.exp(s - new[:, None]), tl.exp(best - new)
        total, best = total * old + tl.sum(e, 1), new
        acc = tl.dot(e.to(tl.float16), tl.load(values + at, used[:, None], other=0.0), acc * old[:, None])
    tl.store(out + ((sequence * heads + head) * GROUP + i[:, None]) * D + d[None, :], acc / total[:, None])


@R.case()
def paged_attention():
    heads, GROUP, D, PAGE, PAGES = 2, 16, 32, 16, 4
    lengths = np.array([1, 37, 64], np.int32)
    table = rng(4).permutation(16)[:12].reshape(3, PAGES).astype(np.int32)
    q = floats(3, heads, GROUP, D, dtype=np.float16)
    keys, values = floats(16, PAGE, heads, D, seed=1, dtype=np.float16), floats(16, PAGE, heads, D, seed=2, dtype=np.float16)
    out = dw.poison((3, heads, GROUP, D))
    paged_kernel[(3, heads)](q, keys, values, table, lengths, out, D**-0.5, PAGES=PAGES, PAGE=PAGE, D=D, GROUP=GROUP)
    want = np.empty(out.shape)
    for s, n in enumerate(lengths):
        for h in range(heads):
            k, v = (x[table[s]].reshape(-1, heads, D)[:n, h].astype(np.float64) for x in (keys, values))
            want[s, h] = softmax(q[s, h].astype(np.float64) @ k.T * D**-0.5) @ v
    return Check(out, want, 4e-3)


@triton.jit
def window_kernel(q, k, v, out, logsum, T, scale, WINDOW: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Causal attention over the last WINDOW positions, with the logarithm of the sums as second output."""
    base = tl.program_id(1) * T * D
    m, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    query = tl.load(q + base + m[:, None] * D + d[None, :], (m < T)[:, None], other=0.0)
    best, total, acc = tl.full((BM,), -1e30, tl.float32), tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    first = tl.maximum(tl.program_id(0) * BM - WINDOW + 1, 0) // BN * BN
    for start in range(first, tl.minimum((tl.program_id(0) + 1) * BM, T), BN):
        n = start + tl.arange(0, BN)
        at = base + n[:, None] * D + d[None, :]
        s = tl.dot(query, tl.trans(tl.load(k + at, (n < T)[:, None], other=0.0))) * scale
        seen = (n[None, :] <= m[:, None]) & (n[None, :] > m[:, None] - WINDOW)
        s = tl.where(seen, s, -1e30)
        new = tl.maximum(best, tl.max(s, 1))
        e, old = tl.where(seen, tl.exp(s - new[:, None]), 0.0), tl.exp(best - new)
        total, best = total * old + tl.sum(e, 1), new
        acc = tl.dot(e.to(tl.bfloat16), tl.load(v + at, (n < T)[:, None], other=0.0), acc * old[:, None])
    tl.store(out + base + m[:, None] * D + d[None, :], acc / total[:, None], (m < T)[:, None])
    tl.store(logsum + tl.program_id(1) * T + m, best + tl.log(total), m < T)


@R.case()
def sliding_window_attention():
    H, T, D, WINDOW = 2, 150, 64, 40
    q, k, v = (floats(H, T, D, seed=s, dtype=ml_dtypes.bfloat16) for s in range(3))
    out, logsum = dw.poison((H, T, D)), dw.poison((H, T))
    window_kernel[(3, H)](q, k, v, out, logsum, T, D**-0.5, WINDOW=WINDOW, D=D, BM=64, BN=32)
    i = np.arange(T)
    seen = (i[None, :] <= i[:, None]) & (i[None, :] > i[:, None] - WINDOW)
    s = np.where(seen, np.einsum("htd,hsd->hts", q.astype(np.float64), k.astype(np.float64)) * D**-0.5, -np.inf)
    sums = s.max(-1) + np.log(np.exp(s - s.max(-1, keepdims=True)).sum(-1))
    return [Check(out, softmax(s) @ v.astype(np.float64), 2e-2), Check(logsum, sums, 1e-3)]


@triton.jit
def route_kernel(logits, expert, weight, count, place, T, E: tl.constexpr, BLOCK: tl.constexpr):
    """The two best experts of each token, their normalised weights, and a place in the expert's queue."""
    t, e = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, E)
    x = tl.load(logits + t[:, None] * E + e[None, :], (t < T)[:, None], other=-float("inf"))
    first, one = tl.max(x, 1, return_indices=True)
    x = tl.where(e[None, :] == one[:, None], -float("inf"), x)
    second, two = tl.max(x, 1, return_indices=True)
    share = 1 / (1 + tl.exp(second - first))
    tl.store(expert + t * 2, one, t < T)
    tl.store(expert + t * 2 + 1, two, t < T)
    tl.store(weight + t * 2, share, t < T)
    tl.store(weight + t * 2 + 1, 1 - share, t < T)
    tl.store(place + t * 2, tl.atomic_add(count + one, 1, t < T), t < T)
    tl.store(place + t * 2 + 1, tl.atomic_add(count + two, 1, t < T), t < T)


@R.case()
def routing_of_experts():
    T, E = 100, 8
    logits = floats(T, E)
    expert, place, weight, count = dw.poison((T, 2), np.int32), dw.poison((T, 2), np.int32), dw.poison((T, 2)), np.zeros(E, np.int32)
    route_kernel[(4,)](logits, expert, weight, count, place, T, E=E, BLOCK=32)
    order = np.argsort(-logits, 1)[:, :2]
    two = softmax(np.take_along_axis(logits, order, 1).astype(np.float64))
    places = [np.sort(place.reshape(-1)[order.reshape(-1) == e]) for e in range(E)]
    numbers = [np.arange((order == e).sum()) for e in range(E)]
    return [Check(expert, order), Check(weight, two, 1e-6), Check(count, np.bincount(order.reshape(-1), minlength=E)),
            Check(np.concatenate(places), np.concatenate(numbers))]


@triton.jit
def experts_kernel(x, w, out, tokens, experts, N: tl.constexpr, K: tl.constexpr, TOP: tl.constexpr, USED, BM: tl.constexpr, BK: tl.constexpr):
    """Rows sorted by expert and padded to BM; a row of -1 is padding. Each block has one expert."""
    i, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, N)
    token = tl.load(tokens + i)
    e = tl.load(experts + tl.program_id(0))
    acc = tl.zeros((BM, N), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(x + (token // TOP)[:, None] * K + k[None, :], (token >= 0)[:, None], other=0.0)
        acc = tl.dot(a, tl.load(w + (e * K + k[:, None]) * N + n[None, :]), acc)
    tl.store(out + token[:, None] * N + n[None, :], acc, (token >= 0)[:, None])


@R.case()
def product_of_experts():
    T, E, K, N, TOP, BM = 30, 4, 64, 32, 2, 16
    chosen = np.argsort(rng().random((T, E)), 1)[:, :TOP]
    x, w, out = small_ints(T, K, dtype=np.float16), small_ints(E, K, N, seed=1, dtype=np.float16), dw.poison((T * TOP, N))
    rows, experts = [], []
    for e in range(E):
        mine = np.flatnonzero(chosen.reshape(-1) == e)
        blocks = -(-len(mine) // BM)
        rows.append(np.concatenate([mine, np.full(blocks * BM - len(mine), -1)]))
        experts += [e] * blocks
    tokens = np.concatenate(rows).astype(np.int32)
    experts_kernel[(len(experts),)](x, w, out, tokens, np.array(experts, np.int32), N=N, K=K, TOP=TOP, USED=T * TOP, BM=BM, BK=32)
    want = np.einsum("tk,tjkn->tjn", x.astype(np.float64), w.astype(np.float64)[chosen])
    return Check(out, want.reshape(-1, N))


@triton.jit
def lookback_kernel(x, y, state, ticket, N, BLOCK: tl.constexpr):
    """A sum over all elements before, in one pass: a CTA publishes its own sum, then the sum of all before it. State: flag << 32 | value."""
    part = tl.atomic_add(ticket, 1)
    i = part * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, i < N, other=0)
    own = tl.sum(a).to(tl.int64)
    if part == 0:
        tl.atomic_xchg(state, (2 << 32) | own, sem="release")
        before = own * 0
    else:
        tl.atomic_xchg(state + part, (1 << 32) | own, sem="release")
        before = own * 0
        at = part - 1
        while at >= 0:
            word = tl.atomic_add(state + at, 0, sem="acquire")
            if word >> 32 != 0:
                before += word & 0xFFFFFFFF
                at = tl.where(word >> 32 == 2, -1, at - 1)
        tl.atomic_xchg(state + part, (2 << 32) | (before + own), sem="release")
    tl.store(y + i, before.to(tl.int32) + tl.cumsum(a), i < N)


@R.case()
def scan_with_lookback():
    N = 1500
    x, y = rng().integers(0, 100, N).astype(np.int32), dw.poison(N, np.int32)
    lookback_kernel[(12,)](x, y, np.zeros(12, np.int64), np.zeros(1, np.int32), N, BLOCK=128)
    return Check(y, np.cumsum(x))


@triton.jit
def stream_k_kernel(a, b, c, partial, ready, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STEPS: tl.constexpr, SHARE: tl.constexpr):
    """The k steps of all tiles in one row, SHARE for each CTA; the CTA with a tile's first step adds what the others left."""
    step, end = tl.program_id(0) * SHARE, tl.program_id(0) * SHARE + SHARE
    per_row = N // BN
    i, j = tl.arange(0, BM), tl.arange(0, BN)
    while step < end:
        tile = step // STEPS
        first, last = step % STEPS, tl.minimum(STEPS, end - tile * STEPS)
        m, n = tile // per_row * BM + i, tile % per_row * BN + j
        acc = tl.zeros((BM, BN), tl.float32)
        for s in range(first, last):
            k = s * BK + tl.arange(0, BK)
            acc = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :]), acc)
        mine = partial + tl.program_id(0) * BM * BN + i[:, None] * BN + j[None, :]
        if first == 0:
            covered = last
            helper = tl.program_id(0) + 1
            while covered < STEPS:
                while tl.atomic_add(ready + helper, 0, sem="acquire") == 0:
                    pass
                acc += tl.load(partial + helper * BM * BN + i[:, None] * BN + j[None, :], cache_modifier=".cg")
                covered += SHARE
                helper += 1
            tl.store(c + m[:, None] * N + n[None, :], acc)
        else:
            tl.store(mine, acc, cache_modifier=".cg")
            tl.debug_barrier()
            tl.atomic_xchg(ready + tl.program_id(0), 1, sem="release")
        step = tile * STEPS + last


@R.case()
def stream_k():
    M, N, K, BM, BN, BK = 128, 96, 160, 32, 32, 32
    steps, tiles, programs = K // BK, (M // BM) * (N // BN), 10
    share = steps * tiles // programs
    a, b, c = small_ints(M, K, dtype=np.float16), small_ints(K, N, seed=1, dtype=np.float16), dw.poison((M, N))
    stream_k_kernel[(programs,)](a, b, c, dw.poison((programs, BM, BN)), np.zeros(programs + 1, np.int32), K, N, BM=BM, BN=BN, BK=BK, STEPS=steps, SHARE=share)
    return Check(c, a.astype(np.float64) @ b.astype(np.float64))


@pytest.mark.parametrize("fn,arch", R.parameters())
def test_right(fn, arch):
    check_case(fn, arch, dw.triton.simulate)
