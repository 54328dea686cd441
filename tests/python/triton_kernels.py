"""Triton and Gluon kernels through Triton's own launcher, against NumPy: run by `drywell python`, without PyTorch.

Matrices hold small integers where the sums are exact, so that the comparison is of every bit."""

import sys

import numpy as np
import triton
import triton.language as tl
from device_array import Array, zeros
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import blackwell, hopper
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as GluonDescriptor
from triton.tools.tensor_descriptor import TensorDescriptor

CASES = []
random = np.random.default_rng(1)
is_blackwell = triton.runtime.driver.active.get_current_target().arch >= 100


def case(function):
    CASES.append(function)
    return function


def integers(*shape, dtype=np.float16):
    return random.integers(-3, 4, shape).astype(dtype)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@case
def vector_add():
    a, b = random.standard_normal((2, 1000), np.float32)
    out = zeros(1000)
    add_kernel[(4,)](Array(a), Array(b), out, 1000, 256)
    assert (out.numpy() == a + b).all()


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + i, e / tl.sum(e, axis=0), mask=i < columns)


@case
def softmax():
    x = random.standard_normal((20, 781), np.float32)
    out = zeros(x.shape)
    softmax_kernel[(20,)](Array(x), out, 781, 1024)
    e = np.exp(x - x.max(1, keepdims=True), dtype=np.float64)
    np.testing.assert_allclose(out.numpy(), e / e.sum(1, keepdims=True), rtol=2e-6)


@triton.jit
def layer_norm_kernel(x, w, b, out, columns, eps, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
    mean = tl.sum(v, axis=0) / columns
    d = tl.where(i < columns, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, axis=0) / columns + eps)
    y = d * scale * tl.load(w + i, mask=i < columns) + tl.load(b + i, mask=i < columns)
    tl.store(out + row * columns + i, y, mask=i < columns)


@case
def layer_norm():
    x = random.standard_normal((9, 700), np.float32)
    w, b = random.standard_normal((2, 700), np.float32)
    out = zeros(x.shape)
    layer_norm_kernel[(9,)](Array(x), Array(w), Array(b), out, 700, 1e-5, 1024)
    d = x.astype(np.float64)
    want = (d - d.mean(1, keepdims=True)) / np.sqrt(d.var(1, keepdims=True) + 1e-5) * w + b
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-4, atol=1e-5)


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


def philox(seed, offsets):
    """Philox 4x32-10 (Salmon et al., 2011) as tl.rand uses it: the first word to a float in [0, 1)."""
    c = [offsets.astype(np.uint64), *(np.zeros_like(offsets, np.uint64) for _ in range(3))]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        a, b = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        low = np.uint64(0xFFFFFFFF)
        c = [(b >> 32) ^ c[1] ^ np.uint64(k0), b & low, (a >> 32) ^ c[3] ^ np.uint64(k1), a & low]
        c = [v & low for v in c]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    signed = c[0].astype(np.uint32).view(np.int32)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)


@case
def dropout():
    x = random.standard_normal(500, np.float32)
    out = zeros(500)
    dropout_kernel[(2,)](Array(x), out, 500, 0.5, 123, 256)
    keep = philox(123, np.arange(500)) > np.float32(0.5)
    assert 150 < keep.sum() < 350
    assert (out.numpy() == np.where(keep, x / np.float32(0.5), 0)).all()


@triton.jit
def histogram_kernel(x, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@case
def atomics():
    x = random.integers(0, 10, 1000).astype(np.int32)
    counts = zeros(10, np.int32)
    histogram_kernel[(4,)](Array(x), counts, 1000, 256)
    assert (counts.numpy() == np.bincount(x, minlength=10)).all()


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (at + k)[None, :])
        y = tl.load(b + (at + k)[:, None] * N + columns[None, :])
        sums = tl.dot(x, y, sums)
    tl.store(c + rows[:, None] * N + columns[None, :], sums)


@case
def matmul():
    """tcgen05.mma on sm_100a, wgmma on sm_90a."""
    a, b, out = integers(128, 192), integers(192, 256), zeros((128, 256))
    kernel = matmul_kernel[(1, 2)](Array(a), Array(b), out, 128, 256, 192, 128, 128, 64)
    assert (out.numpy() == a.astype(np.float32) @ b.astype(np.float32)).all()
    assert ("tcgen05.mma" if is_blackwell else "wgmma") in kernel.asm["ptx"]


