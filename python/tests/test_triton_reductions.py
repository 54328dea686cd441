"""Triton: reductions, normalisations, scans, sorting, indexed access, atomics."""

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")
import triton
import triton.language as tl

import drywell as dw
from cases import Check, Registry, check_case, floats, rng, small_ints

R = Registry()


@triton.jit
def row_sum_kernel(x, y, cols, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    tl.store(y + r, tl.sum(tl.load(x + r * cols + i, i < cols, other=0.0), 0))


@R.case()
def row_sum():
    x, y = small_ints(9, 100), dw.poison(9)
    row_sum_kernel[(9,)](x, y, 100, B=128)
    return Check(y, x.sum(1))


@triton.jit
def column_sum_kernel(x, y, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(y + tl.arange(0, N), tl.sum(tl.load(x + i * N + j), 0))


@R.case()
def column_sum():
    x, y = small_ints(32, 64), dw.poison(64)
    column_sum_kernel[(1,)](x, y, M=32, N=64)
    return Check(y, x.sum(0))


@triton.jit
def extremes_kernel(x, values, places, N: tl.constexpr):
    r = tl.program_id(0)
    v = tl.load(x + r * N + tl.arange(0, N))
    tl.store(values + 2 * r, tl.max(v, 0))
    tl.store(values + 2 * r + 1, tl.min(v, 0))
    tl.store(places + 2 * r, tl.argmax(v, 0))
    tl.store(places + 2 * r + 1, tl.argmin(v, 0))


@R.case()
def extremes_and_their_places():
    x, v, p = floats(5, 256), dw.poison((5, 2)), dw.poison((5, 2), np.int32)
    extremes_kernel[(5,)](x, v, p, N=256)
    return [Check(v, np.stack([x.max(1), x.min(1)], 1)), Check(p, np.stack([x.argmax(1), x.argmin(1)], 1))]


@triton.jit
def softmax_kernel(x, y, cols, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + r * cols + i, i < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + r * cols + i, e / tl.sum(e, 0), i < cols)


@R.case()
def softmax():
    x, y = floats(6, 200), dw.poison((6, 200))
    softmax_kernel[(6,)](x, y, 200, B=256)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return Check(y, e / e.sum(1, keepdims=True), 1e-5)


@triton.jit
def layer_norm_kernel(x, w, b, y, cols, eps, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    m = i < cols
    v = tl.load(x + r * cols + i, m, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / cols
    d = tl.where(m, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / cols + eps)
    out = d * scale * tl.load(w + i, m) + tl.load(b + i, m)
    tl.store(y + r * cols + i, out, m)


@R.case()
def layer_norm():
    x, w, b, y = floats(4, 150, dtype=np.float16), floats(150, seed=1), floats(150, seed=2), dw.poison((4, 150))
    layer_norm_kernel[(4,)](x, w, b, y, 150, 1e-5, B=256)
    v = x.astype(np.float64)
    d = v - v.mean(1, keepdims=True)
    return Check(y, d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * w + b, 1e-4)


@triton.jit
def layer_norm_backward_kernel(dy, x, w, dx, N: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, N)
    v, g = tl.load(x + r * N + i), tl.load(dy + r * N + i) * tl.load(w + i)
    mean = tl.sum(v, 0) / N
    rstd = 1 / tl.sqrt(tl.sum((v - mean) * (v - mean), 0) / N + 1e-5)
    h = (v - mean) * rstd
    tl.store(dx + r * N + i, (g - tl.sum(g, 0) / N - h * (tl.sum(g * h, 0) / N)) * rstd)


@R.case()
def layer_norm_backward():
    x, dy, w, dx = floats(3, 128), floats(3, 128, seed=1), floats(128, seed=2), dw.poison((3, 128))
    layer_norm_backward_kernel[(3,)](dy, x, w, dx, N=128)
    v, g = x.astype(np.float64), dy.astype(np.float64) * w
    rstd = 1 / np.sqrt(v.var(1, keepdims=True) + 1e-5)
    h = (v - v.mean(1, keepdims=True)) * rstd
    return Check(dx, (g - g.mean(1, keepdims=True) - h * (g * h).mean(1, keepdims=True)) * rstd, 1e-4)


@triton.jit
def rms_norm_kernel(x, w, y, N: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, N)
    v = tl.load(x + r * N + i).to(tl.float32)
    tl.store(y + r * N + i, (v * tl.rsqrt(tl.sum(v * v, 0) / N + 1e-6) * tl.load(w + i)).to(tl.bfloat16))


@R.case()
def rms_norm_bf16():
    x, w, y = floats(4, 256, dtype=ml_dtypes.bfloat16), floats(256), dw.poison((4, 256), "bfloat16")
    rms_norm_kernel[(4,)](x, w, y, N=256)
    v = x.astype(np.float64)
    return Check(y, v / np.sqrt((v * v).mean(1, keepdims=True) + 1e-6) * w, 1e-2)


@triton.jit
def combine_welford(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    delta = mean_b - mean_a
    count = count_a + count_b
    share = tl.where(count == 0, 0.0, count_b / count)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.jit
def welford_kernel(x, y, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    mean, m2, count = tl.reduce((v, tl.zeros_like(v), tl.full((N,), 1.0, tl.float32)), 0, combine_welford)
    tl.store(y, mean)
    tl.store(y + 1, m2 / count)


@R.case()
def welford_reduce():
    x, y = floats(512), dw.poison(2)
    welford_kernel[(1,)](x, y, N=512)
    return Check(y, np.array([x.mean(dtype=np.float64), x.var(dtype=np.float64)]), 1e-4)


@triton.jit
def xor_kernel(x, y, N: tl.constexpr):
    tl.store(y, tl.xor_sum(tl.load(x + tl.arange(0, N)), 0))


@R.case()
def xor_sum():
    x, y = rng().integers(-2**31, 2**31, 1024).astype(np.int32), dw.poison(1, np.int32)
    xor_kernel[(1,)](x, y, N=1024)
    return Check(y, np.array([np.bitwise_xor.reduce(x)]))


@triton.jit
def cross_entropy_kernel(logits, labels, losses, C, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(logits + r * C + i, i < C, other=-float("inf"))
    top = tl.max(v, 0)
    lse = top + tl.log(tl.sum(tl.exp(v - top), 0))
    tl.store(losses + r, lse - tl.load(logits + r * C + tl.load(labels + r)))


@R.case()
def cross_entropy():
    x, labels, y = floats(7, 90), rng(3).integers(0, 90, 7), dw.poison(7)
    cross_entropy_kernel[(7,)](x, labels, y, 90, B=128)
    v = x.astype(np.float64)
    return Check(y, np.log(np.exp(v).sum(1)) - v[np.arange(7), labels], 1e-5)


@triton.jit
def cumsum_kernel(x, y, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.cumsum(tl.load(x + i), 0, reverse=REVERSE))


@R.case()
def cumulative_sum():
    x, y = small_ints(512), dw.poison(512)
    cumsum_kernel[(1,)](x, y, N=512, REVERSE=False)
    return Check(y, np.cumsum(x))


@R.case()
def cumulative_sum_reversed():
    x, y = small_ints(256), dw.poison(256)
    cumsum_kernel[(1,)](x, y, N=256, REVERSE=True)
    return Check(y, np.cumsum(x[::-1])[::-1])


@triton.jit
def combine_max(a, b):
    return tl.maximum(a, b)


@triton.jit
def running_max_kernel(x, y, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.associative_scan(tl.load(x + at), 1, combine_max))


@R.case()
def running_maximum_of_rows():
    x, y = floats(16, 64), dw.poison((16, 64))
    running_max_kernel[(1,)](x, y, M=16, N=64)
    return Check(y, np.maximum.accumulate(x, 1))


@triton.jit
def combine_linear(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrence_kernel(a, b, y, N: tl.constexpr):
    i = tl.arange(0, N)
    _, out = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, combine_linear)
    tl.store(y + i, out)


@R.case()
def linear_recurrence():
    a, b, y = rng().choice(np.array([-1, 1], np.float32), 128), small_ints(128), dw.poison(128)
    recurrence_kernel[(1,)](a, b, y, N=128)
    want, h = np.empty(128, np.float32), np.float32(0)
    for t in range(128):
        h = a[t] * h + b[t]
        want[t] = h
    return Check(y, want)


@triton.jit
def sort_kernel(x, y, N: tl.constexpr, DOWN: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + at, tl.sort(tl.load(x + at), descending=DOWN))


@R.case()
def sort_up():
    x, y = floats(2, 256), dw.poison((2, 256))
    sort_kernel[(2,)](x, y, N=256, DOWN=False)
    return Check(y, np.sort(x, 1))


@R.case()
def sort_int_down():
    x, y = rng().integers(-99, 99, (1, 128)).astype(np.int32), dw.poison((1, 128), np.int32)
    sort_kernel[(1,)](x, y, N=128, DOWN=True)
    return Check(y, -np.sort(-x, 1))


@triton.jit
def topk_kernel(x, y, N: tl.constexpr, K: tl.constexpr):
    r = tl.program_id(0)
    tl.store(y + r * K + tl.arange(0, K), tl.topk(tl.load(x + r * N + tl.arange(0, N)), K))


@R.case()
def top_eight():
    x, y = floats(3, 128), dw.poison((3, 8))
    topk_kernel[(3,)](x, y, N=128, K=8)
    return Check(y, -np.sort(-x, 1)[:, :8])


@triton.jit
def flip_kernel(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.flip(tl.load(x + i), 0))


@R.case()
def flip():
    x, y = floats(128), dw.poison(128)
    flip_kernel[(1,)](x, y, N=128)
    return Check(y, x[::-1])


@triton.jit
def histogram_kernel(x, y, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(y + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, N)), BINS))


@R.case()
def histogram():
    x, y = rng().integers(0, 64, 1024).astype(np.int32), dw.poison(64, np.int32)
    histogram_kernel[(1,)](x, y, N=1024, BINS=64)
    return Check(y, np.bincount(x, minlength=64))


@triton.jit
def gather_kernel(x, index, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.gather(tl.load(x + i), tl.load(index + i), 0))


@R.case()
def gather_in_registers():
    x, index, y = floats(128), rng().integers(0, 128, 128).astype(np.int32), dw.poison(128)
    gather_kernel[(1,)](x, index, y, N=128)
    return Check(y, x[index])


@triton.jit
def embedding_kernel(table, index, y, D: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, D)
    tl.store(y + r * D + i, tl.load(table + tl.load(index + r) * D + i))


@R.case()
def embedding_rows():
    table, index, y = floats(40, 64), rng().integers(0, 40, 11), dw.poison((11, 64))
    embedding_kernel[(11,)](table, index, y, D=64)
    return Check(y, table[index])


@triton.jit
def scatter_kernel(x, index, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + tl.load(index + i), tl.load(x + i))


@R.case()
def scatter_permutation():
    x, index, y = floats(256), rng().permutation(256).astype(np.int32), dw.poison(256)
    scatter_kernel[(1,)](x, index, y, N=256)
    want = np.empty_like(x)
    want[index] = x
    return Check(y, want)


@triton.jit
def atomic_count_kernel(x, counts, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(counts + tl.load(x + i, i < n), 1, mask=i < n)


@R.case()
def atomic_histogram():
    x, counts = rng().integers(0, 10, 900).astype(np.int32), np.zeros(10, np.int32)
    atomic_count_kernel[(4,)](x, counts, 900, B=256)
    return Check(counts, np.bincount(x, minlength=10))


@triton.jit
def atomic_float_kernel(x, y, B: tl.constexpr):
    tl.atomic_add(y, tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), 0))


@R.case()
def atomic_float_sum():
    x, y = small_ints(2048), np.zeros(1, np.float32)
    atomic_float_kernel[(8,)](x, y, B=256)
    return Check(y, x.sum(keepdims=True))


@triton.jit
def atomic_max_kernel(x, y, B: tl.constexpr):
    tl.atomic_max(y, tl.max(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), 0))


@R.case()
def atomic_maximum():
    x, y = rng().integers(-10**6, 10**6, 1024).astype(np.int32), np.full(1, -2**31, np.int32)
    atomic_max_kernel[(8,)](x, y, B=128)
    return Check(y, x.max(keepdims=True))


@triton.jit
def locked_kernel(x, total, lock, B: tl.constexpr):
    v = tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), 0)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    before = tl.load(total)
    tl.debug_barrier()  # every warp loads the number, one stores it
    tl.store(total, before + v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@R.case()
def sum_under_a_lock():
    x, total, lock = small_ints(1024), np.zeros(1, np.float32), np.zeros(1, np.int32)
    locked_kernel[(8,)](x, total, lock, B=128)
    return [Check(total, x.sum(keepdims=True)), Check(lock, np.zeros(1, np.int32))]


@triton.jit
def last_block_kernel(x, parts, counter, y, N: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    tl.store(parts + p, tl.sum(tl.load(x + p * B + tl.arange(0, B)), 0))
    tl.debug_barrier()
    if tl.atomic_add(counter, 1) == N - 1:
        tl.debug_barrier()
        tl.store(y, tl.sum(tl.load(parts + tl.arange(0, N), volatile=True), 0))


@R.case()
def last_block_reduces():
    x, parts, counter, y = small_ints(1024), dw.poison(8), np.zeros(1, np.int32), dw.poison(1)
    last_block_kernel[(8,)](x, parts, counter, y, N=8, B=128)
    return Check(y, x.sum(keepdims=True))


@pytest.mark.parametrize("fn, arch", R.parameters())
def test_reductions(fn, arch):
    check_case(fn, arch, dw.triton.simulate)
