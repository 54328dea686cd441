"""PyTorch's own operations while a stream is captured: each becomes a host function of the CUDA graph, which computes it anew at every replay."""

import ctypes

from drywell_boot import device

# Functions of graphs: CUDA calls them as long as the graph lives, and nothing says when it ends.
_functions = []


def span(t):
    """Address and bytes of the memory between a tensor's first and last element."""
    if t.numel() == 0:
        return t.data_ptr(), 0
    elements = 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride()))
    return t.data_ptr(), elements * t.element_size()


def tensors(torch, x):
    """The tensors of a value, in order, those in lists too."""
    if isinstance(x, torch.Tensor):
        yield x
    elif isinstance(x, (list, tuple)):
        for one in x:
            yield from tensors(torch, one)


class _Place:
    """Where a tensor of the device lies. It holds no tensor: the graph's memory pool counts those that live."""

    def __init__(self, t):
        self.address, self.bytes = span(t)
        self.shape, self.stride, self.dtype = t.shape, t.stride(), t.dtype

    def read_into(self, copy):
        if self.bytes:
            device.copy(copy.data_ptr(), self.address, self.bytes)

    def write(self, torch, copy):
        copy = copy.resolve_conj().resolve_neg()
        if copy.stride() != self.stride:
            copy = torch.empty_strided(self.shape, self.stride, dtype=self.dtype).copy_(copy)
        if self.bytes:
            device.copy(self.address, copy.data_ptr(), self.bytes)


def record(torch, pairs, written, out, result, compute):
    """Adds a call to the graph. `pairs`: tensors on the device and their copies; `written`: those that the call changes; `out` and `result`:
    what it returned on the host, and the same on the device."""
    read = [(_Place(original), copy) for original, copy in pairs]
    changed = [(_Place(original), copy) for original, copy in written]
    copies = [id(copy) for _, copy in pairs]
    places = [None if id(o) in copies or r.device.type != "cuda" else _Place(r) for o, r in zip(tensors(torch, out), tensors(torch, result))]

    def replay(_):
        with torch.no_grad():
            for place, copy in read:
                place.read_into(copy)
            again = compute()
            for place, copy in changed:
                place.write(torch, copy)
            for place, value in zip(places, tensors(torch, again)):
                if place is not None:
                    place.write(torch, value)

    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(replay)
    _functions.append(function)
    error = device.library().cuLaunchHostFunc(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), function, None)
    if error != 0:
        raise RuntimeError(f"drywell: an operation of PyTorch could not be added to the CUDA graph: CUDA error {error}")
