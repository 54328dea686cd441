"""Products of block-scaled operands on the CPU, where PyTorch has none: for cuBLAS and torch._scaled_mm.

Operands are row-major, the second one transposed. Scale factors lie in blocks of 128 rows by 4 columns: element (r, c) at block
(r / 128, c / 4), place (r % 32, r / 32 % 4, c % 4) (docs/layout.md)."""

_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def _up(n, unit):
    return (n + unit - 1) // unit * unit


def _plain_scales(scales, rows, columns):
    high, wide = _up(rows, 128), _up(columns, 4)
    blocks = scales.reshape(-1)[: high * wide].reshape(high // 128, wide // 4, 32, 4, 4)
    return blocks.permute(0, 3, 2, 1, 4).reshape(high, wide)[:rows, :columns]


def _codes(torch, x):
    """Values of the operand without their scale: e2m1, two in a byte and the lower half first, or a type that PyTorch knows."""
    packed = (torch.uint8, getattr(torch, "float4_e2m1fn_x2", torch.uint8))
    if x.dtype not in packed:
        return x.float()
    table = torch.tensor(_E2M1 + tuple(-v for v in _E2M1))
    halves = x.contiguous().view(torch.uint8)
    return table[torch.stack((halves & 15, halves >> 4), dim=-1).reshape(halves.shape[0], -1).int()]


def values(x, scales):
    """The operand in binary32. Scales are e4m3 for 16 elements, or powers of two (e8m0) for 32."""
    import torch

    codes = _codes(torch, x)
    size = 16 if scales.dtype == torch.float8_e4m3fn else 32
    plain = _plain_scales(scales.view(torch.uint8).reshape(-1), codes.shape[0], codes.shape[1] // size)
    if size == 16:
        factors = plain.contiguous().view(torch.float8_e4m3fn).float()
    else:
        factors = (plain.int() - 127).float().exp2()
    return codes * factors.repeat_interleave(size, dim=1)


def product(a, b, a_scales, b_scales):
    """a times b transposed, in binary32."""
    return values(a, a_scales) @ values(b, b_scales).T
