"""Gluon: layouts, shared memory, mbarriers, TMA, wgmma, tcgen05, warp specialisation; and seeded bugs, found with their Python lines."""

import inspect

import numpy as np
import pytest

pytest.importorskip("triton")
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import ampere, blackwell, hopper
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

import drywell as dw
from cases import BLACKWELL, BOTH, HOPPER, Check, Registry, check_case, floats, small_ints

R = Registry()


@gluon.jit
def copy_kernel(x, y, n, B: gl.constexpr, PER: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([PER], [32], [4], [0])
    i = gl.program_id(0) * B + gl.arange(0, B, layout)
    gl.store(y + i, gl.load(x + i, i < n), i < n)


@R.case()
def gluon_copy():
    x, y = floats(1000), dw.poison(1000)
    copy_kernel[(2,)](x, y, 1000, B=512, PER=4)
    return Check(y, x)


@gluon.jit
def transpose_kernel(x, y, N: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    i = gl.arange(0, N, gl.SliceLayout(1, rows))[:, None]
    j = gl.arange(0, N, gl.SliceLayout(0, rows))[None, :]
    smem = gl.allocate_shared_memory(gl.float32, [N, N], shared, gl.load(x + i * N + j))
    gl.store(y + i * N + j, smem.permute((1, 0)).load(rows))


@R.case()
def gluon_transpose_through_shared_memory():
    x, y = floats(32, 32), dw.poison((32, 32))
    transpose_kernel[(1,)](x, y, N=32)
    return Check(y, x.T)


@gluon.jit
def convert_kernel(x, y, N: gl.constexpr):
    a: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    b: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    v = gl.convert_layout(gl.load(x + gl.arange(0, N, a)), b)
    gl.store(y + gl.arange(0, N, b), v + gl.sum(v, 0))


@R.case()
def gluon_convert_layout_and_sum():
    x, y = small_ints(1024), dw.poison(1024)
    convert_kernel[(1,)](x, y, N=1024)
    return Check(y, x + x.sum())


@gluon.jit
def cp_async_kernel(x, y, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    i = gl.arange(0, N, layout)
    smem = gl.allocate_shared_memory(gl.float32, [N], shared)
    ampere.async_copy.async_load(smem, x + i)
    ampere.async_copy.commit_group()
    ampere.async_copy.wait_group(0)
    gl.store(y + i, smem.load(layout) * 2)


@R.case()
def gluon_cp_async():
    x, y = floats(512), dw.poison(512)
    cp_async_kernel[(1,)](x, y, N=512)
    return Check(y, x * 2)


@gluon.jit
def mma_v2_kernel(a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    mma: gl.constexpr = gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8])
    left: gl.constexpr = gl.DotOperandLayout(0, mma, 2)
    right: gl.constexpr = gl.DotOperandLayout(1, mma, 2)
    x = gl.load(a + gl.arange(0, M, gl.SliceLayout(1, left))[:, None] * K + gl.arange(0, K, gl.SliceLayout(0, left))[None, :])
    y = gl.load(b + gl.arange(0, K, gl.SliceLayout(1, right))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, right))[None, :])
    acc = ampere.mma_v2(x, y, gl.zeros([M, N], gl.float32, mma))
    gl.store(c + gl.arange(0, M, gl.SliceLayout(1, mma))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, mma))[None, :], acc)


@R.case()
def gluon_mma_v2():
    a, b, c = small_ints(64, 32, dtype=np.float16), small_ints(32, 32, seed=1, dtype=np.float16), dw.poison((64, 32))
    mma_v2_kernel[(1,)](a, b, c, M=64, N=32, K=32)
    return Check(c, a.astype(np.float32) @ b.astype(np.float32))


@gluon.jit
def tma_copy_kernel(xd, yd, B: gl.constexpr):
    smem = gl.allocate_shared_memory(xd.dtype, [B, B], xd.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    at = [gl.program_id(0) * B, gl.program_id(1) * B]
    mbarrier.expect(bar, xd.nbytes_per_cta)
    tma.async_load(xd, at, bar, smem)
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)
    tma.async_store(yd, at, smem)
    tma.store_wait(0)


def _gluon_descriptor(x, block):
    layout = gl.NVMMASharedLayout.get_default_for(block, {2: gl.float16, 4: gl.float32}[x.itemsize])
    return dw.triton.descriptor(x, block, layout)


