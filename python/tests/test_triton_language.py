"""Triton: functions of its language that kernels of the other files do not use: gather by rows and by TMA, inline PTX,
work queues, batched and double products, scaled products on both architectures, libdevice, print, assert."""

from math import erf, lgamma

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")
import triton
import triton.language as tl
import triton.testing
from triton.language.extra import libdevice

import drywell as dw
from cases import BLACKWELL, Check, Registry, check_case, floats, rng, small_ints

R = Registry()


@triton.jit
def gather_kernel(x, index, y, M: tl.constexpr, N: tl.constexpr, OUT: tl.constexpr):
    row, out = tl.arange(0, M)[:, None], tl.arange(0, OUT)[None, :]
    tl.store(y + row * OUT + out, tl.gather(tl.load(x + row * N + tl.arange(0, N)[None, :]), tl.load(index + row * OUT + out), 1))


@R.case()
def gather():
    x, index, y = floats(16, 64), small_ints(16, 32, dtype=np.int32, least=0, most=64), dw.poison((16, 32))
    gather_kernel[(1,)](x, index, y, M=16, N=64, OUT=32)
    return Check(y, np.take_along_axis(x, index, 1))


@triton.jit
def rows_kernel(x, index, y, z, rows, C: tl.constexpr, N: tl.constexpr, M: tl.constexpr):
    """Rows by a descriptor's gather, and scattered into other columns."""
    i = tl.load(index + tl.arange(0, M))
    v = tl.make_tensor_descriptor(x, [rows, C], [C, 1], [1, N]).gather(i, 8)
    tl.store(y + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], v)
    tl.make_tensor_descriptor(z, [rows, C], [C, 1], [1, N]).scatter(v * 2, i, 16)


@R.case(BLACKWELL)
def gather_and_scatter_by_tma():
    x, index = floats(64, 64, dtype=np.float16), rng().permutation(64)[:16].astype(np.int32)
    y, z, want = dw.poison((16, 32), np.float16), np.zeros_like(x), np.zeros_like(x)
    rows_kernel[(1,)](x, index, y, z, 64, C=64, N=32, M=16)
    want[index, 16:48] = x[index, 8:40] * 2
    return [Check(y, x[index, 8:40]), Check(z, want)]


@triton.jit
def inline_kernel(x, swapped, ones, zeros, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(swapped + i, tl.inline_asm_elementwise("prmt.b32 $0, $1, 0, 0x0123;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1))
    a, b = tl.inline_asm_elementwise("{ .reg .b32 t; popc.b32 $0, $2; clz.b32 t, $2; mov.b32 $1, t; }", "=r,=r,r", [v], dtype=(tl.int32, tl.int32), is_pure=True, pack=1)
    tl.store(ones + i, a)
    tl.store(zeros + i, b)


@R.case()
def inline_ptx():
    x = rng().integers(1, 1 << 31, 256).astype(np.int32)
    swapped, ones, zeros = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    inline_kernel[(1,)](x, swapped, ones, zeros, N=256)
    bits = [int(v) for v in x]
    return [Check(swapped, x.byteswap()), Check(ones, np.array([bin(v).count("1") for v in bits])), Check(zeros, np.array([32 - v.bit_length() for v in bits]))]


@triton.jit
def queue_kernel(next_tile, out, tiles, N: tl.constexpr):
    t = tl.atomic_add(next_tile, 1)
    while t < tiles:
        tl.store(out + t * N + tl.arange(0, N), t * 3 + tl.arange(0, N))
        t = tl.atomic_add(next_tile, 1)


@R.case()
def work_queue():
    out = np.zeros((20, 64), np.int32)
    queue_kernel[(4,)](np.zeros(1, np.int32), out, 20, N=64)
    return Check(out, np.arange(20)[:, None] * 3 + np.arange(64))


@triton.jit
def batched_kernel(a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    p, m, n = tl.arange(0, B)[:, None, None], tl.arange(0, M)[None, :, None], tl.arange(0, N)[None, None, :]
    x = tl.load(a + (p * M + m) * K + tl.arange(0, K)[None, None, :])
    y = tl.load(b + (p * K + tl.arange(0, K)[None, :, None]) * N + n)
    tl.store(c + (p * M + m) * N + n, tl.dot(x, y))


@R.case()
def batched_dot():
    a, b, c = small_ints(2, 32, 64, dtype=np.float16), small_ints(2, 64, 32, seed=1, dtype=np.float16), dw.poison((2, 32, 32))
    batched_kernel[(1,)](a, b, c, B=2, M=32, N=32, K=64)
    return Check(c, a.astype(np.float64) @ b.astype(np.float64))


@triton.jit
def product_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, OUT: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :]), out_dtype=OUT))


@R.case()
def product_of_doubles():
    a, b, c = floats(32, 32, dtype=np.float64), floats(32, 32, seed=1, dtype=np.float64), np.zeros((32, 32))
    product_kernel[(1,)](a, b, c, M=32, N=32, K=32, OUT=tl.float64)
    return Check(c, a @ b, 1e-12)