@triton.jit
def host_tma_kernel(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sums = tl.dot(a.load([m, k]), b.load([n, k]).T, sums)
    c.store([m, n], sums)


@case
def host_descriptors():
    a, b, out = integers(256, 128), integers(128, 128), zeros((256, 128))
    da, db, dc = (
        TensorDescriptor(x, list(x.shape), x.strides, block) for x, block in ((Array(a), [128, 64]), (Array(b), [64, 64]), (out, [128, 64]))
    )
    host_tma_kernel[(2, 2)](da, db, dc, 128, 128, 64, 64)
    assert (out.numpy() == a.astype(np.float32) @ b.T.astype(np.float32)).all()


@triton.jit
def device_tma_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WS: tl.constexpr):
    """Persistent: each program takes tiles until none is left."""
    da = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    across = N // BN
    for tile in tl.range(tl.program_id(0), M // BM * across, tl.num_programs(0), flatten=True, warp_specialize=WS):
        m, n = tile // across * BM, tile % across * BN
        sums = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            sums = tl.dot(da.load([m, k]), db.load([n, k]).T, sums)
        dc.store([m, n], sums.to(tl.float16))


def device_descriptors(warp_specialize):
    triton.set_allocator(lambda size, alignment, stream: zeros(size, np.int8))
    a, b, out = integers(256, 128), integers(256, 128), zeros((256, 256), np.float16)
    device_tma_kernel[(2,)](Array(a), Array(b), out, 256, 256, 128, 128, 128, 64, warp_specialize, num_warps=4, num_stages=3)
    assert (out.numpy() == (a.astype(np.float32) @ b.T.astype(np.float32)).astype(np.float16)).all()


@case
def persistent():
    device_descriptors(False)


@case
def warp_specialized():
    device_descriptors(True)


@triton.jit
def scaled_kernel(a, sa, b, sb, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k, s = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK), tl.arange(0, BK // 32)
    sums = tl.zeros((BM, BN), tl.float32)
    for at in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (at + k)[None, :])
        y = tl.load(b + n[None, :] * K + (at + k)[:, None])
        sx = tl.load(sa + m[:, None] * (K // 32) + (at // 32 + s)[None, :])
        sy = tl.load(sb + n[:, None] * (K // 32) + (at // 32 + s)[None, :])
        sums = tl.dot_scaled(x, sx, "e4m3", y, sy, "e4m3", sums)
    tl.store(c + m[:, None] * BN + n[None, :], sums)


@case
def block_scaled():
    """mxfp8: e4m3 values (0, ±1, ±1.5, ±2) with a power of two for every 32 of them."""
    if not is_blackwell:
        return
    codes = np.array([0x00, 0x38, 0x3C, 0x40, 0xB8, 0xBC, 0xC0], np.uint8)
    values = np.array([0, 1, 1.5, 2, -1, -1.5, -2], np.float32)
    pick = [random.integers(0, 7, (128, 256)) for _ in range(2)]
    scales = [random.integers(126, 130, (128, 8)).astype(np.uint8) for _ in range(2)]
    out = zeros((128, 128))
    scaled_kernel[(1,)](Array(codes[pick[0]], "float8_e4m3fn"), Array(scales[0]), Array(codes[pick[1]], "float8_e4m3fn"), Array(scales[1]), out, 256, 128, 128, 128)
    a, b = (values[p] * np.repeat(np.float32(2) ** (s.astype(np.float32) - 127), 32, axis=1) for p, s in zip(pick, scales))
    assert (out.numpy() == a @ b.T).all()


@gluon.jit
def gluon_kernel(a, b, c, WAIT: gl.constexpr):
    """One tile: TMA, tcgen05.mma, TMA. WAIT=False forgets to wait for the product."""
    a_tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    b_tile = gl.allocate_shared_memory(b.dtype, b.block_type.shape, b.layout)
    loaded = gl.allocate_shared_memory(gl.int64, [1], hopper.mbarrier.MBarrierLayout())
    done = gl.allocate_shared_memory(gl.int64, [1], hopper.mbarrier.MBarrierLayout())
    hopper.mbarrier.init(loaded, count=1)
    hopper.mbarrier.init(done, count=1)
    layout: gl.constexpr = blackwell.TensorMemoryLayout([128, 128], col_stride=1)
    sums = blackwell.allocate_tensor_memory(gl.float32, [128, 128], layout)
    for k in range(0, a.shape[1], 64):
        phase = k // 64 & 1
        hopper.mbarrier.expect(loaded, a.block_type.nbytes + b.block_type.nbytes)
        hopper.tma.async_load(a, [0, k], loaded, a_tile)
        hopper.tma.async_load(b, [0, k], loaded, b_tile)
        hopper.mbarrier.wait(loaded, phase=phase)
        blackwell.tcgen05_mma(a_tile, b_tile.permute((1, 0)), sums, use_acc=k > 0)
        blackwell.tcgen05_commit(done)
        if WAIT:
            hopper.mbarrier.wait(done, phase=phase)
    c_tile = gl.allocate_shared_memory(c.dtype, c.block_type.shape, c.layout)
    c_tile.store(sums.load().to(c.dtype))
    hopper.fence_async_shared()
    hopper.tma.async_store(c, [0, 0], c_tile)
    hopper.tma.store_wait(pendings=0)


def run_gluon(wait):
    layout = gl.NVMMASharedLayout.get_default_for([128, 64], gl.float16)
    wide = gl.NVMMASharedLayout.get_default_for([128, 128], gl.float16)
    a, b, out = integers(128, 256), integers(128, 256), zeros((128, 128), np.float16)
    da, db = (GluonDescriptor(x, list(x.shape), x.strides, [128, 64], layout) for x in (Array(a), Array(b)))
    gluon_kernel[(1,)](da, db, GluonDescriptor(out, list(out.shape), out.strides, [128, 128], wide), wait)
    return out.numpy(), (a.astype(np.float32) @ b.T.astype(np.float32)).astype(np.float16)


@case
def gluon_tcgen05():
    if is_blackwell:
        out, want = run_gluon(True)
        assert (out == want).all()


def main(names):
    for run in CASES:
        if not names or run.__name__ in names:
            run()
            print("right:", run.__name__, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["forgotten_wait"]:
        run_gluon(False)  # wrong on purpose: `drywell python --check` finds it
    else:
        main(sys.argv[1:])