@R.case()
def gluon_tma_copy():
    x, y = floats(64, 96), dw.poison((64, 96))
    tma_copy_kernel[(2, 3)](_gluon_descriptor(x, [32, 32]), _gluon_descriptor(y, [32, 32]), B=32)
    return Check(y, x)


@gluon.jit
def ring_kernel(xd, y, TILES: gl.constexpr, R: gl.constexpr, C: gl.constexpr, STAGES: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    ring = gl.allocate_shared_memory(xd.dtype, [STAGES, R, C], xd.layout)
    bars = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(bars.index(s), count=1)
    for s in gl.static_range(STAGES):
        mbarrier.expect(bars.index(s), xd.nbytes_per_cta)
        tma.async_load(xd, [s * R, 0], bars.index(s), ring.index(s))
    total = gl.zeros([R, C], gl.float32, layout)
    for t in range(TILES):
        at = t % STAGES
        mbarrier.wait(bars.index(at), (t // STAGES) & 1)
        total += ring.index(at).load(layout)
        gl.barrier()
        again = t + STAGES < TILES
        mbarrier.expect(bars.index(at), xd.nbytes_per_cta, pred=again)
        tma.async_load(xd, [(t + STAGES) * R, 0], bars.index(at), ring.index(at), pred=again)
    i = gl.arange(0, R, gl.SliceLayout(1, layout))[:, None]
    j = gl.arange(0, C, gl.SliceLayout(0, layout))[None, :]
    gl.store(y + i * C + j, total)


@R.case()
def gluon_tma_ring():
    x, y = small_ints(8 * 32, 32), dw.poison((32, 32))
    ring_kernel[(1,)](_gluon_descriptor(x, [32, 32]), y, TILES=8, R=32, C=32, STAGES=3)
    return Check(y, x.reshape(8, 32, 32).sum(0))


@gluon.jit
def tma_add_kernel(xd, yd, B: gl.constexpr):
    smem = gl.allocate_shared_memory(xd.dtype, [B, B], xd.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, xd.nbytes_per_cta)
    tma.async_load(xd, [gl.program_id(0) * B, 0], bar, smem)
    mbarrier.wait(bar, 0)
    tma.async_atomic_add(yd, [0, 0], smem)
    tma.store_wait(0)


@R.case()
def gluon_tma_reduce_add():
    x, y = small_ints(4 * 32, 32), np.zeros((32, 32), np.float32)
    tma_add_kernel[(4,)](_gluon_descriptor(x, [32, 32]), _gluon_descriptor(y, [32, 32]), B=32)
    return Check(y, x.reshape(4, 32, 32).sum(0))


@gluon.jit
def load_operands(ad, bd, m, n, k, bar, a_smem, b_smem, pred=True):
    mbarrier.expect(bar, ad.nbytes_per_cta + bd.nbytes_per_cta, pred=pred)
    tma.async_load(ad, [m, k], bar, a_smem, pred=pred)
    tma.async_load(bd, [k, n], bar, b_smem, pred=pred)


@gluon.jit
def wgmma_kernel(ad, bd, c, N: gl.constexpr, K: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr):
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, 16])
    a_smem = gl.allocate_shared_memory(ad.dtype, [BM, BK], ad.layout)
    b_smem = gl.allocate_shared_memory(bd.dtype, [BK, BN], bd.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    m, n = gl.program_id(0) * BM, gl.program_id(1) * BN
    acc = gl.zeros([BM, BN], gl.float32, layout)
    phase = 0
    for k in range(0, K, BK):
        load_operands(ad, bd, m, n, k, bar, a_smem, b_smem)
        mbarrier.wait(bar, phase)
        phase ^= 1
        acc = hopper.warpgroup_mma(a_smem, b_smem, acc, is_async=True)
        acc = hopper.warpgroup_mma_wait(0, deps=[acc])
    i = m + gl.arange(0, BM, gl.SliceLayout(1, layout))[:, None]
    j = n + gl.arange(0, BN, gl.SliceLayout(0, layout))[None, :]
    gl.store(c + i * N + j, acc)


def _product(kernel, M=128, N=128, K=128, BM=64, BN=64, BK=64, **meta):
    a, b, c = small_ints(M, K, dtype=np.float16), small_ints(K, N, seed=1, dtype=np.float16), dw.poison((M, N))
    kernel[(M // BM, N // BN)](_gluon_descriptor(a, [BM, BK]), _gluon_descriptor(b, [BK, BN]), c, N=N, K=K, BM=BM, BN=BN, BK=BK, **meta)
    return Check(c, a.astype(np.float32) @ b.astype(np.float32))


@R.case(HOPPER)
def gluon_wgmma():
    return _product(wgmma_kernel)


@gluon.jit
def store_accumulator(acc, c, m, n, N: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr):
    value = acc.load()
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    value = gl.convert_layout(value, layout)
    i = m + gl.arange(0, BM, gl.SliceLayout(1, layout))[:, None]
    j = n + gl.arange(0, BN, gl.SliceLayout(0, layout))[None, :]
    gl.store(c + i * N + j, value)


@gluon.jit
def tcgen05_kernel(ad, bd, c, N: gl.constexpr, K: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, WAIT: gl.constexpr, EXTRA: gl.constexpr):
    a_smem = gl.allocate_shared_memory(ad.dtype, [BM, BK], ad.layout)
    b_smem = gl.allocate_shared_memory(bd.dtype, [BK, BN], bd.layout)
    acc = blackwell.allocate_tensor_memory(gl.float32, [BM, BN], blackwell.TensorMemoryLayout([BM, BN], col_stride=1))
    loaded = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(done, count=1)
    m, n = gl.program_id(0) * BM, gl.program_id(1) * BN
    phase = 0
    for k in range(0, K, BK):
        mbarrier.expect(loaded, ad.nbytes_per_cta + bd.nbytes_per_cta + EXTRA)
        tma.async_load(ad, [m, k], loaded, a_smem)
        tma.async_load(bd, [k, n], loaded, b_smem)
        mbarrier.wait(loaded, phase)
        blackwell.tcgen05_mma(a_smem, b_smem, acc, use_acc=k > 0, mbarriers=[done])
        if WAIT:
            mbarrier.wait(done, phase)
        phase ^= 1
    store_accumulator(acc, c, m, n, N, BM, BN)


@R.case(BLACKWELL)
def gluon_tcgen05():
    return _product(tcgen05_kernel, BM=128, WAIT=True, EXTRA=0)


@R.case(BLACKWELL)
def gluon_tcgen05_m64():
    return _product(tcgen05_kernel, BM=64, WAIT=True, EXTRA=0)


@gluon.jit
def tmem_kernel(x, y, M: gl.constexpr, N: gl.constexpr):
    tmem = blackwell.allocate_tensor_memory(gl.float32, [M, N], blackwell.TensorMemoryLayout([M, N], col_stride=1))
    layout: gl.constexpr = tmem.get_reg_layout()
    i = gl.arange(0, M, gl.SliceLayout(1, layout))[:, None]
    j = gl.arange(0, N, gl.SliceLayout(0, layout))[None, :]
    tmem.store(gl.load(x + i * N + j))
    gl.store(y + i * N + j, tmem.load(layout) + 1)


@R.case(BLACKWELL)
def gluon_tensor_memory_round_trip():
    x, y = floats(128, 64), dw.poison((128, 64))
    tmem_kernel[(1,)](x, y, M=128, N=64)
    return Check(y, x + 1)


@gluon.jit
def producer(xd, ring, full, empty, TILES: gl.constexpr, R: gl.constexpr, STAGES: gl.constexpr):
    for t in range(TILES):
        s = t % STAGES
        mbarrier.wait(empty.index(s), ((t // STAGES) & 1) ^ 1)
        mbarrier.expect(full.index(s), xd.nbytes_per_cta)
        tma.async_load(xd, [t * R, 0], full.index(s), ring.index(s))


@gluon.jit
def consumer(y, ring, full, empty, TILES: gl.constexpr, R: gl.constexpr, C: gl.constexpr, STAGES: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    total = gl.zeros([R, C], gl.float32, layout)
    for t in range(TILES):
        s = t % STAGES
        mbarrier.wait(full.index(s), (t // STAGES) & 1)
        total += ring.index(s).load(layout)
        mbarrier.arrive(empty.index(s), count=1)
    i = gl.arange(0, R, gl.SliceLayout(1, layout))[:, None]
    j = gl.arange(0, C, gl.SliceLayout(0, layout))[None, :]
    gl.store(y + i * C + j, total)


@gluon.jit
def specialized_kernel(xd, y, TILES: gl.constexpr, R: gl.constexpr, C: gl.constexpr, STAGES: gl.constexpr):
    ring = gl.allocate_shared_memory(xd.dtype, [STAGES, R, C], xd.layout)
    full = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    gl.warp_specialize([
        (consumer, (y, ring, full, empty, TILES, R, C, STAGES)),
        (producer, (xd, ring, full, empty, TILES, R, STAGES)),
    ], [1], [24])


@R.case()
def gluon_warp_specialized_ring():
    x, y = small_ints(6 * 32, 32), dw.poison((32, 32))
    specialized_kernel[(1,)](_gluon_descriptor(x, [32, 32]), y, TILES=6, R=32, C=32, STAGES=2)
    return Check(y, x.reshape(6, 32, 32).sum(0))


@pytest.mark.parametrize("fn, arch", R.parameters())
def test_gluon(fn, arch):
    check_case(fn, arch, dw.triton.simulate)


def line_of(function, text):
    """Line of this file in which `function` holds `text`."""
    source, first = inspect.getsourcelines(function.fn)
    return first + next(i for i, line in enumerate(source) if text in line)


def test_missing_wait_for_an_mma_is_found_with_its_line():
    with dw.triton.simulate(check="full") as s:
        _product(tcgen05_kernel, BM=128, N=64, WAIT=False, EXTRA=0)
    lines = {line for h in s.hazards if h.level == "error" for _, line in h.lines}
    assert line_of(tcgen05_kernel, "blackwell.tcgen05_mma(") in lines
    assert {h.code for h in s.hazards if h.level == "error"} & {"H7002", "H7001", "H7003"}


def test_too_many_expected_bytes_are_a_deadlock_with_the_line_of_the_wait():
    with pytest.raises(dw.Deadlock) as e, dw.triton.simulate() as s:
        _product(tcgen05_kernel, BM=128, N=64, WAIT=True, EXTRA=16)
    assert "16 bytes expected and not delivered" in str(e.value)
    assert f"test_gluon.py:{line_of(tcgen05_kernel, 'mbarrier.wait(loaded')}" in str(e.value)
    assert e.value.code == "F3601" and not s.launches


def test_consumer_that_never_frees_a_stage_is_a_deadlock():
    with pytest.raises(dw.Deadlock), dw.triton.simulate(driver="timed"):
        starved_kernel[(1,)](_gluon_descriptor(small_ints(6 * 32, 32), [32, 32]), dw.poison((32, 32)), TILES=6, R=32, C=32)


@gluon.jit
def starved_kernel(xd, y, TILES: gl.constexpr, R: gl.constexpr, C: gl.constexpr):
    ring = gl.allocate_shared_memory(xd.dtype, [1, R, C], xd.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.wait(bar, 0)
    gl.store(y + gl.arange(0, 32, gl.BlockedLayout([1], [32], [4], [0])), 0.0)


@gluon.jit
def out_of_bounds_kernel(x, y, B: gl.constexpr):
    i = gl.program_id(0) * B + gl.arange(0, B, gl.BlockedLayout([1], [32], [4], [0]))
    v = gl.load(x + i)
    gl.store(y + i, v)


def test_missing_mask_is_a_fault_with_its_line():
    y = dw.poison(1000)
    with pytest.raises(dw.Fault) as e, dw.triton.simulate():
        out_of_bounds_kernel[(4,)](floats(1000), y, B=256)
    assert e.value.file.endswith("/test_gluon.py") and e.value.line == line_of(out_of_bounds_kernel, "gl.load")
    assert (y.view(np.uint32) == 0xFFFFFFFF).all()  # a fault leaves arrays as they were


@gluon.jit
def racing_kernel(x, y, N: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    i = gl.arange(0, N, layout)
    gl.store(y + i, gl.load(x + i))
    gl.store(x + i, gl.load(y + (i + 32) % N))


def test_unsynchronised_neighbours_in_global_memory_are_found():
    with dw.triton.simulate(check="full") as s:
        racing_kernel[(1,)](floats(128), dw.poison(128), N=128)
    found = [h for h in s.hazards if h.code == "H7402"]
    assert found
    lines = {line for h in found for _, line in h.lines}
    assert {line_of(racing_kernel, "gl.store(y + i"), line_of(racing_kernel, "gl.store(x + i")} <= lines
