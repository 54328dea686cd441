"""Wrong kernels in Triton and Gluon, each found at its line, and their right twins, silent under every driver and ten seeds."""

import inspect

import numpy as np
import pytest

pytest.importorskip("triton")
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import ampere, blackwell, hopper
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

import drywell as dw

PAIRS = []
TRITON = {"H7202", "H7218"}  # what Triton itself writes where a kernel loads tensor memory (docs/hazards.md)
DRIVERS = ["eager", "lazy", "timed"] + [f"shuffled:{seed}" for seed in range(1, 11)]


def pair(kernel, code, here, arch="sm_100a"):
    def add(launch):
        PAIRS.append(pytest.param(launch, kernel, code, here, arch, id=launch.__name__))
        return launch

    return add


@triton.jit
def shift_kernel(x, N: tl.constexpr, WRONG: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + (i + 1) % N)
    if not WRONG:
        tl.debug_barrier()
    tl.store(x + i, v)


@pair(shift_kernel, "H7402", "tl.store(x + i")
def shift_in_place(wrong):
    shift_kernel[(1,)](np.arange(128, dtype=np.float32), N=128, WRONG=wrong)


@triton.jit
def locked_kernel(x, total, lock, N: tl.constexpr, WRONG: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + tl.program_id(0) * N + i)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + i, tl.load(total + i) + v)
    if WRONG:
        tl.atomic_xchg(lock, 0, sem="relaxed")
    else:
        tl.debug_barrier()
        tl.atomic_xchg(lock, 0)


@pair(locked_kernel, "H7402", "tl.store(total + i")
def lock_without_release(wrong):
    locked_kernel[(4,)](np.ones(512, np.float32), np.zeros(128, np.float32), np.zeros(1, np.int32), N=128, WRONG=wrong)


@triton.jit
def last_program_kernel(x, partial, count, out, N: tl.constexpr, G: tl.constexpr, WRONG: tl.constexpr):
    tl.store(partial + tl.program_id(0), tl.sum(tl.load(x + tl.program_id(0) * N + tl.arange(0, N))))
    if WRONG:
        done = tl.atomic_add(count, 1, sem="relaxed")
    else:
        tl.debug_barrier()
        done = tl.atomic_add(count, 1)
    if done == G - 1:
        tl.store(out, tl.sum(tl.load(partial + tl.arange(0, G))))


@pair(last_program_kernel, "H7402", "tl.load(partial")
def last_program_sums(wrong):
    last_program_kernel[(4,)](np.ones(512, np.float32), np.zeros(4, np.float32), np.zeros(1, np.int32), np.zeros(1, np.float32), N=128, G=4, WRONG=wrong)


@gluon.jit
def staging_kernel(x, yd, B: gl.constexpr, WRONG: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    i = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None]
    j = gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    smem = gl.allocate_shared_memory(yd.dtype, [B, B], yd.layout)
    for k in range(2):
        smem.store(gl.load(x + (k * B + i) * B + j))
        hopper.fence_async_shared()
        gl.barrier()
        tma.async_store(yd, [k * B, 0], smem)
        if not WRONG:
            tma.store_wait(0)
    tma.store_wait(0)


@pair(staging_kernel, "H7003", "smem.store(")
def staging_buffer_reused(wrong):
    y = np.zeros((64, 32), np.float32)
    layout = gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32)
    staging_kernel[(1,)](np.ones((64, 32), np.float32), dw.triton.descriptor(y, [32, 32], layout), B=32, WRONG=wrong)


@gluon.jit
def product_kernel(xd, y, B: gl.constexpr, WRONG: gl.constexpr):
    a = gl.allocate_shared_memory(xd.dtype, [B, B], xd.layout)
    acc = blackwell.allocate_tensor_memory(gl.float32, [B, B], blackwell.TensorMemoryLayout([B, B], col_stride=1))
    loaded = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(done, count=1)
    mbarrier.expect(loaded, xd.nbytes_per_cta)
    tma.async_load(xd, [0, 0], loaded, a)
    mbarrier.wait(loaded, 0)
    blackwell.tcgen05_mma(a, a.permute((1, 0)), acc, use_acc=False, mbarriers=[done])
    if not WRONG:
        mbarrier.wait(done, 0)
    layout: gl.constexpr = acc.get_reg_layout()
    i = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None]
    j = gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    gl.store(y + i * B + j, acc.load(layout))
    if WRONG:
        mbarrier.wait(done, 0)


@pair(product_kernel, "H7201", "acc.load(layout)")
def accumulator_read_early(wrong):
    x = np.ones((128, 128), np.float16)
    layout = gl.NVMMASharedLayout.get_default_for([128, 128], gl.float16)
    product_kernel[(1,)](dw.triton.descriptor(x, [128, 128], layout), np.zeros((128, 128), np.float32), B=128, WRONG=wrong)


