"""TileLang: element by element, and a pipelined matrix product, against PyTorch on the CPU."""

import tilelang
import tilelang.language as T
import torch


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
