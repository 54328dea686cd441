"""Gluon: gather and scatter by TMA, scaled products, tensor memory as an operand, specialised warps, pipelines of wgmma, clusters, shared atomics, im2col."""

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("triton")
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import ampere, blackwell, hopper
from triton.experimental.gluon.language.nvidia.blackwell import tma as btma
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma

import drywell as dw
from cases import BLACKWELL, HOPPER, Check, Registry, check_case, floats, rng, small_ints

R = Registry()
bf16, e4, e5 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


def desc(x, block, swz=None, cga=None):
    ty = {1: gl.int8, 2: gl.float16, 4: gl.float32}[x.itemsize]
    layout = gl.NVMMASharedLayout.get_default_for(block, ty) if cga is None else gl.NVMMASharedLayout.get_default_for(block, ty, cga_layout=cga)
    return dw.triton.descriptor(x, block, layout)


# --- gather/scatter by TMA with odd indices
@gluon.jit
def gs_kernel(xd, yd, idx, B: gl.constexpr, N: gl.constexpr, smem_l: gl.constexpr):
    smem = gl.allocate_shared_memory(xd.dtype, [B, N], smem_l)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    l: gl.constexpr = gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0]))
    i = gl.load(idx + gl.arange(0, B, l))
    mbarrier.expect(bar, B * N * 2)
    btma.async_gather(xd, i, 0, bar, smem)
    mbarrier.wait(bar, 0)
    v = smem.load(gl.BlockedLayout([1, 2], [4, 8], [4, 1], [1, 0]))
    gl.barrier()
    smem.store(v + v)
    hopper.fence_async_shared()
    btma.async_scatter(yd, i ^ 1, 0, smem)
    tma.store_wait(0)


@R.case(BLACKWELL)
def tma_gather_scatter():
    x, y = small_ints(64, 64, dtype=np.float16), np.zeros((64, 64), np.float16)
    idx = rng(3).permutation(64)[:32].astype(np.int32)
    sl = gl.NVMMASharedLayout.get_default_for([32, 64], gl.float16)
    lay = sl
    d = lambda a: dw.triton.descriptor(a, [1, 64], lay)
    gs_kernel[(1,)](d(x), d(y), idx, B=32, N=64, smem_l=sl)
    w = np.zeros_like(x)
    w[idx ^ 1] = 2 * x[idx]
    return Check(y, w)


# --- tcgen05 scaled
@gluon.jit
def scaled_kernel(
    a,
    b,
    sa,
    sb,
    c,
    M: gl.constexpr,
    N: gl.constexpr,
    KA: gl.constexpr,
    KB: gl.constexpr,
    S: gl.constexpr,
    FA: gl.constexpr,
    FB: gl.constexpr,
    la: gl.constexpr,
    lb: gl.constexpr,
    COPY: gl.constexpr,
):
    ld: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    av = gl.load(a + gl.arange(0, M, gl.SliceLayout(1, ld))[:, None] * KA + gl.arange(0, KA, gl.SliceLayout(0, ld))[None, :])
    bv = gl.load(b + gl.arange(0, N, gl.SliceLayout(1, ld))[:, None] * KB + gl.arange(0, KB, gl.SliceLayout(0, ld))[None, :])
    asm = gl.allocate_shared_memory(av.dtype, [M, KA], la, av)
    bsm = gl.allocate_shared_memory(bv.dtype, [N, KB], lb, bv)
    st: gl.constexpr = blackwell.TensorMemoryScalesLayout()
    sat = blackwell.allocate_tensor_memory(sa.dtype.element_ty, [M, S], st)
    sbt = blackwell.allocate_tensor_memory(sb.dtype.element_ty, [N, S], st)
    rl: gl.constexpr = sat.get_reg_layout()
    rlb: gl.constexpr = sbt.get_reg_layout()
    sat.store(gl.load(sa + gl.arange(0, M, gl.SliceLayout(1, rl))[:, None] * S + gl.arange(0, S, gl.SliceLayout(0, rl))[None, :]))
    sbt.store(gl.load(sb + gl.arange(0, N, gl.SliceLayout(1, rlb))[:, None] * S + gl.arange(0, S, gl.SliceLayout(0, rlb))[None, :]))
    acc = blackwell.allocate_tensor_memory(gl.float32, [M, N], blackwell.TensorMemoryLayout([M, N], col_stride=1))
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    hopper.fence_async_shared()
    blackwell.tcgen05_mma_scaled(asm, bsm.permute((1, 0)), acc, sat, sbt, FA, FB, use_acc=False, mbarriers=[bar])
    mbarrier.wait(bar, 0)
    v = gl.convert_layout(acc.load(), ld)
    gl.store(c + gl.arange(0, M, gl.SliceLayout(1, ld))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, ld))[None, :], v)


FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])


def scaled(fa, fb, nv=False, N=64, K=128):
    M = 128
    r = rng(3)

    def op(f, rows, mixed):
        if f == "e2m1":
            c = r.integers(0, 16, (rows, K))
            return (c[:, ::2] | c[:, 1::2] << 4).astype(np.uint8), FP4[c]
        x = r.integers(-4, 5, (rows, K)).astype({"e4m3": e4, "e5m2": e5}[f])
        return x, x.astype(float)

    a, av = op(fa, M, fa != fb)
    b, bv = op(fb, N, fa != fb)
    if nv:
        S = K // 16
        sa, sb = (r.integers(1, 4, (n, S)).astype(e4) for n in (M, N))
        fav, fbv = (np.repeat(s.astype(float), 16, 1) for s in (sa, sb))
    else:
        S = K // 32
        sa, sb = (r.integers(125, 130, (n, S)).astype(np.uint8) for n in (M, N))
        fav, fbv = (np.repeat(2.0 ** (s.astype(float) - 127), 32, 1) for s in (sa, sb))
    c = dw.poison((M, N))
    mixed = fa != fb
    la = gl.NVMMASharedLayout(128 if (fa == "e2m1" and mixed) or a.shape[1] >= 128 else a.shape[1], 8, rank=2, fp4_padded=(fa == "e2m1" and mixed))
    lb = gl.NVMMASharedLayout(128 if (fb == "e2m1" and mixed) or b.shape[1] >= 128 else b.shape[1], 8, rank=2, fp4_padded=(fb == "e2m1" and mixed))
    scaled_kernel[(1,)](a, b, sa, sb, c, M=M, N=N, KA=a.shape[1], KB=b.shape[1], S=S, FA=fa, FB=fb, la=la, lb=lb, COPY=False)
    return Check(c, (av * fav) @ (bv * fbv).T, 1e-6)


@R.case(BLACKWELL)
def tc_scaled_e4e5():
    return scaled("e4m3", "e5m2")


@R.case(BLACKWELL)
def tc_scaled_mxfp4():
    return scaled("e2m1", "e2m1")


@R.case(BLACKWELL)
def tc_scaled_nvfp4():
    return scaled("e2m1", "e2m1", nv=True, N=128)


@R.case(BLACKWELL)
def tc_scaled_mixed():
    return scaled("e2m1", "e4m3", N=128)


@R.case(BLACKWELL)
def tc_scaled_mixed_b():
    return scaled("e5m2", "e2m1", N=256)


# --- A in tensor memory, N 256, accumulate slices, f16 acc
@gluon.jit
def ts_kernel(a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, lb: gl.constexpr, HALF: gl.constexpr):
    ld: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    bv = gl.load(b + gl.arange(0, K, gl.SliceLayout(1, ld))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, ld))[None, :])
    bsm = gl.allocate_shared_memory(bv.dtype, [K, N], lb, bv)
    at = blackwell.allocate_tensor_memory(gl.float16, [M, K], blackwell.TensorMemoryLayout([M, K], col_stride=1))
    rl: gl.constexpr = at.get_reg_layout()
    at.store(gl.load(a + gl.arange(0, M, gl.SliceLayout(1, rl))[:, None] * K + gl.arange(0, K, gl.SliceLayout(0, rl))[None, :]))
    acc = blackwell.allocate_tensor_memory(gl.float32, [M, 2 * N], blackwell.TensorMemoryLayout([M, N], col_stride=1))
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=2)
    hopper.fence_async_shared()
    for h in gl.static_range(2):
        blackwell.tcgen05_mma(at.slice(0, K), bsm, acc.slice(h * N, N), use_acc=False)
        blackwell.tcgen05_mma(at.slice(0, K), bsm, acc.slice(h * N, N), use_acc=h == 1)
        blackwell.tcgen05_commit(bar)
    mbarrier.wait(bar, 0)
    for h in gl.static_range(2):
        v = gl.convert_layout(acc.slice(h * N, N).load(), ld)
        gl.store(c + gl.arange(0, M, gl.SliceLayout(1, ld))[:, None] * 2 * N + h * N + gl.arange(0, N, gl.SliceLayout(0, ld))[None, :], v)