@gluon.jit
def two_groups_kernel(x, y, N: gl.constexpr, LEFT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    shared: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    i = gl.arange(0, N, layout)
    a = gl.allocate_shared_memory(gl.float32, [N], shared)
    b = gl.allocate_shared_memory(gl.float32, [N], shared)
    ampere.async_copy.async_load(a, x + i)
    ampere.async_copy.commit_group()
    ampere.async_copy.async_load(b, x + N + i)
    ampere.async_copy.commit_group()
    ampere.async_copy.wait_group(LEFT)
    gl.store(y + i, a.load(layout) + b.load(layout))
    ampere.async_copy.wait_group(0)


@pair(two_groups_kernel, "H7005", "b.load(layout)")
def one_group_left(wrong):
    two_groups_kernel[(1,)](np.ones(1024, np.float32), np.zeros(512, np.float32), N=512, LEFT=1 if wrong else 0)


@gluon.jit
def feed(xd, ring, full, empty, TILES: gl.constexpr, R: gl.constexpr):
    for t in range(TILES):
        mbarrier.wait(empty, (t & 1) ^ 1)
        mbarrier.expect(full, xd.nbytes_per_cta)
        tma.async_load(xd, [t * R, 0], full, ring)


@gluon.jit
def drain(y, ring, full, empty, TILES: gl.constexpr, R: gl.constexpr, WRONG: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    total = gl.zeros([R, R], gl.float32, layout)
    for t in range(TILES):
        mbarrier.wait(full, t & 1)
        if WRONG:
            mbarrier.arrive(empty, count=1)
        total += ring.load(layout)
        if not WRONG:
            mbarrier.arrive(empty, count=1)
    i = gl.arange(0, R, gl.SliceLayout(1, layout))[:, None]
    j = gl.arange(0, R, gl.SliceLayout(0, layout))[None, :]
    gl.store(y + i * R + j, total)


@gluon.jit
def roles_kernel(xd, y, TILES: gl.constexpr, R: gl.constexpr, WRONG: gl.constexpr):
    ring = gl.allocate_shared_memory(xd.dtype, [R, R], xd.layout)
    full = mbarrier.allocate_mbarrier()
    empty = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.init(empty, count=1)
    gl.warp_specialize([(drain, (y, ring, full, empty, TILES, R, WRONG)), (feed, (xd, ring, full, empty, TILES, R))], [1], [24])


@pair(feed, "H7006", "tma.async_load(")
def freed_before_it_is_read(wrong):
    x = np.ones((128, 32), np.float32)
    layout = gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32)
    roles_kernel[(1,)](dw.triton.descriptor(x, [32, 32], layout), np.zeros((32, 32), np.float32), TILES=4, R=32, WRONG=wrong)


# Reported in public repositories, made small: triton-lang/triton#9887.
@triton.jit
def two_loops_kernel(x, c, y, N: tl.constexpr, WRONG: tl.constexpr):
    i = tl.arange(0, N)
    for k in range(2):
        tl.store(c + k * N + i, tl.maximum(tl.load(x + k * N + i), 0.0))
    if not WRONG:
        tl.debug_barrier()
    total = tl.zeros([N], tl.float32)
    for k in range(2):
        total += tl.load(c + k * N + (N - 1 - i))
    tl.store(y + i, total)


@pair(two_loops_kernel, "H7402", "tl.load(c + k")
def two_loops(wrong):
    two_loops_kernel[(1,)](np.arange(512, dtype=np.float32), np.zeros(512, np.float32), np.zeros(256, np.float32), N=256, WRONG=wrong)


# facebookexperimental/CUTracer#106.
@gluon.jit
def late_wait_kernel(ad, bd, y, B: gl.constexpr, WRONG: gl.constexpr):
    a = gl.allocate_shared_memory(ad.dtype, [B, B], ad.layout)
    b = gl.allocate_shared_memory(bd.dtype, [B, B], bd.layout)
    full_a = mbarrier.allocate_mbarrier()
    full_b = mbarrier.allocate_mbarrier()
    mbarrier.init(full_a, count=1)
    mbarrier.init(full_b, count=1)
    mbarrier.expect(full_a, ad.nbytes_per_cta)
    tma.async_load(ad, [0, 0], full_a, a)
    mbarrier.expect(full_b, bd.nbytes_per_cta)
    tma.async_load(bd, [0, 0], full_b, b)
    mbarrier.wait(full_b, 0)
    if not WRONG:
        mbarrier.wait(full_a, 0)
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], warps_per_cta=[4, 1], instr_shape=[16, B, 16])
    acc = hopper.warpgroup_mma(a, b, gl.zeros([B, B], gl.float32, layout), use_acc=False, is_async=True)
    acc = hopper.warpgroup_mma_wait(0, deps=[acc])
    if WRONG:
        mbarrier.wait(full_a, 0)
    i = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None]
    j = gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    gl.store(y + i * B + j, acc)


