"""TileLang: element by element, and a pipelined matrix product, against PyTorch on the CPU; benchmarks and the autotuner."""

import math
import os

import tilelang
import tilelang.language as T
import torch
from tilelang.profiler import do_bench


@tilelang.jit(out_idx=[-1])
def matmul(M, N, K, bM, bN, bK, dtype="float16", acc="float"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, bN), T.ceildiv(M, bM), threads=128) as (bx, by):
            As = T.alloc_shared((bM, bK), dtype)
            Bs = T.alloc_shared((bK, bN), dtype)
            Cl = T.alloc_fragment((bM, bN), acc)
            T.clear(Cl)
            for k in T.Pipelined(T.ceildiv(K, bK), num_stages=2):
                T.copy(A[by * bM, k * bK], As)
                T.copy(B[k * bK, bx * bN], Bs)
                T.gemm(As, Bs, Cl)
            T.copy(Cl, C[by * bM, bx * bN])

    return main


@tilelang.jit(out_idx=[-1])
def add(N):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32"), C: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 256), threads=128) as bx:
            for i in T.Parallel(256):
                C[bx * 256 + i] = A[bx * 256 + i] + B[bx * 256 + i]

    return main


x, y = torch.randn(1024), torch.randn(1024)
torch.testing.assert_close(add(1024)(x.cuda(), y.cuda()).cpu(), x + y)
a, b = torch.randint(-3, 4, (256, 128)).half(), torch.randint(-3, 4, (128, 256)).half()
c = matmul(256, 256, 128, 128, 128, 64)(a.cuda(), b.cuda())
torch.testing.assert_close(c.cpu().float(), a.float() @ b.float())

# Benchmarks call once and give the predicted time; the autotuner compares predicted times, or takes the first configuration.
timed = "driver=timed" in os.environ["DRYWELL_EXEC"]
sum_of, once = add(1024), []


def call():
    once.append(sum_of(x.cuda(), y.cuda()))


ms, several = do_bench(call, backend="cupti"), do_bench(call, quantiles=[0.2, 0.8])
assert len(once) == 2 and len(several) == 2
assert 0 < ms < 0.1 and several == [ms] * 2 if timed else math.isnan(ms), (ms, several)
assert sum_of.get_profiler().do_bench() == ms or not timed


@tilelang.autotune(configs=[{"threads": 32}, {"threads": 256}])
@tilelang.jit(out_idx=[-1])
def twice(N, threads=64):
    @T.prim_func
    def main(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, 4096), threads=threads) as bx:
            for i in T.Parallel(4096):
                B[bx * 4096 + i] = 2 * A[bx * 4096 + i]

    return main


best, z = twice(65536), torch.randn(65536)
torch.testing.assert_close(best(z.cuda()).cpu(), 2 * z)
assert best.config == {"threads": 256 if timed else 32}, (best.config, best.latency)
