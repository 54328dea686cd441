"""Triton: matrix products in several types, scaled products, descriptors, attention, clusters, warp specialisation."""

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
def matmul_kernel(a, b, c, M, N, K, am, ak, bk, bn, cm, cn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr,
                  ACC: tl.constexpr, ZERO: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), ACC)
    for start in range(0, K, BK):
        inside = start + k < K
        x = tl.load(a + m[:, None] * am + (start + k)[None, :] * ak, (m < M)[:, None] & inside[None, :], other=ZERO)
        y = tl.load(b + (start + k)[:, None] * bk + n[None, :] * bn, inside[:, None] & (n < N)[None, :], other=ZERO)
        acc = tl.dot(x, y, acc, input_precision=PRECISION, out_dtype=ACC)
    tl.store(c + m[:, None] * cm + n[None, :] * cn, acc.to(c.dtype.element_ty), (m < M)[:, None] & (n < N)[None, :])


def _matmul(dtype, out=np.float32, acc=tl.float32, precision="ieee", M=100, N=90, K=128, BM=64, BN=64, BK=32, transposed=False, tolerance=0.0,
            values=small_ints, **options):
    a = values(K, M, dtype=dtype).T if transposed else values(M, K, dtype=dtype)
    b, c = values(K, N, seed=1, dtype=dtype), dw.poison((M, N), out)
    size = a.itemsize
    wide = np.int64 if np.dtype(dtype).kind == "i" else np.float64
    matmul_kernel[(triton.cdiv(M, BM), triton.cdiv(N, BN))](a, b, c, M, N, K, a.strides[0] // size, a.strides[1] // size, N, 1, N, 1, BM=BM, BN=BN, BK=BK,
                                                           PRECISION=precision, ACC=acc, ZERO=0 if wide is np.int64 else 0.0,
                                                           **options)
    return Check(c, (a.astype(wide) @ b.astype(wide)), tolerance)


@R.case()
def matmul_f16():
    return _matmul(np.float16)


@R.case()
def matmul_f16_random_values():
    return _matmul(np.float16, values=floats, tolerance=2e-3)


@R.case()
def matmul_bf16_128x128():
    return _matmul(ml_dtypes.bfloat16, M=128, N=128, BM=128, BN=128, BK=64)


@R.case()
def matmul_tf32():
    return _matmul(np.float32, precision="tf32")


@R.case()
def matmul_f32_ieee():
    return _matmul(np.float32, precision="ieee", M=40, N=40, K=32, BM=32, BN=32)


@R.case()
def matmul_f32_bf16x3():
    return _matmul(np.float32, precision="bf16x3", values=floats, tolerance=1e-3, M=64, N=64)


@R.case()
def matmul_e4m3():
    return _matmul(ml_dtypes.float8_e4m3fn, BK=64)


@R.case()
def matmul_e5m2():
    return _matmul(ml_dtypes.float8_e5m2, BK=64)


@R.case()
def matmul_int8():
    return _matmul(np.int8, out=np.int32, acc=tl.int32, BK=64)


@R.case()
def matmul_f64():
    return _matmul(np.float64, out=np.float64, acc=tl.float64, M=32, N=32, K=32, BM=32, BN=32, BK=16)


@R.case()
def matmul_a_transposed():
    return _matmul(np.float16, transposed=True, M=64, N=64)


@R.case()
def matmul_f16_out_8_warps():
    return _matmul(np.float16, out=np.float16, M=128, N=128, BM=128, BN=128, BK=64, num_warps=8)


@R.case()
def matmul_three_stages():
    return _matmul(np.float16, M=128, N=128, K=256, BM=128, BN=64, BK=64, num_stages=3)


@R.case()
def matmul_two_ctas():
    return _matmul(np.float16, M=128, N=128, K=128, BM=128, BN=128, BK=64, num_ctas=2)


@triton.jit
def epilogue_kernel(a, b, bias, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :]))
    acc += tl.load(bias + n)[None, :]
    tl.store(c + m[:, None] * N + n[None, :], tl.maximum(acc, 0.0).to(tl.bfloat16))


@R.case()
def matmul_bias_relu():
    a, b, bias, c = small_ints(64, 64, dtype=np.float16), small_ints(64, 64, seed=1, dtype=np.float16), small_ints(64, seed=2), dw.poison((64, 64), "bfloat16")
    epilogue_kernel[(1,)](a, b, bias, c, M=64, N=64, K=64)
    want = np.maximum(a.astype(np.float32) @ b.astype(np.float32) + bias, 0)
    return Check(c, want.astype(ml_dtypes.bfloat16))


@triton.jit
def batched_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    z = tl.program_id(0)
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.dot(tl.load(a + z * M * K + m[:, None] * K + k[None, :]), tl.load(b + z * K * N + k[:, None] * N + n[None, :]))
    tl.store(c + z * M * N + m[:, None] * N + n[None, :], acc)


@R.case()
def matmul_batched():
    a, b, c = small_ints(3, 64, 32, dtype=np.float16), small_ints(3, 32, 64, seed=1, dtype=np.float16), dw.poison((3, 64, 64))
    batched_kernel[(3,)](a, b, c, M=64, N=64, K=32)
    return Check(c, a.astype(np.float32) @ b.astype(np.float32))