@triton.jit
def scaled_kernel(a, a_scale, b, b_scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, KIND: tl.constexpr, PACKED: tl.constexpr):
    m, n, k, s = tl.arange(0, M)[:, None], tl.arange(0, N), tl.arange(0, PACKED), tl.arange(0, K // 32)[None, :]
    x, y = tl.load(a + m * PACKED + k[None, :]), tl.load(b + k[:, None] * N + n[None, :])
    scales = tl.load(a_scale + m * (K // 32) + s), tl.load(b_scale + n[:, None] * (K // 32) + s)
    tl.store(c + m * N + n[None, :], tl.dot_scaled(x, scales[0], KIND, y, scales[1], KIND))


def scales(rows: int, k: int, seed: int) -> "tuple[np.ndarray, np.ndarray]":
    codes = rng(seed).integers(120, 130, (rows, k // 32)).astype(np.uint8)
    return codes, np.repeat(2.0 ** (codes.astype(float) - 127), 32, 1)


@R.case()
def scaled_e4m3():
    M, N, K = 128, 64, 128
    a, b = small_ints(M, K, dtype=ml_dtypes.float8_e4m3fn), small_ints(K, N, seed=1, dtype=ml_dtypes.float8_e4m3fn)
    (sa, fa), (sb, fb), c = scales(M, K, 2), scales(N, K, 3), dw.poison((M, N))
    scaled_kernel[(1,)](a, sa, b, sb, c, M=M, N=N, K=K, KIND="e4m3", PACKED=K)
    return Check(c, (a.astype(float) * fa) @ (b.astype(float) * fb.T), 1e-6)


@R.case()
def scaled_e2m1():
    values = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])
    M, N, K = 128, 64, 128
    a, b = rng().integers(0, 256, (M, K // 2)).astype(np.uint8), rng(1).integers(0, 256, (K // 2, N)).astype(np.uint8)
    (sa, fa), (sb, fb), c = scales(M, K, 2), scales(N, K, 3), dw.poison((M, N))
    scaled_kernel[(1,)](a, sa, b, sb, c, M=M, N=N, K=K, KIND="e2m1", PACKED=K // 2)
    x, y = np.stack([values[a & 15], values[a >> 4]], -1).reshape(M, K), np.stack([values[b & 15], values[b >> 4]], 1).reshape(K, N)
    return Check(c, (x * fa) @ (y * fb.T), 1e-5)


@triton.jit
def libdevice_kernel(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(y + i, libdevice.erf(v) + libdevice.cbrt(v) + libdevice.atan2(v, v + 1) + libdevice.lgamma(v + 2))


@R.case()
def libdevice_functions():
    x, y = rng().uniform(0.1, 3, 256).astype(np.float32), dw.poison(256)
    libdevice_kernel[(1,)](x, y, N=256)
    return Check(y, np.array([erf(v) + v ** (1 / 3) + np.arctan2(v, v + 1) + lgamma(v + 2) for v in x.astype(float)]), 3e-6)


@pytest.mark.parametrize("fn,arch", R.parameters())
def test_right(fn, arch):
    check_case(fn, arch, dw.triton.simulate)


@triton.jit
def print_kernel(x, N: tl.constexpr):
    tl.device_print("value", tl.load(x + tl.arange(0, N)))


def test_print():
    with dw.triton.simulate(arch="sm_100a") as s:
        print_kernel[(1,)](np.arange(8, dtype=np.int32) * 5, N=8)
    # A warp has 32 lanes and the tensor eight elements: lanes repeat them, and Triton prints each once or several times.
    lines = set(s.launches[0].output.splitlines())
    assert lines == {f"pid (0, 0, 0) idx ({i}) value: {5 * i}" for i in range(8)}


@triton.jit
def assert_kernel(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.device_assert(v >= 0, "negative value")
    tl.store(y + i, v * 2)


def test_assert():
    y = np.zeros(64, np.int32)
    with dw.triton.simulate(check="full", arch="sm_100a") as s:
        assert_kernel[(1,)](np.arange(64, dtype=np.int32), y, N=64, debug=True)
    assert (y == 2 * np.arange(64)).all() and not s.launches[0].errors
    with pytest.raises(dw.Fault, match="negative value"):
        with dw.triton.simulate(arch="sm_100a"):
            assert_kernel[(1,)](np.arange(64, dtype=np.int32) - 1, y, N=64, debug=True)


@triton.jit
def double_kernel(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, 2 * tl.load(x + i, i < n), i < n)


def test_benchmarks_take_tritons_arguments():
    x = np.ones(100, np.float32)
    run = lambda: double_kernel[(1,)](x, 100, B=128)
    with dw.triton.simulate() as s:
        ms = triton.testing.do_bench(run)
        assert [triton.testing.do_bench(run, 25, 100), triton.testing.do_bench(run, 1, 1, None, [0.5]), triton.testing.do_bench_cudagraph(run, 20)] == [ms] * 3
        assert triton.testing.do_bench(run, 1, 1, None, [0.5, 0.2]) == [ms, ms] and triton.testing.do_bench(run, return_mode="all") == [ms]
        if hasattr(triton.testing, "do_bench_proton"):
            assert triton.testing.do_bench_proton(run, 5, 5) == ms
    assert ms > 0 and not s.launches


def test_arrays_that_triton_has_no_type_for_are_refused():
    for dtype in (np.complex64, ml_dtypes.float8_e8m0fnu, [("a", "<f4")]):
        with pytest.raises(TypeError, match="which Triton does not have"):
            dw.triton.kernel(double_kernel)[(1,)](np.zeros(4, dtype), 4, B=4)


def test_no_launch_is_no_result_and_a_warm_up_is_no_launch():
    x = np.ones(100, np.float32)
    with pytest.raises(ValueError, match="has no CTA"):
        dw.triton.kernel(double_kernel)[(0,)](x, 100, B=128)
    with dw.triton.simulate() as s:
        double_kernel.warmup(x, 100, B=128, grid=(1,))
    assert not s.launches and (x == 1).all()
