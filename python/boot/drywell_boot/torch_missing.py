"""Operations of PyTorch that have a kernel for CUDA and none for the CPU, written with others: they are called with copies on the host.

Among them are what torch.nn.RMSNorm, LSTM, GRU and convolutions of single channels run on a GPU. Work spaces that one operation leaves for
its derivative have a form of their own: nothing else reads them."""


from drywell_boot import scaled_products


def _of(x, like):
    return x.to(like.dtype)


def _rms_norm_backward(torch, grad, x, shape, rstd, weight, mask):
    g, values, over = grad.float(), x.float(), tuple(range(x.dim() - len(shape), x.dim()))
    scaled, weighted = values * rstd.float(), g if weight is None else g * weight.float()
    dx = rstd.float() * (weighted - scaled * (weighted * scaled).mean(over, keepdim=True))
    dw = (g * scaled).sum(tuple(range(x.dim() - len(shape)))) if x.dim() > len(shape) else g * scaled
    return _of(dx, x) if mask[0] else None, _of(dw, weight) if mask[1] and weight is not None else None


def _dropout(torch, x, keep, generator=None):
    mask = torch.bernoulli(torch.full_like(x, keep, dtype=torch.float32)).to(torch.uint8)
    return x * mask / keep, mask


def _conv_depthwise2d(torch, x, weight, kernel_size, bias, stride, padding, dilation):
    return torch.nn.functional.conv2d(x, weight, bias, stride, padding, dilation, x.shape[1])


def _conv_depthwise3d(torch, x, weight, kernel_size, bias, stride, padding, dilation):
    return torch.nn.functional.conv3d(x, weight, bias, stride, padding, dilation, x.shape[1])