@R.case(BLACKWELL)
def tc_a_in_tmem():
    M, N, K = 128, 64, 64
    a, b, c = small_ints(M, K, dtype=np.float16), small_ints(K, N, seed=1, dtype=np.float16), dw.poison((M, 2 * N))
    ts_kernel[(1,)](a, b, c, M=M, N=N, K=K, lb=gl.NVMMASharedLayout.get_default_for([K, N], gl.float16), HALF=False)
    p = a.astype(float) @ b.astype(float)
    return Check(c, np.concatenate([p, 2 * p], 1))


# --- warp specialised matmul on tcgen05: load, mma, epilogue
@gluon.jit
def l_part(ad, bd, asm, bsm, full, empty, KT: gl.constexpr, BK: gl.constexpr, S: gl.constexpr, m, n):
    for k in range(KT):
        s = k % S
        mbarrier.wait(empty.index(s), ((k // S) & 1) ^ 1)
        mbarrier.expect(full.index(s), ad.nbytes_per_cta + bd.nbytes_per_cta)
        tma.async_load(ad, [m, k * BK], full.index(s), asm.index(s))
        tma.async_load(bd, [n, k * BK], full.index(s), bsm.index(s))


@gluon.jit
def m_part(asm, bsm, full, empty, acc, done, KT: gl.constexpr, S: gl.constexpr):
    for k in range(KT):
        s = k % S
        mbarrier.wait(full.index(s), (k // S) & 1)
        blackwell.tcgen05_mma(asm.index(s), bsm.index(s).permute((1, 0)), acc, use_acc=k > 0, mbarriers=[empty.index(s)])
    blackwell.tcgen05_commit(done)


@gluon.jit
def e_part(cd, csm, acc, done, m, n):
    mbarrier.wait(done, 0)
    v = acc.load()
    csm.store(v.to(gl.float16))
    hopper.fence_async_shared()
    tma.async_store(cd, [m, n], csm)
    tma.store_wait(0)


@gluon.jit
def ws_kernel(ad, bd, cd, KT: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, S: gl.constexpr):
    asm = gl.allocate_shared_memory(ad.dtype, [S, BM, BK], ad.layout)
    bsm = gl.allocate_shared_memory(bd.dtype, [S, BN, BK], bd.layout)
    csm = gl.allocate_shared_memory(cd.dtype, [BM, BN], cd.layout)
    full = mbarrier.allocate_mbarrier(batch=S)
    empty = mbarrier.allocate_mbarrier(batch=S)
    done = mbarrier.allocate_mbarrier()
    for s in gl.static_range(S):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    mbarrier.init(done, count=1)
    acc = blackwell.allocate_tensor_memory(gl.float32, [BM, BN], blackwell.TensorMemoryLayout([BM, BN], col_stride=1))
    m, n = gl.program_id(0) * BM, gl.program_id(1) * BN
    gl.warp_specialize(
        [(e_part, (cd, csm, acc, done, m, n)), (l_part, (ad, bd, asm, bsm, full, empty, KT, BK, S, m, n)), (m_part, (asm, bsm, full, empty, acc, done, KT, S))],
        [1, 1],
        [24, 24],
    )


@R.case(BLACKWELL)
def tc_warp_specialised():
    M, N, K, BM, BN, BK = 256, 128, 320, 128, 64, 64
    a, b, c = small_ints(M, K, dtype=np.float16), small_ints(N, K, seed=1, dtype=np.float16), dw.poison((M, N), np.float16)
    ws_kernel[(2, 2)](desc(a, [BM, BK]), desc(b, [BN, BK]), desc(c, [BM, BN]), KT=5, BM=BM, BN=BN, BK=BK, S=3)
    return Check(c, (a.astype(float) @ b.astype(float).T).astype(np.float16))


# --- wgmma pipelined two outstanding, A in registers, fp8
@gluon.jit
def wg_kernel(ad, bd, c, N: gl.constexpr, KT: gl.constexpr, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, S: gl.constexpr, IK: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BN, IK])
    asm = gl.allocate_shared_memory(ad.dtype, [S, BM, BK], ad.layout)
    bsm = gl.allocate_shared_memory(bd.dtype, [S, BN, BK], bd.layout)
    bars = mbarrier.allocate_mbarrier(batch=S)
    for s in gl.static_range(S):
        mbarrier.init(bars.index(s), count=1)
    m, n = gl.program_id(0) * BM, gl.program_id(1) * BN
    for s in gl.static_range(S - 1):
        mbarrier.expect(bars.index(s), ad.nbytes_per_cta + bd.nbytes_per_cta)
        tma.async_load(ad, [m, s * BK], bars.index(s), asm.index(s))
        tma.async_load(bd, [n, s * BK], bars.index(s), bsm.index(s))
    acc = hopper.warpgroup_mma_init(gl.zeros([BM, BN], gl.float32, L))
    for k in range(KT):
        cs = k % S
        mbarrier.wait(bars.index(cs), (k // S) & 1)
        acc = hopper.warpgroup_mma(asm.index(cs), bsm.index(cs).permute((1, 0)), acc, is_async=True)
        nk = k + S - 1
        ns = nk % S
        acc = hopper.warpgroup_mma_wait(1, deps=[acc])
        acc = hopper.warpgroup_mma_init(acc)
        gl.barrier()
        mbarrier.expect(bars.index(ns), ad.nbytes_per_cta + bd.nbytes_per_cta, pred=nk < KT)
        tma.async_load(ad, [m, nk * BK], bars.index(ns), asm.index(ns), pred=nk < KT)
        tma.async_load(bd, [n, nk * BK], bars.index(ns), bsm.index(ns), pred=nk < KT)
    acc = hopper.warpgroup_mma_wait(0, deps=[acc])
    i = m + gl.arange(0, BM, gl.SliceLayout(1, L))[:, None]
    j = n + gl.arange(0, BN, gl.SliceLayout(0, L))[None, :]
    gl.store(c + i * N + j, acc)


def wg(dt, BK, IK, KT=6, S=4):
    M, N, BM, BN = 128, 128, 64, 64
    K = KT * BK
    a, b, c = small_ints(M, K, dtype=dt), small_ints(N, K, seed=1, dtype=dt), dw.poison((M, N))
    ty = {np.float16: gl.float16, bf16: gl.bfloat16, e4: gl.float8e4nv}[dt]
    d = lambda x, blk: dw.triton.descriptor(x, blk, gl.NVMMASharedLayout.get_default_for(blk, ty))
    wg_kernel[(2, 2)](d(a, [BM, BK]), d(b, [BN, BK]), c, N=N, KT=KT, BM=BM, BN=BN, BK=BK, S=S, IK=IK)
    return Check(c, a.astype(float) @ b.astype(float).T)


@R.case(HOPPER)
def wgmma_pipelined_f16():
    return wg(np.float16, 64, 16)


@R.case(HOPPER)
def wgmma_pipelined_e4m3():
    return wg(e4, 128, 32, KT=5, S=3)


@R.case(HOPPER)
def wgmma_pipelined_bf16():
    return wg(bf16, 32, 16, KT=7)


@gluon.jit
def wgr_kernel(a, bd, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr):
    L: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, N, 16])
    D: gl.constexpr = gl.DotOperandLayout(0, L, 2)
    bsm = gl.allocate_shared_memory(bd.dtype, [K, N], bd.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, bd.nbytes_per_cta)
    tma.async_load(bd, [0, 0], bar, bsm)
    av = gl.load(a + gl.arange(0, M, gl.SliceLayout(1, D))[:, None] * K + gl.arange(0, K, gl.SliceLayout(0, D))[None, :])
    mbarrier.wait(bar, 0)
    acc = hopper.warpgroup_mma(av * 2, bsm, gl.zeros([M, N], gl.float32, L))
    gl.store(c + gl.arange(0, M, gl.SliceLayout(1, L))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, L))[None, :], acc)


@R.case(HOPPER)
def wgmma_a_in_registers():
    a, b, c = small_ints(64, 64, dtype=np.float16), small_ints(64, 128, seed=1, dtype=np.float16), dw.poison((64, 128))
    wgr_kernel[(1,)](a, desc(b, [64, 128]), c, M=64, N=128, K=64)
    return Check(c, 2 * a.astype(float) @ b.astype(float))


# --- clusters: multicast load, cluster barrier, dsmem by convert_layout / reduce across CTAs
@gluon.jit
def clus_kernel(xd, y, R_: gl.constexpr, C: gl.constexpr, L: gl.constexpr):
    smem = gl.allocate_shared_memory(xd.dtype, [R_, C], xd.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    gl.barrier(cluster=True)
    mbarrier.expect(bar, xd.nbytes_per_cta)
    tma.async_load(xd, [0, 0], bar, smem, multicast=True)
    mbarrier.wait(bar, 0)
    v = smem.load(L)
    gl.barrier(cluster=True)
    i = gl.arange(0, R_, gl.SliceLayout(1, L))[:, None]
    j = gl.arange(0, C, gl.SliceLayout(0, L))[None, :]
    gl.store(y + i * C + j, v + gl.sum(v, 0)[None, :] * 0 + gl.max(v, 1)[:, None])


@R.case()
def cluster_split_rows():
    x, y = small_ints(128, 32), dw.poison((128, 32))
    L = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=[[1, 0]])
    clus_kernel[(1,)](desc(x, [128, 32], cga=[[1, 0]]), y, R_=128, C=32, L=L, num_ctas=2)
    return Check(y, x + x.max(1, keepdims=True))


@R.case()
def cluster_multicast_columns():
    x, y = small_ints(64, 32), dw.poison((64, 32))
    L = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=[[0, 0]])
    clus_kernel[(1,)](desc(x, [64, 32], cga=[[0, 0]]), y, R_=64, C=32, L=L, num_ctas=2)
    return Check(y, x + x.max(1, keepdims=True))


@gluon.jit
def xcta_kernel(x, y, A: gl.constexpr, B: gl.constexpr, L: gl.constexpr, L2: gl.constexpr):
    i = gl.arange(0, A, gl.SliceLayout(1, L))[:, None]
    j = gl.arange(0, B, gl.SliceLayout(0, L))[None, :]
    v = gl.load(x + i * B + j)
    t = gl.sum(v, 0)
    u = gl.sum(v, 1)
    w = gl.convert_layout(v, L2)
    i2 = gl.arange(0, A, gl.SliceLayout(1, L2))[:, None]
    j2 = gl.arange(0, B, gl.SliceLayout(0, L2))[None, :]
    gl.store(y + i2 * B + j2, w + gl.convert_layout(t, gl.SliceLayout(0, L2))[None, :] + gl.convert_layout(u, gl.SliceLayout(1, L2))[:, None])


@R.case()
def reduce_across_cluster():
    x, y = small_ints(64, 64), dw.poison((64, 64))
    L = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=[[1, 0], [2, 0]])
    L2 = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=[[0, 1], [1, 0]])
    xcta_kernel[(1,)](x, y, A=64, B=64, L=L, L2=L2, num_ctas=4)
    return Check(y, x + x.sum(0)[None] + x.sum(1)[:, None])


