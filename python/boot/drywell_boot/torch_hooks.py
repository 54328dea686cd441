"""PyTorch: its own operations on CUDA tensors are computed by its CPU kernels, on copies.

The kernels inside PyTorch are machine code, which cannot be simulated. Every operation of ATen that has a kernel for the CPU
and one for CUDA gets another at the CUDA key, below autograd: it copies the arguments to the host, calls the operation there,
and copies results and changed arguments back. Memory, streams and events take PyTorch's own way to the simulated device, and
so do the kernels of Triton and others. Random numbers are therefore those of the CPU's generator.
"""


from drywell_boot import device, scaled_products, torch_capture, torch_missing, torch_pools

# Operations whose CUDA implementation starts no kernel: memory, views, and reading one element.
_NATIVE = {
    "aten::empty.memory_format",
    "aten::empty_strided",
    "aten::_local_scalar_dense",
    "aten::set_",
    "aten::set_.source_Storage",
    "aten::set_.source_Storage_storage_offset",
    "aten::set_.source_Tensor",
    "aten::resize_",
    "aten::record_stream",
    "aten::is_pinned",
    "aten::_pin_memory",
    "aten::_has_compatible_shallow_copy_type",
    "aten::is_set_to",
}


class _Copies:
    """Copies of one call's CUDA tensors on the host, with the same sizes and strides."""

    def __init__(self, torch):
        self.torch = torch
        self.pairs = []

    def host(self, t):
        torch = self.torch
        if isinstance(t, torch.Generator):
            return None
        if isinstance(t, torch.device):
            return torch.device("cpu") if t.type == "cuda" else t
        if not isinstance(t, torch.Tensor) or t.device.type != "cuda":
            return t
        for original, copy in self.pairs:
            if original is t:
                return copy
        address, count = torch_capture.span(t)
        block = torch.empty(max(count, t.element_size()) // t.element_size(), dtype=t.dtype, device="cpu")
        if count:
            device.copy(block.data_ptr(), address, count)
        copy = block.as_strided(t.shape, t.stride())
        # These bits are flags of the tensor, not of its memory.
        if t.is_conj():
            copy = torch._C._conj(copy) if hasattr(torch._C, "_conj") else copy.conj()
        if t.is_neg():
            copy = torch._neg_view(copy)
        self.pairs.append((t, copy))
        return copy

    def to_device(self, copy, target):
        """Returns a new tensor on the device, or the argument that `copy` is a copy of."""
        for original, known in self.pairs:
            if known is copy:
                return original
        if copy.device.type != "cpu" or copy.layout != self.torch.strided:
            return copy
        out = self.torch.empty_strided(copy.shape, copy.stride(), dtype=copy.dtype, device=target)
        self.write(copy.resolve_conj().resolve_neg(), out)
        return out

    def write(self, copy, original, only_shape=False):
        if copy.shape != original.shape:  # an `out` tensor that the operation resized
            original.resize_(copy.shape)
        if only_shape:
            return
        if copy.stride() != original.stride():
            copy = self.torch.empty_strided(original.shape, original.stride(), dtype=copy.dtype).copy_(copy)
        address, count = torch_capture.span(original)
        if count:
            device.copy(address, copy.data_ptr(), count)


# Batch norm changes these, and the schemas of its older operations (aten::native_batch_norm) do not say so.
_STATISTICS = ("running_mean", "running_var")


def _mutated(schema):
    """Positions and names of the arguments that an operation changes."""
    return [(i, a.name) for i, a in enumerate(schema.arguments) if a.name in _STATISTICS or (a.alias_info is not None and a.alias_info.is_write)]


def _map(f, x):
    if isinstance(x, (list, tuple)):
        return type(x)(_map(f, one) for one in x) if not hasattr(x, "_fields") else type(x)(*(_map(f, one) for one in x))
    return f(x)


def _on_cpu(torch, name, op):
    changed = _mutated(op._schema)
    overloads = getattr(torch.ops.aten, name[len("aten::") :].partition(".")[0])
    tensors = {i for i, a in enumerate(op._schema.arguments) if str(a.type) == "Tensor"}

    def compute(host_args, host_kwargs):
        # PyTorch hands a number of the program to a kernel in Python as a number, also where the schema has a tensor.
        number = any(i in tensors and not isinstance(a, torch.Tensor) for i, a in enumerate(host_args))
        chosen = overloads if number else op
        try:
            return chosen(*host_args, **host_kwargs)
        except (NotImplementedError, RuntimeError) as e:
            if "not implemented for" not in str(e):
                raise
            return torch_missing.wider(torch, chosen, host_args, host_kwargs, e)

    def call(*args, **kwargs):
        device.say("PyTorch's own operations are computed by PyTorch on the CPU; they take no simulated time")
        copies = _Copies(torch)
        host_args = [_map(copies.host, a) for a in args]
        host_kwargs = {k: _map(copies.host, v) for k, v in kwargs.items()}
        out = compute(host_args, host_kwargs)
        given = [args[i] if i < len(args) else kwargs.get(name) for i, name in changed]
        written = [(original, copy) for t in torch_capture.tensors(torch, given) for original, copy in copies.pairs if original is t]
        target = torch.device("cuda", torch.cuda.current_device())
        capturing = torch.cuda.is_current_stream_capturing()
        for original, copy in written:
            copies.write(copy, original, only_shape=capturing)
        result = _map(lambda x: copies.to_device(x, target) if isinstance(x, torch.Tensor) else x, out)
        if capturing:
            torch_capture.record(torch, copies.pairs, written, out, result, lambda: compute(host_args, host_kwargs))
        return result

    return call


def _is_view(schema):
    return any(a.alias_info is not None and not a.alias_info.is_write for a in schema.returns)


def _overload(torch, name):
    packet, _, overload = name[len("aten::") :].partition(".")
    return getattr(getattr(torch.ops.aten, packet), overload or "default")


def _operations(torch):
    """Names and overloads of the operations to replace."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    for name in torch._C._dispatch_get_all_op_names():
        if not name.startswith("aten::") or name in _NATIVE or not has(name, "CUDA"):
            continue
        if not any(has(name, key) for key in ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd")):
            continue
        op = _overload(torch, name)
        if not _is_view(op._schema):
            yield name, op


def torch(module):
    """Called when a program has imported torch."""
    if not module.backends.cuda.is_built():  # cuda.is_available() would keep children of fork() from the device
        return
    library = module.library.Library("aten", "IMPL")
    names = dict(_operations(module))
    copy = module.ops.aten.copy_.default
    names.setdefault("aten::copy_", copy)
    names["aten::_scaled_mm"] = scaled_products.Product(module, names["aten::_scaled_mm"])
    names.update(torch_missing.operations(module, lambda name: _overload(module, name)))
    for name, op in names.items():
        _replace(library, name, _on_cpu(module, name, op))
    torch_pools.watch(module)
    _without_cudnn(module)
    _attention(module, library)
    module._drywell_library = library  # lives as long as torch


def _without_cudnn(torch):
    """Convolutions take cuDNN, machine code that brings its own CUDA runtime; without it they are made of operations that have CPU kernels."""
    torch.backends.cudnn.enabled = False

    def refuse(enabled):
        if enabled:
            device.say("cuDNN stays off: it is machine code for a GPU")

    torch._C._set_cudnn_enabled = refuse
    vars(type(torch.backends.cudnn))["enabled"].setter = refuse


def _attention(torch, library):
    """The fused forms of attention are machine code for CUDA alone, also where a program asks for one (`sdpa_kernel`): the other one is made of
    ordinary operations, and autograd follows them."""
    for fused in ("flash", "mem_efficient", "cudnn"):
        getattr(torch.backends.cuda, f"enable_{fused}_sdp", lambda enabled: None)(False)
    written_out = torch.ops.aten._scaled_dot_product_attention_math

    def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
        return written_out(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)[0]

    for at in ("CUDA", "AutogradCUDA"):
        _replace(library, "aten::scaled_dot_product_attention", attention, at)


def _replace(library, name, function, key="CUDA"):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library.impl(name[len("aten::") :], function, key)
