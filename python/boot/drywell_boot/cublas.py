"""The cuBLAS of Triton's tutorials (triton._C.libtriton.nvidia.cublas), computed by PyTorch on the CPU.

The library is machine code, which cannot be simulated. Operands are row-major, the second one transposed."""

from drywell_boot import block_scaled, device


class CublasLt:
    def __init__(self, workspace):
        device.say("cuBLAS is machine code: PyTorch computes its products on the CPU")

    def matmul(self, a, b, c):
        c.copy_((a.cpu().float() @ b.cpu().float().T).to(c.dtype))

    def gemm(self, a, b, c, d, alpha, beta):
        d.copy_((alpha * (a.cpu().float() @ b.cpu().float().T) + beta * c.cpu().float()).to(d.dtype))

    def block_scaled_matmul_mxfp8(self, a, b, out, a_scale, b_scale):
        out.copy_(block_scaled.product(a.cpu(), b.cpu(), a_scale.cpu(), b_scale.cpu()).to(out.dtype))

    block_scaled_matmul_nvfp4 = block_scaled_matmul_mxfp8
