"""Scaled products of PyTorch on the CPU, in binary32: torch._scaled_mm, _scaled_mm_v2, _scaled_grouped_mm and its second version.

PyTorch's CPU kernels take one scale for each operand or one for each row; CUDA's take one for each block, too, and groups. A product here is
that of two matrices with rows along the sum, the first operand and the second one transposed, after each is multiplied by its scales."""

from drywell_boot import block_scaled

_TENSOR, _ROW, _BLOCK16, _BLOCK32, _BLOCK128, _SQUARE128 = range(6)  # torch.nn.functional.ScalingType
_SIZE = {_BLOCK16: 16, _BLOCK32: 32, _BLOCK128: 128, _SQUARE128: 128}


def _cols(torch, x):
    """Elements in a row: two in a byte of e2m1."""
    return x.shape[-1] * (2 if x.dtype in (torch.uint8, getattr(torch, "float4_e2m1fn_x2", torch.uint8)) else 1)


def _recipe(torch, scales, rows, cols):
    """What the first versions do not say: the kind of scales, by their type and number."""
    if scales.element_size() == 1:
        return _BLOCK16 if scales.dtype == torch.float8_e4m3fn else _BLOCK32
    n = scales.numel()
    if n == 1:
        return _TENSOR
    blocks = -(-cols // 128)
    return _ROW if n == rows else _BLOCK128 if n == rows * blocks else _SQUARE128


def _padded(recipe, rows, cols):
    """Bytes of scales in blocks of 128 rows by 4 columns."""
    return block_scaled._up(rows, 128) * block_scaled._up(-(-cols // _SIZE[recipe]), 4)


def _factors(torch, scales, recipe, rows, cols, swizzled):
    """Scales as a matrix that multiplies one of (rows, cols)."""
    if recipe == _TENSOR:
        return scales.float().reshape(1, 1)
    if recipe == _ROW:
        return scales.float().reshape(rows, 1)
    size = _SIZE[recipe]
    wide = -(-cols // size)
    if recipe == _SQUARE128:
        high = -(-rows // size)
        plain = scales.float().reshape(high, wide).repeat_interleave(size, dim=0)[:rows]
    elif recipe == _BLOCK128 or not swizzled:
        plain = scales.reshape(-1)[: rows * wide].reshape(rows, wide).float()
    else:
        plain = block_scaled._plain_scales(scales.contiguous().view(torch.uint8), rows, wide).contiguous().view(scales.dtype).float()
    return plain.repeat_interleave(size, dim=1)[:, :cols]


def _values(torch, x, scales, recipes, swizzled):
    out = block_scaled._codes(torch, x)
    for one, recipe in zip(scales, recipes):
        out = out * _factors(torch, one, recipe, *out.shape, swizzled)
    return out


def _of_second(scales, recipes):
    """Scales of the second operand, which are given for it as it is, for its transpose."""
    return [s.t() if s.dim() == 2 and r in (_BLOCK128, _SQUARE128) else s for s, r in zip(scales, recipes)]


def _finish(out, bias, dtype):
    return (out if bias is None else out + bias.float()).to(dtype)


def product(torch, a, b, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, bias=None, out_dtype=None, contraction_dim=(), use_fast_accum=False):
    """torch._scaled_mm_v2"""
    left = _values(torch, a, scale_a, recipe_a, any(swizzle_a))
    right = _values(torch, b.t(), _of_second(scale_b, recipe_b), recipe_b, any(swizzle_b))
    return _finish(left @ right.T, bias, out_dtype or a.dtype)


def sum_and_product(torch, c, a, b, *scales, contraction_dim=(), beta=1, alpha=1, use_fast_accum=False):
    """torch._scaled_addmm"""
    return (beta * c.float() + alpha * product(torch, a, b, *scales[:6], out_dtype=torch.float32)).to(c.dtype)


def add_product(torch, c, *args, **kwargs):
    """torch._scaled_addmm_"""
    return c.copy_(sum_and_product(torch, c, *args, **kwargs))


class Product:
    """torch._scaled_mm: by PyTorch's kernel where it takes the scales."""

    def __init__(self, torch, op):
        self.torch, self.op, self._schema = torch, op, op._schema

    def __call__(self, a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, *rest, **more):
        kinds = [_recipe(self.torch, s, x.shape[0], _cols(self.torch, x)) for s, x in ((scale_a, a), (scale_b, b.t()))]
        if set(kinds) <= {_TENSOR, _ROW}:
            return self.op(a, b, scale_a, scale_b, bias, scale_result, out_dtype, *rest, **more)
        return product(self.torch, a, b, [scale_a], kinds[:1], [1], [scale_b], kinds[1:], [1], bias, out_dtype)


def _ranges(offs, count):
    ends = [int(e) for e in offs] if offs is not None else [0] * count
    return list(zip([0, *ends[:-1]], ends))


class _Scales:
    """One operand's scales, group by group. Those in blocks of a group begin at a block."""

    def __init__(self, torch, scales, recipes, swizzled):
        self.torch, self.scales, self.recipes, self.swizzled, self.at = torch, scales, recipes, swizzled, 0

    def _one(self, s, recipe, group, part, rows, cols, shared):
        if recipe == _TENSOR:
            return s.reshape(-1)[group] if s.numel() > 1 else s
        if not shared:
            return s[group] if part != "sum" else s.reshape(-1)[group * rows : (group + 1) * rows]
        if recipe == _ROW:
            return s.reshape(-1)[shared[0] : shared[1]]
        begin, self.at = self.at, self.at + _padded(recipe, rows, cols)
        return s.reshape(-1)[begin : self.at]

    def values(self, x, group, part, shared):
        rows, cols = x.shape[0], _cols(self.torch, x)
        given = []
        for s, r in zip(self.scales, self.recipes):
            blocked = r not in (_TENSOR, _ROW)
            given.append(self._one(s, r, group, part, rows, cols, shared or ((0, 0) if part == "sum" and blocked else None)))
        return _values(self.torch, x, given, self.recipes, self.swizzled)


def grouped(torch, a, b, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, offs=None, bias=None, out_dtype=None, contraction_dim=(), use_fast_accum=False):
    """torch._scaled_grouped_mm_v2: `offs` divides the rows of a, the columns of b, or, of two matrices, the sum."""
    left, right = _Scales(torch, scale_a, recipe_a, any(swizzle_a)), _Scales(torch, scale_b, recipe_b, any(swizzle_b))
    count = len(offs) if offs is not None else a.shape[0]
    packed = _cols(torch, a) // a.shape[-1]
    parts = []
    for g, (lo, hi) in enumerate(_ranges(offs, count)):
        both = a.dim() == 2 and b.dim() == 2
        k = slice(lo // packed, hi // packed) if both else slice(None)
        x = a[:, k] if both else a[lo:hi] if a.dim() == 2 else a[g]
        y = b[k] if both else b[:, lo:hi] if b.dim() == 2 else b[g]
        along = "sum" if both else "rows"
        v = left.values(x, g, along, (lo, hi) if a.dim() == 2 and not both else None)
        w = right.values(y.transpose(0, 1), g, along, (lo, hi) if b.dim() == 2 and not both else None)
        parts.append(v @ w.T)
    if a.dim() == b.dim():
        out = torch.stack(parts)
    else:
        out = torch.cat(parts, dim=0 if a.dim() == 2 else 1)
        missing = (a.shape[0] if a.dim() == 2 else b.shape[1]) - (out.shape[0] if a.dim() == 2 else out.shape[1])
        if missing:  # behind the last group: the kernels of CUDA write nothing there
            shape = (missing, out.shape[1]) if a.dim() == 2 else (out.shape[0], missing)
            out = torch.cat((out, out.new_zeros(shape)), dim=0 if a.dim() == 2 else 1)
    return _finish(out, bias, out_dtype or torch.bfloat16)


def grouped_first(torch, a, b, scale_a, scale_b, offs=None, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    """torch._scaled_grouped_mm: scales of rows in binary32, or in blocks."""

    def kind(s):
        return _ROW if s.element_size() == 4 else _BLOCK16 if s.dtype == torch.float8_e4m3fn else _BLOCK32

    return grouped(torch, a, b, [scale_a], [kind(scale_a)], [1], [scale_b], [kind(scale_b)], [1], offs, bias, out_dtype)