@triton.jit
def split_k_kernel(a, b, c, N: tl.constexpr, K: tl.constexpr, BK: tl.constexpr):
    m, n = tl.arange(0, N), tl.arange(0, N)
    k = tl.program_id(0) * BK + tl.arange(0, BK)
    part = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :]))
    tl.atomic_add(c + m[:, None] * N + n[None, :], part)


@R.case()
def matmul_split_k():
    a, b, c = small_ints(64, 256, dtype=np.float16), small_ints(256, 64, seed=1, dtype=np.float16), np.zeros((64, 64), np.float32)
    split_k_kernel[(4,)](a, b, c, N=64, K=256, BK=64)
    return Check(c, a.astype(np.float32) @ b.astype(np.float32))


@triton.jit
def persistent_kernel(a, b, c, M, N, K: tl.constexpr, B: tl.constexpr):
    across = N // B
    for tile in range(tl.program_id(0), (M // B) * across, tl.num_programs(0)):
        m = tile // across * B + tl.arange(0, B)
        n = tile % across * B + tl.arange(0, B)
        acc = tl.zeros((B, B), tl.float32)
        for start in range(0, K, 32):
            k = start + tl.arange(0, 32)
            acc = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :]), acc)
        tl.store(c + m[:, None] * N + n[None, :], acc)


@R.case()
def matmul_persistent():
    a, b, c = small_ints(128, 64, dtype=np.float16), small_ints(64, 192, seed=1, dtype=np.float16), dw.poison((128, 192))
    persistent_kernel[(2,)](a, b, c, 128, 192, K=64, B=64)
    return Check(c, a.astype(np.float32) @ b.astype(np.float32))