# --- shared memory gather/scatter/atomics, slices, reinterpret
@gluon.jit
def sh_kernel(x, idx, y, h, N: gl.constexpr, BINS: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    S: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    i = gl.arange(0, N, L)
    v = gl.load(x + i)
    k = gl.load(idx + i)
    sm = gl.allocate_shared_memory(gl.float32, [N], S, v)
    gl.store(y + i, sm.gather(k, 0))
    gl.barrier()
    sm.scatter(v * 2, k, 0)
    gl.barrier()
    gl.store(y + N + i, sm.load(L))
    b = gl.arange(0, BINS, L)
    hs = gl.allocate_shared_memory(gl.int32, [BINS], S, gl.zeros([BINS], gl.int32, L))
    hs.atomic_scatter_add(k * 0 + 1, k % BINS, 0, mask=k % 3 != 0)
    gl.barrier()
    gl.store(h + b, hs.load(L))


@R.case()
def shared_gather_scatter_atomic():
    x, k = floats(256), rng(1).permutation(256).astype(np.int32)
    y, h = dw.poison((2, 256)), dw.poison(128, np.int32)
    sh_kernel[(1,)](x, k, y, h, N=256, BINS=128)
    w = np.empty_like(x)
    w[k] = 2 * x
    return [Check(y[0], x[k]), Check(y[1], w), Check(h, np.bincount((k % 128)[k % 3 != 0], minlength=128))]


# --- cp.async ring with mbarrier arrive
@gluon.jit
def cpring(x, y, T: gl.constexpr, N: gl.constexpr, S: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    SL: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    i = gl.arange(0, N, L)
    ring = gl.allocate_shared_memory(gl.float32, [S, N], SL)
    bars = mbarrier.allocate_mbarrier(batch=S)
    for s in gl.static_range(S):
        mbarrier.init(bars.index(s), count=128)
    for s in gl.static_range(S - 1):
        ampere.async_copy.async_load(ring.index(s), x + s * N + i)
        ampere.async_copy.mbarrier_arrive(bars.index(s), increment_count=False)
    acc = gl.zeros([N], gl.float32, L)
    for t in range(T):
        mbarrier.wait(bars.index(t % S), (t // S) & 1)
        acc += ring.index(t % S).load(L) * (t + 1).to(gl.float32)
        gl.barrier()
        u = t + S - 1
        if u < T:
            ampere.async_copy.async_load(ring.index(u % S), x + u * N + i)
            ampere.async_copy.mbarrier_arrive(bars.index(u % S), increment_count=False)
    gl.store(y + i, acc)


@R.case()
def cp_async_mbarrier_ring():
    x, y = small_ints(7, 512), dw.poison(512)
    cpring[(1,)](x, y, T=7, N=512, S=3)
    return Check(y, (x * np.arange(1, 8)[:, None]).sum(0))


# --- tmem load_max (103?), packed arithmetic, tcgen05_copy of scales
@gluon.jit
def packed(x, y, o, N: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([2], [32], [4], [0])
    i = gl.arange(0, N, L)
    a, b = gl.load(x + i), gl.load(y + i)
    gl.store(o + i, blackwell.fma2(a, b, blackwell.add2(a, blackwell.mul2(b, b))))
    gl.store(o + N + i, blackwell.sub2(a, b))


@R.case(BLACKWELL)
def packed_f32():
    x, y, o = small_ints(512), small_ints(512, seed=1), dw.poison((2, 512))
    packed[(1,)](x, y, o, N=512)
    return [Check(o[0], x * y + x + y * y), Check(o[1], x - y)]


@gluon.jit
def fp4up(x, o, M: gl.constexpr, N: gl.constexpr):
    L: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    i = gl.arange(0, M, gl.SliceLayout(1, L))[:, None]
    j = gl.arange(0, N, gl.SliceLayout(0, L))[None, :]
    v = gl.fp4_to_fp(gl.load(x + i * N + j), gl.bfloat16, 1)
    L2: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    i2 = gl.arange(0, M, gl.SliceLayout(1, L2))[:, None]
    j2 = gl.arange(0, 2 * N, gl.SliceLayout(0, L2))[None, :]
    gl.store(o + i2 * 2 * N + j2, gl.convert_layout(v, L2))


@R.case()
def fp4_to_bf16():
    c = rng(2).integers(0, 256, (32, 64)).astype(np.uint8)
    o = dw.poison((32, 128), bf16)
    fp4up[(1,)](c, o, M=32, N=64)
    return Check(o.astype(float), np.stack([FP4[c & 15], FP4[c >> 4]], -1).reshape(32, 128))


@gluon.jit
def im2col_kernel(xd, y, PIXELS: gl.constexpr, C: gl.constexpr, KH: gl.constexpr, KW: gl.constexpr):
    """All taps of one column of pixels: y[tap, pixel, channel]."""
    layout: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    smem = gl.allocate_shared_memory(xd.dtype, [PIXELS, C], xd.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    i = gl.arange(0, PIXELS, gl.SliceLayout(1, layout))[:, None] * C + gl.arange(0, C, gl.SliceLayout(0, layout))[None, :]
    for t in gl.static_range(KH * KW):
        mbarrier.expect(bar, xd.nbytes_per_cta)
        tma.async_load_im2col(xd, [0, -1, -1, 0], [t // KW, t % KW], bar, smem)
        mbarrier.wait(bar, t % 2)
        gl.store(y + t * PIXELS * C + i, smem.load(layout))
        gl.barrier()


@R.case()
def im2col_of_a_padded_image():
    """A 3 x 3 convolution with padding 1: corners -1 and -1, as PyTorch unfolds the image."""
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptorIm2Col

    n, h, w, c = 2, 4, 8, 32
    x, y = small_ints(n, h, w, c), dw.poison((9, n * h * w, c))
    layout = gl.NVMMASharedLayout.get_default_for([n * h * w, c], gl.float32)
    t = dw.triton.tensor(x)
    d = TensorDescriptorIm2Col(t, list(x.shape), list(t.stride()), [n * h * w, c], layout, pixel_box_lower_corner=[-1, -1], pixel_box_upper_corner=[-1, -1])
    im2col_kernel[(1,)](d, y, PIXELS=n * h * w, C=c, KH=3, KW=3)
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    want = [padded[:, i : i + h, j : j + w].reshape(n * h * w, c) for i in range(3) for j in range(3)]
    return Check(y, np.stack(want))


# --- loads of tensor memory that reduce (tcgen05.ld.red, sm_103a), and a part of it
@gluon.jit
def tmem_extremes(x, greatest, nearest, y, M: gl.constexpr, N: gl.constexpr):
    t = blackwell.allocate_tensor_memory(gl.float32, [M, N], blackwell.TensorMemoryLayout([M, N], col_stride=1))
    L: gl.constexpr = t.get_reg_layout()
    t.store(gl.load(x + gl.arange(0, M, gl.SliceLayout(1, L))[:, None] * N + gl.arange(0, N, gl.SliceLayout(0, L))[None, :]))
    _, a = t.load_max()
    _, b = t.load_min(abs=True)
    rows: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    gl.store(greatest + gl.arange(0, M, rows), gl.convert_layout(a, rows))
    gl.store(nearest + gl.arange(0, M, rows), gl.convert_layout(b, rows))
    half = t.slice(N // 2, N // 2)
    H: gl.constexpr = half.get_reg_layout()
    gl.store(y + gl.arange(0, M, gl.SliceLayout(1, H))[:, None] * (N // 2) + gl.arange(0, N // 2, gl.SliceLayout(0, H))[None, :], half.load())


@R.case(("sm_103a",))
def tmem_loads_that_reduce():
    x = floats(128, 64, seed=2)
    greatest, nearest, y = dw.poison(128), dw.poison(128), dw.poison((128, 32))
    tmem_extremes[(1,)](x, greatest, nearest, y, M=128, N=64)
    return [Check(greatest, x.max(1)), Check(nearest, np.abs(x).min(1)), Check(y, x[:, 32:])]


@pytest.mark.parametrize("fn, arch", R.parameters())
def test_right(fn, arch):
    check_case(fn, arch, dw.triton.simulate)


def test_the_padding_of_codes_of_four_bits_may_hold_anything():
    """As in test_triton_precision.py, with a tensor in shared memory that Gluon stores."""
    with dw.triton.simulate(check="full") as s:
        tc_scaled_mixed()
    assert not [h.text for h in s.hazards if h.code == "H7501"]