@pair(late_wait_kernel, "H7001", "hopper.warpgroup_mma(a", "sm_90a")
def late_wait(wrong):
    x = np.ones((64, 64), np.float16)
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    a, b = (dw.triton.descriptor(x, [64, 64], layout) for _ in range(2))
    late_wait_kernel[(1,)](a, b, np.zeros((64, 64), np.float32), B=64, WRONG=wrong)


# ROCm/triton#745.
@triton.jit
def partial_kernel(x, p, lock, y, N: tl.constexpr, WRONG: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + tl.program_id(0) * N + i)
    if tl.program_id(0) == 1:
        tl.store(p + i, v, cache_modifier=".wt")
        if WRONG:
            tl.atomic_xchg(lock, 1, sem="relaxed")
        else:
            tl.debug_barrier()
            tl.atomic_xchg(lock, 1)
    else:
        while tl.atomic_cas(lock, 1, 1) != 1:
            pass
        tl.store(y + i, v + tl.load(p + i))


@pair(partial_kernel, "H7402", "tl.load(p + i)")
def partial_behind_lock(wrong):
    partial_kernel[(2,)](np.ones(512, np.float32), np.zeros(256, np.float32), np.zeros(1, np.int32), np.zeros(256, np.float32), N=256, WRONG=wrong)


# triton-lang/triton#3106.
@gluon.jit
def one_operand_single_kernel(ad, bd, y, B: gl.constexpr, WRONG: gl.constexpr):
    a = gl.allocate_shared_memory(ad.dtype, [2, B, B], ad.layout)
    b = gl.allocate_shared_memory(bd.dtype, [B, B], bd.layout)
    acc = blackwell.allocate_tensor_memory(gl.float32, [B, B], blackwell.TensorMemoryLayout([B, B], col_stride=1))
    loaded = mbarrier.allocate_mbarrier()
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(loaded, count=1)
    mbarrier.init(done, count=1)
    for k in range(2):
        if not WRONG and k > 0:
            mbarrier.wait(done, 0)
        mbarrier.expect(loaded, ad.nbytes_per_cta + bd.nbytes_per_cta)
        tma.async_load(ad, [k * B, 0], loaded, a.index(k))
        tma.async_load(bd, [k * B, 0], loaded, b)
        mbarrier.wait(loaded, k)
        blackwell.tcgen05_mma(a.index(k), b, acc, use_acc=(k > 0), mbarriers=[done])
    mbarrier.wait(done, 1)
    layout: gl.constexpr = acc.get_reg_layout()
    i = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None]
    j = gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    gl.store(y + i * B + j, acc.load(layout))


@pair(one_operand_single_kernel, "H7002", "tma.async_load(bd")
def one_operand_single(wrong):
    x = np.ones((256, 128), np.float16)
    layout = gl.NVMMASharedLayout.get_default_for([128, 128], gl.float16)
    a, b = (dw.triton.descriptor(x, [128, 128], layout) for _ in range(2))
    one_operand_single_kernel[(1,)](a, b, np.zeros((128, 128), np.float32), B=128, WRONG=wrong)


# flagos-ai/FlagTree#1166.
@gluon.jit
def one_store_left_kernel(x, yd, B: gl.constexpr, LEFT: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    i = gl.arange(0, B, gl.SliceLayout(1, layout))[:, None]
    j = gl.arange(0, B, gl.SliceLayout(0, layout))[None, :]
    smem = gl.allocate_shared_memory(yd.dtype, [2, B, B], yd.layout)
    for k in range(4):
        tma.store_wait(LEFT)
        smem.index(k % 2).store(gl.load(x + (k * B + i) * B + j))
        hopper.fence_async_shared()
        gl.barrier()
        tma.async_store(yd, [k * B, 0], smem.index(k % 2))
    tma.store_wait(0)


@pair(one_store_left_kernel, "H7003", "store(gl.load(")
def one_store_left(wrong):
    y = np.zeros((128, 32), np.float32)
    layout = gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32)
    one_store_left_kernel[(1,)](np.ones((128, 32), np.float32), dw.triton.descriptor(y, [32, 32], layout), B=32, LEFT=2 if wrong else 1)


def line_of(function, text):
    source, first = inspect.getsourcelines(function.fn)
    return first + next(i for i, line in enumerate(source) if text in line)


@pytest.mark.parametrize("launch, kernel, code, here, arch", PAIRS)
def test_the_wrong_one_is_found_at_its_line(launch, kernel, code, here, arch):
    with dw.triton.simulate(check="full", arch=arch) as s:
        launch(True)
    lines = {line for h in s.hazards if h.code == code for _, line in h.lines}
    assert line_of(kernel, here) in lines, [(h.code, h.level, h.lines) for h in s.hazards]


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("launch, arch", [pytest.param(p.values[0], p.values[4], id=p.id) for p in PAIRS])
def test_the_right_one_is_silent(launch, arch, driver):
    with dw.triton.simulate(check="full", arch=arch, driver=driver) as s:
        launch(False)
    assert not {h.code for h in s.hazards} - TRITON, [(h.code, h.level, h.lines) for h in s.hazards]