@triton.jit
def scaled_kernel(a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, VEC: tl.constexpr, FORMAT: tl.constexpr, PACK: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    k, s = tl.arange(0, K // PACK), tl.arange(0, K // VEC)
    x = tl.load(a + m[:, None] * (K // PACK) + k[None, :])
    y = tl.load(b + n[:, None] * (K // PACK) + k[None, :]).T
    xs = tl.load(sa + m[:, None] * (K // VEC) + s[None, :])
    ys = tl.load(sb + n[:, None] * (K // VEC) + s[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot_scaled(x, xs, FORMAT, y, ys, FORMAT))


def _scaled(kind, N=128, K=128):
    packed = kind != "e4m3"
    vec, scale_format = (16, "e4m3") if kind == "nvfp4" else (32, "ue8m0")
    if packed:
        codes = [rng(s).integers(0, 16, (128 if s == 0 else N, K)).astype(np.uint8) for s in (0, 1)]
        operands, numbers = [dw.numbers.pack_fp4(x) for x in codes], [dw.dequantize(x, "e2m1") for x in codes]
    else:
        operands = [small_ints(128 if s == 0 else N, K, seed=s, dtype=ml_dtypes.float8_e4m3fn) for s in (0, 1)]
        numbers = [x.astype(np.float32) for x in operands]
    rows = (128, N)
    if scale_format == "ue8m0":
        scales = [rng(5 + s).integers(126, 130, (rows[s], K // vec)).astype(np.uint8) for s in (0, 1)]
        factors = [np.exp2(x.astype(np.float32) - 127) for x in scales]
    else:
        scales = [rng(5 + s).choice([0.5, 1, 2], (rows[s], K // vec)).astype(ml_dtypes.float8_e4m3fn) for s in (0, 1)]
        factors = [x.astype(np.float32) for x in scales]
    c = dw.poison((128, N))
    scaled_kernel[(1,)](operands[0], scales[0], operands[1], scales[1], c, M=128, N=N, K=K, VEC=vec, FORMAT="e2m1" if packed else "e4m3", PACK=2 if packed else 1)
    x, y = [(n.reshape(n.shape[0], -1, vec) * f[..., None]).reshape(n.shape).astype(np.float64) for n, f in zip(numbers, factors)]
    return Check(c, x @ y.T)


@R.case(BLACKWELL)
def dot_scaled_mxfp8():
    return _scaled("e4m3")


@R.case(BLACKWELL)
def dot_scaled_mxfp4():
    return _scaled("mxfp4")


@R.case(BLACKWELL)
def dot_scaled_nvfp4():
    return _scaled("nvfp4")


@triton.jit
def descriptor_kernel(ad, bd, cd, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(ad.load([m, k]), bd.load([n, k]).T, acc)
    cd.store([m, n], acc.to(tl.float16))


@triton.jit
def device_descriptor_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    ad = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    bd = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    cd = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    descriptor_kernel(ad, bd, cd, K, BM, BN, BK)


@R.case()
def matmul_device_descriptors():
    a, b, c = small_ints(128, 128, dtype=np.float16), small_ints(128, 128, seed=1, dtype=np.float16), dw.poison((128, 128), np.float16)
    device_descriptor_kernel[(2, 2)](a, b, c, 128, 128, 128, BM=64, BN=64, BK=64)
    return Check(c, a.astype(np.float32) @ b.astype(np.float32).T)


@R.case()
def matmul_host_descriptors():
    a, b, c = small_ints(128, 128, dtype=np.float16), small_ints(128, 128, seed=1, dtype=np.float16), dw.poison((128, 128), np.float16)
    descriptors = [dw.triton.descriptor(x, block) for x, block in ((a, [128, 64]), (b, [64, 64]), (c, [128, 64]))]
    descriptor_kernel[(1, 2)](*descriptors, 128, BM=128, BN=64, BK=64)
    return Check(c, a.astype(np.float32) @ b.astype(np.float32).T)


@triton.jit
def descriptor_copy_kernel(xd, yd, B: tl.constexpr):
    r, c = tl.program_id(0) * B, tl.program_id(1) * B
    yd.store([r, c], xd.load([r, c]) * 2)


@R.case()
def descriptor_copy_with_edges():
    x, y = floats(50, 72), dw.poison((50, 72))
    descriptor_copy_kernel[(2, 3)](dw.triton.descriptor(x, [32, 32]), dw.triton.descriptor(y, [32, 32]), B=32)
    return Check(y, x * 2)


@triton.jit
def descriptor_add_kernel(x, yd, B: tl.constexpr):
    i = tl.arange(0, B)
    yd.atomic_add([0, 0], tl.load(x + tl.program_id(0) * B * B + i[:, None] * B + i[None, :]))


@R.case()
def descriptor_reduce_add():
    x, y = small_ints(4, 32, 32), np.zeros((32, 32), np.float32)
    descriptor_add_kernel[(4,)](x, dw.triton.descriptor(y, [32, 32]), B=32)
    return Check(y, x.sum(0))


@triton.jit
def specialized_kernel(ad, bd, cd, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    across = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0), flatten=False, warp_specialize=True):
        m, n = tile // across * BM, tile % across * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(ad.load([m, k]), bd.load([n, k]).T, acc)
        cd.store([m, n], acc.to(tl.float16))


@R.case(BLACKWELL)
def matmul_persistent_warp_specialized():
    a, b, c = small_ints(256, 128, dtype=np.float16), small_ints(128, 128, seed=1, dtype=np.float16), dw.poison((256, 128), np.float16)
    descriptors = [dw.triton.descriptor(x, block) for x, block in ((a, [128, 64]), (b, [64, 64]), (c, [128, 64]))]
    specialized_kernel[(2,)](*descriptors, 256, 128, 128, BM=128, BN=64, BK=64, num_stages=2)
    return Check(c, a.astype(np.float32) @ b.astype(np.float32).T)


@triton.jit
def attention_kernel(q, k, v, o, scale, T: tl.constexpr, D: tl.constexpr, B: tl.constexpr, CAUSAL: tl.constexpr):
    start = tl.program_id(0) * B
    head = tl.program_id(1) * T * D
    rows, d = start + tl.arange(0, B), tl.arange(0, D)
    x = tl.load(q + head + rows[:, None] * D + d[None, :])
    top = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    acc = tl.zeros((B, D), tl.float32)
    end = start + B if CAUSAL else T
    for at in range(0, end, B):
        cols = at + tl.arange(0, B)
        s = tl.dot(x, tl.load(k + head + cols[None, :] * D + d[:, None])) * scale
        if CAUSAL:
            s = tl.where(rows[:, None] >= cols[None, :], s, -1e6)
        high = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - high[:, None])
        shrink = tl.exp(top - high)
        total = total * shrink + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + head + cols[:, None] * D + d[None, :]), acc * shrink[:, None])
        top = high
    tl.store(o + head + rows[:, None] * D + d[None, :], acc / total[:, None])


def _attention(causal):
    q, k, v = (floats(2, 128, 64, seed=s, dtype=np.float16) for s in range(3))
    o = dw.poison((2, 128, 64))
    attention_kernel[(2, 2)](q, k, v, o, 0.125, T=128, D=64, B=64, CAUSAL=causal)
    s = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * 0.125
    if causal:
        s = np.where(np.tril(np.ones((128, 128), bool)), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return Check(o, p / p.sum(-1, keepdims=True) @ v.astype(np.float64), 5e-3)


@R.case()
def attention():
    return _attention(False)


@R.case()
def attention_causal():
    return _attention(True)


@pytest.mark.parametrize("fn, arch", R.parameters())
def test_matmul(fn, arch):
    check_case(fn, arch, dw.triton.simulate)


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def tuned_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, i < n) + 1, i < n)


def test_autotuning_compares_predicted_times():
    x, y = floats(4096), dw.poison(4096)
    with dw.triton.simulate() as s:
        tuned_kernel[lambda meta: (triton.cdiv(4096, meta["BLOCK"]),)](x, y, 4096)
    assert len(s.launches) == 1 and len(s.benchmarks) == 2
    times = {b.launch.grid[0]: b.cycles for b in s.benchmarks}
    assert s.launches[0].launch.grid[0] == min(times, key=times.__getitem__)
    np.testing.assert_array_equal(y, x + 1)