def _lstm_cell(torch, input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    sums = input_gates + hidden_gates + (0 if input_bias is None else input_bias + hidden_bias)
    i, f, g, o = sums.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat((i, f, g, o), 1)


def _lstm_cell_backward(torch, grad_hy, grad_cy, cx, cy, workspace, has_bias):
    i, f, g, o = workspace.chunk(4, 1)
    t = cy.tanh()
    gh = torch.zeros_like(cy) if grad_hy is None else grad_hy
    gc = gh * o * (1 - t * t) + (0 if grad_cy is None else grad_cy)
    gates = torch.cat((gc * g * i * (1 - i), gc * cx * f * (1 - f), gc * i * (1 - g * g), gh * t * o * (1 - o)), 1)
    return gates, gc * f, gates.sum(0)


def _gru_cell(torch, input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
    a, b = (input_gates, hidden_gates) if input_bias is None else (input_gates + input_bias, hidden_gates + hidden_bias)
    (r, z, n), (rh, zh, nh) = a.chunk(3, 1), b.chunk(3, 1)
    r, z = (r + rh).sigmoid(), (z + zh).sigmoid()
    n = (n + r * nh).tanh()
    return n + z * (hx - n), torch.cat((r, z, n, hx, nh), 1)


def _gru_cell_backward(torch, grad_hy, workspace, has_bias):
    r, z, n, hx, nh = workspace.chunk(5, 1)
    gz, gn = grad_hy * (hx - n) * (1 - z) * z, grad_hy * (1 - z) * (1 - n * n)
    gr = gn * nh * (1 - r) * r
    input_gates, hidden_gates = torch.cat((gr, gz, gn), 1), torch.cat((gr, gz, gn * r), 1)
    return input_gates, hidden_gates, grad_hy * z, input_gates.sum(0), hidden_gates.sum(0)


def _product(torch, a, b, out_dtype):
    return (a.float() @ b.float()).to(out_dtype)


def _sum_and_product(torch, c, a, b, out_dtype, *, beta=1, alpha=1):
    return (beta * c.float() + alpha * (a.float() @ b.float())).to(out_dtype)


def _into_out(function):
    """The form of an operation that writes its result into `out`."""

    def call(torch, *args, out, **kwargs):
        result = function(torch, *args, **kwargs)
        return out.resize_(result.shape).copy_(result)

    return call


def _softmax(torch, x, dim, half_to_float):
    """Of halves with a result in float32, which CUDA's kernels give at once (`softmax(x, -1, dtype=torch.float32)`, autocast)."""
    return torch.ops.aten._softmax.default(x.float() if half_to_float else x, dim, False)


def _log_softmax(torch, x, dim, half_to_float):
    return torch.ops.aten._log_softmax.default(x.float() if half_to_float else x, dim, False)


def _softmax_backward(torch, grad, output, dim, input_dtype):
    return torch.ops.aten._softmax_backward_data.default(grad, output, dim, grad.dtype).to(input_dtype)


def _log_softmax_backward(torch, grad, output, dim, input_dtype):
    return torch.ops.aten._log_softmax_backward_data.default(grad, output, dim, grad.dtype).to(input_dtype)


def wider(torch, op, args, kwargs, refusal):
    """An operation whose CPU kernel lacks a type that CUDA's has: of halves in float32, which CUDA's computes in, too, and of 8-bit floats (equal);
    of integers (histc) in float64."""
    given = [t for a in (*args, *kwargs.values()) for t in (a if isinstance(a, (list, tuple)) else [a]) if isinstance(t, torch.Tensor)]
    narrow = (torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)
    halves = dict.fromkeys(narrow, torch.float32)
    wide = halves if any(t.dtype in halves for t in given) else {t: torch.float64 for t in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)}
    pairs = [(t, t.to(wide[t.dtype])) for t in given if t.dtype in wide]
    if not pairs:
        raise refusal

    def each(f, x):
        return type(x)(f(one) for one in x) if isinstance(x, (list, tuple)) else f(x)

    def there(x):
        return next((copy for own, copy in pairs if own is x), x)

    def back(x):
        if not isinstance(x, torch.Tensor):
            return x
        own = next((own for own, copy in pairs if copy is x), None)
        return own if own is not None else x.to(pairs[0][0].dtype) if x.dtype == pairs[0][1].dtype else x

    try:
        result = op(*(each(there, a) for a in args), **{k: each(there, v) for k, v in kwargs.items()})
    except (NotImplementedError, RuntimeError):
        raise refusal from None
    for own, copy in pairs:  # what the operation changed
        if not torch.equal(own.to(copy.dtype), copy):
            own.copy_(copy)
    return each(back, result)


_WRITTEN = {
    "aten::_softmax": _softmax,
    "aten::_log_softmax": _log_softmax,
    "aten::_softmax_backward_data": _softmax_backward,
    "aten::_log_softmax_backward_data": _log_softmax_backward,
    "aten::_fused_rms_norm_backward": _rms_norm_backward,
    "aten::_fused_dropout": _dropout,
    "aten::_conv_depthwise2d": _conv_depthwise2d,
    "aten::conv_depthwise3d": _conv_depthwise3d,
    "aten::_thnn_fused_lstm_cell": _lstm_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "aten::_thnn_fused_gru_cell": _gru_cell,
    "aten::_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "aten::_scaled_mm_v2": scaled_products.product,
    "aten::_scaled_addmm": scaled_products.sum_and_product,
    "aten::_scaled_addmm.out": _into_out(scaled_products.sum_and_product),
    "aten::_scaled_addmm_": scaled_products.add_product,
    "aten::_scaled_grouped_mm": scaled_products.grouped_first,
    "aten::_scaled_grouped_mm_v2": scaled_products.grouped,
    "aten::_scaled_grouped_mm_v2.out": _into_out(scaled_products.grouped),
    "aten::mm.dtype": _product,
    "aten::bmm.dtype": _product,
    "aten::addmm.dtype": _sum_and_product,
    "aten::baddbmm.dtype": _sum_and_product,
    "aten::mm.dtype_out": _into_out(_product),
    "aten::bmm.dtype_out": _into_out(_product),
    "aten::addmm.dtype_out": _into_out(_sum_and_product),
    "aten::baddbmm.dtype_out": _into_out(_sum_and_product),
}


class _Written:
    """In place of an operation's overload: it has the overload's schema."""

    def __init__(self, torch, op, function):
        self.torch, self.function, self._schema = torch, function, op._schema

    def __call__(self, *args, **kwargs):
        return self.function(self.torch, *args, **kwargs)


def operations(torch, overload_of):
    """Names and replacements of those that this PyTorch has; overload_of(name) finds an overload."""
    known = set(torch._C._dispatch_get_all_op_names())
    return {name: _Written(torch, overload_of(name), function) for name, function in _WRITTEN.items() if name in known}
