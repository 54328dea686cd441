"""The cuBLAS of Triton's tutorials (triton._C.libtriton.nvidia.cublas), computed by PyTorch on the CPU.

The library is machine code, which cannot be simulated. Operands are row-major, the second one transposed; scale factors are
in blocks of 128 rows by 4 columns (docs/layout.md)."""

from drywell_boot import device

_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def _plain_scales(scales, rows, columns):
    """Scale factors in the order of their rows: element (r, c) lies at block (r / 128, c / 4), place (r % 32, r / 32 % 4, c % 4)."""
    blocks = scales.reshape(rows // 128, columns // 4, 32, 4, 4)
    return blocks.permute(0, 3, 2, 1, 4).reshape(rows, columns)


class CublasLt:
    def __init__(self, workspace):
        device.say("cuBLAS is machine code: PyTorch computes its products on the CPU")

    def matmul(self, a, b, c):
        c.copy_((a.cpu().float() @ b.cpu().float().T).to(c.dtype))

    def gemm(self, a, b, c, d, alpha, beta):
        d.copy_((alpha * (a.cpu().float() @ b.cpu().float().T) + beta * c.cpu().float()).to(d.dtype))

    def block_scaled_matmul_mxfp8(self, a, b, out, a_scale, b_scale):
        def values(x, scale):
            powers = _plain_scales(scale.cpu().view(-1), x.shape[0], x.shape[1] // 32)
            return x.cpu().float() * (powers.int() - 127).float().exp2().repeat_interleave(32, dim=1)

        out.copy_((values(a, a_scale) @ values(b, b_scale).T).to(out.dtype))

    def block_scaled_matmul_nvfp4(self, a, b, out, a_scale, b_scale):
        import torch

        table = torch.tensor(_E2M1 + tuple(-v for v in _E2M1))

        def values(x, scale):
            codes = x.cpu().view(torch.uint8)
            codes = torch.stack((codes & 15, codes >> 4), dim=-1).reshape(codes.shape[0], -1)
            scales = _plain_scales(scale.cpu().view(-1), codes.shape[0], codes.shape[1] // 16)
            return table[codes.int()] * scales.float().repeat_interleave(16, dim=1)

        out.copy_((values(a, a_scale) @ values(b, b_scale).T).to(out.dtype))
