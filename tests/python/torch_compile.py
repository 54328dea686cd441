"""torch.compile with Inductor's Triton kernels against eager PyTorch on the CPU."""

import copy

import torch

torch.manual_seed(1)


def f(x, y):
    return torch.sin(x) * y + x.sum(dim=-1, keepdim=True)


def softmax(x):
    return torch.softmax(x, dim=-1)


def layer(x, w, b):
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), w, b)


def gelu(x):
    return torch.nn.functional.gelu(x) + torch.arange(x.shape[-1], device=x.device)


x, y = torch.randn(64, 200), torch.randn(64, 200)
w, b = torch.randn(200), torch.randn(200)
for fn, args in ((f, (x, y)), (softmax, (x,)), (layer, (x, w, b)), (gelu, (x,))):
    out = torch.compile(fn)(*(a.cuda() for a in args))
    torch.testing.assert_close(out.cpu(), fn(*args), rtol=1e-5, atol=1e-5)
# Benchmarks choose among templates and PyTorch's own product: without a clock, too, one of them is taken.
layers = torch.nn.Sequential(torch.nn.Linear(32, 16), torch.nn.SiLU())
tuned = torch.compile(copy.deepcopy(layers).cuda(), mode="max-autotune-no-cudagraphs")
with torch.no_grad():
    torch.testing.assert_close(tuned(x[:16, :32].contiguous().cuda()).cpu(), layers(x[:16, :32]), rtol=1e-3, atol=1e-3)
