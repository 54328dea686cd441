"""Accesses behind a tensor and inside of the memory of PyTorch's allocator: the argument chooses a right program, or a wrong one."""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, out, n, MASK_LOAD: tl.constexpr, MASK_STORE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MASK_LOAD:
        value = tl.load(x + i, mask=i < n, other=0)
    else:
        value = tl.load(x + i)  # no mask
    if MASK_STORE:
        tl.store(out + i, 2 * value, mask=i < n)
    else:
        tl.store(out + i, 2 * value)  # no mask either


def run(n=1000, load=True, store=True):
    x, out = torch.ones(n, device="cuda"), torch.empty(n, device="cuda")
    double[(2,)](x, out, n, load, store, BLOCK=512)
    assert (out == 2).all()


def freed():
    """The tensor is gone, and its memory is free, when the kernel gets its address."""
    x, out = torch.ones(1000, device="cuda"), torch.empty(1000, device="cuda")

    class Address:
        dtype = torch.float32
        address = x.data_ptr()

        def data_ptr(self):
            return self.address

    stale = Address()
    del x
    double[(2,)](stale, out, 1000, True, True, BLOCK=512)


def graph():
    """What a captured graph uses belongs to its own pool, and PyTorch has it as free."""
    x, out = torch.zeros(1000, device="cuda"), torch.zeros(1000, device="cuda")
    double[(2,)](x, out, 1000, True, True, BLOCK=512)
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        y = x + 1
        double[(2,)](y, out, 1000, True, True, BLOCK=512)
        del y
    g.replay()
    torch.cuda.synchronize()
    assert (out == 2).all()


def views():
    """Parts of a tensor, tensors of a few bytes, one of many megabytes."""
    x, out = torch.ones(40, 1024, device="cuda"), torch.zeros(40, 1024, device="cuda")
    double[(2,)](x[3], out[39], 1024, False, False, BLOCK=512)
    double[(1,)](x[39, 1020:], out[39, 1020:], 4, False, False, BLOCK=4)
    large = torch.ones(1 << 22, device="cuda")
    double[(2,)](large[-1024:], out[0], 1024, False, False, BLOCK=512)
    tiny = torch.ones(3, device="cuda")
    double[(1,)](tiny, tiny, 3, True, True, BLOCK=4)


{"right": run, "views": views, "graph": graph, "load": lambda: run(load=False), "store": lambda: run(load=False, store=False), "freed": freed}[sys.argv[1]]()
