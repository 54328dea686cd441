"""Scaled products of PyTorch (fp8, MXFP8, NVFP4; of groups), computed on the CPU, beside products of the same values in binary32."""

import torch

F8, E8 = torch.float8_e4m3fn, torch.float8_e8m0fnu
TENSOR, ROW, BLOCK16, BLOCK32, BLOCK128, SQUARE128 = range(6)
torch.manual_seed(0)


def matrix(*shape):
    return (torch.randn(shape) * 4).to(F8)


def in_blocks(scales):
    """(rows, columns) of a byte each, as the tensor core reads them: 128 rows by 4 columns in a block."""
    rows, cols = scales.shape
    high, wide = -(-rows // 128), -(-cols // 4)
    padded = torch.zeros(high * 128, wide * 4, dtype=torch.uint8)
    padded[:rows, :cols] = scales.view(torch.uint8)
    return padded.view(high, 4, 32, wide, 4).permute(0, 3, 2, 1, 4).reshape(-1).view(scales.dtype)


def powers(*shape):
    return torch.randint(124, 131, shape, dtype=torch.uint8).view(E8)


def wide(scales, size, high=1):
    return scales.float().repeat_interleave(size, 1).repeat_interleave(high, 0)


def same(got, values, rtol=1e-5):
    assert got.device.type == "cuda"
    torch.testing.assert_close(got.cpu().float(), values, rtol=rtol, atol=1e-3)


def on(*tensors):
    return [t.cuda() for t in tensors]


f32 = torch.float32
# One product: scales of the whole, of rows, of blocks of 32, of 128, of 128 by 128.
a, b = matrix(160, 256), matrix(96, 256)
x, y = a.float(), b.float()
whole, rows, columns = torch.tensor(0.5), torch.rand(160, 1) + 0.5, torch.rand(1, 96) + 0.5
ga, gb = on(a, b)
same(torch._scaled_mm(ga, gb.t(), *on(whole, whole), out_dtype=f32), x @ y.T / 4)
same(torch._scaled_mm(ga, gb.t(), *on(rows, columns), out_dtype=f32), (x * rows) @ (y.T * columns))
sa, sb = powers(160, 8), powers(96, 8)
expected = (x * wide(sa, 32)) @ (y * wide(sb, 32)).T
same(torch._scaled_mm(ga, gb.t(), *on(in_blocks(sa), in_blocks(sb)), out_dtype=f32), expected)
ra, rb, qb = torch.rand(160, 2) + 0.5, torch.rand(96, 2) + 0.5, torch.rand(1, 2) + 0.5
same(torch._scaled_mm(ga, gb.t(), *on(ra, rb.t()), out_dtype=f32), (x * wide(ra, 128)) @ (y * wide(rb, 128)).T)
same(torch._scaled_mm(ga, gb.t(), *on(ra, qb.t()), out_dtype=f32), (x * wide(ra, 128)) @ (y * wide(qb, 128, 96)).T)
second = torch.nn.functional
if hasattr(second, "scaled_mm"):
    kind, order = second.ScalingType, second.SwizzleType
    same(second.scaled_mm(ga, gb.t(), ra.cuda(), kind.BlockWise1x128, qb.t().cuda(), kind.BlockWise128x128, output_dtype=f32), (x * wide(ra, 128)) @ (y * wide(qb, 128, 96)).T)
    swizzled = [order.SWIZZLE_32_4_4] * 2
    given = on(in_blocks(sa), in_blocks(sb))
    same(second.scaled_mm(ga, gb.t(), given[0], kind.BlockWise1x32, given[1], kind.BlockWise1x32, *swizzled, output_dtype=f32), expected)
    if hasattr(second, "scaled_addmm_"):
        before = torch.ones(160, 96)
        summed = before.cuda()
        blocks = [given[0], kind.BlockWise1x32, given[1], kind.BlockWise1x32, *swizzled]
        same(second.scaled_addmm(summed, ga, gb.t(), *blocks, beta=2, alpha=0.5), 2 + expected / 2)
        second.scaled_addmm_(summed, ga, gb.t(), *blocks)
        same(summed, 1 + expected)
    # Two levels: a factor of the tensor beside those of 16 elements (NVFP4).
    e2m1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    codes = [torch.randint(0, 16, (n, 64)) for n in (160, 96)]
    packed = [(c[:, ::2] | c[:, 1::2] << 4).to(torch.uint8).view(torch.float4_e2m1fn_x2) for c in codes]
    s16 = [(torch.rand(n, 4) + 0.5).to(F8) for n in (160, 96)]
    both = [[in_blocks(s).cuda(), torch.tensor(f).cuda()] for s, f in zip(s16, (2.0, 0.25))]
    levels = [kind.BlockWise1x16, kind.TensorWise]
    got = second.scaled_mm(packed[0].cuda(), packed[1].cuda().t(), both[0], levels, both[1], levels, *swizzled, output_dtype=f32)
    same(got, (e2m1[codes[0]] * wide(s16[0], 16)) @ (e2m1[codes[1]] * wide(s16[1], 16)).T / 2)

# Groups of rows, of columns, of the sum; a batch.
offs, ends = torch.tensor([32, 32, 160], dtype=torch.int32).cuda(), [(0, 32), (32, 32), (32, 160)]
several, scales = matrix(3, 96, 256), torch.rand(3, 96) + 0.5
z = several.float() * scales[:, :, None]
per_row = rows.squeeze(1)
expected = torch.cat([(x * rows)[lo:hi] @ z[g].T for g, (lo, hi) in enumerate(ends)])
same(torch._scaled_grouped_mm(ga, several.cuda().transpose(1, 2), *on(per_row, scales), offs=offs, out_dtype=torch.bfloat16), expected, 1e-2)
expected = torch.cat([z[g] @ (x * rows)[lo:hi].T for g, (lo, hi) in enumerate(ends)], 1)
same(torch._scaled_grouped_mm(several.cuda(), ga.t(), *on(scales, per_row), offs=offs, out_dtype=torch.bfloat16), expected, 1e-2)
same(torch._scaled_grouped_mm(several.cuda(), several.cuda().transpose(1, 2), *on(scales, scales), out_dtype=torch.bfloat16), z @ z.transpose(1, 2), 1e-2)
along, of_a, of_b = torch.tensor([64, 256], dtype=torch.int32).cuda(), torch.rand(2 * 160) + 0.5, torch.rand(2 * 96) + 0.5
parts = [(x[:, lo:hi] * of_a[160 * g :][:160, None]) @ (y[:, lo:hi] * of_b[96 * g :][:96, None]).T for g, (lo, hi) in enumerate(((0, 64), (64, 256)))]
same(torch._scaled_grouped_mm(ga, gb.t(), *on(of_a, of_b), offs=along, out_dtype=torch.bfloat16), torch.stack(parts), 1e-2)
sm = [powers(hi - lo, 8) for lo, hi in ends]
sw = [powers(96, 8) for _ in ends]
expected = torch.cat([(x[lo:hi] * wide(sm[g], 32)) @ (several[g].float() * wide(sw[g], 32)).T for g, (lo, hi) in enumerate(ends)])
blocks = [torch.cat([in_blocks(s) for s in sm]).view(-1, 8), torch.stack([in_blocks(s) for s in sw])]
same(torch._scaled_grouped_mm(ga, several.cuda().transpose(1, 2), *on(*blocks), offs=offs, out_dtype=torch.bfloat16), expected, 1e-2)
sk = [[powers(n, (hi - lo) // 32) for lo, hi in ((0, 64), (64, 256))] for n in (160, 96)]
parts = [(x[:, lo:hi] * wide(sk[0][g], 32)) @ (y[:, lo:hi] * wide(sk[1][g], 32)).T for g, (lo, hi) in enumerate(((0, 64), (64, 256)))]
blocks = [torch.cat([in_blocks(s) for s in of]) for of in sk]
same(torch._scaled_grouped_mm(ga, gb.t(), *on(*blocks), offs=along, out_dtype=torch.bfloat16), torch.stack(parts), 1e-2)

assert torch.equal(ga, a.cuda()) and not torch.equal(ga, (a.float() + 1).to(F8).cuda())  # 8-bit floats have no CPU kernel
print("ok")
