"""PyTorch's own operations on CUDA tensors, computed by its CPU kernels, beside a kernel of Triton on the same memory."""

import copy
import os

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


def same(a, b):
    assert a.device.type == "cuda"
    torch.testing.assert_close(a.cpu(), b, rtol=0, atol=0)


# Until CUDA is used, a child may be forked that uses it.
child = os.fork()
if child == 0:
    works = torch.ones(4, device="cuda").sum().item() == 4
    os._exit(0 if works else 1)
assert os.waitpid(child, 0)[1] == 0
torch.manual_seed(0)
host = torch.randn(48, 40)
x = host.cuda()
assert torch.cuda.get_device_capability() == (10, 0)
same(x + 1, host + 1)
same(x.t() @ x, host.t() @ host)
same(x[5:9, ::3], host[5:9, ::3])
same(x[torch.tensor([3, 1], device="cuda")], host[[3, 1]])
same(torch.cat([x, x.half().float()]), torch.cat([host, host.half().float()]))
same(x.sort(dim=1).values, host.sort(dim=1).values)
same(torch.where(x > 0, x, 0.0), torch.where(host > 0, host, 0.0))
same((torch.arange(40, device="cuda", dtype=torch.uint8) >> 3) & 1, (torch.arange(40, dtype=torch.uint8) >> 3) & 1)
assert x.sum().item() == host.sum().item()
# In place, through a view, into `out`, and of several tensors at once.
a, b = x.clone(), host.clone()
a[2:4] *= 3
b[2:4] *= 3
torch.add(a, 1, out=a)
torch.add(b, 1, out=b)
torch._foreach_add_([a, a], 2.0)
torch._foreach_add_([b, b], 2.0)
same(a, b)
# Autograd and an optimizer.
layers = [torch.nn.Linear(40, 8), torch.nn.Linear(40, 8).cuda()]
layers[1].load_state_dict(layers[0].state_dict())
for layer, data in zip(layers, (host, x)):
    optimizer = torch.optim.AdamW(layer.parameters())
    layer(data).square().mean().backward()
    optimizer.step()
same(layers[1].weight.detach(), layers[0].weight.detach())
# Convolutions do not take cuDNN, forward or backward.
convolutions = [torch.nn.Conv2d(3, 4, 3, stride=2, padding=1), torch.nn.Conv2d(3, 4, 3, stride=2, padding=1).cuda()]
convolutions[1].load_state_dict(convolutions[0].state_dict())
image = torch.randn(2, 3, 9, 8)
results = [c(i) for c, i in zip(convolutions, (image, image.cuda()))]
torch.testing.assert_close(results[1].cpu(), results[0])
for r in results:
    r.square().sum().backward()
torch.testing.assert_close(convolutions[1].weight.grad.cpu(), convolutions[0].weight.grad)
# What has a kernel for CUDA alone: norms, recurrent cells, convolutions of single channels, with their derivatives; products in another type.


def on_both(module, *inputs):
    twin = copy.deepcopy(module).cuda()
    outputs = []
    for m, move in ((module, lambda t: t), (twin, torch.Tensor.cuda)):
        given = [move(i).detach().requires_grad_() for i in inputs]
        out = m(*given)
        out = out[0] if isinstance(out, tuple) else out
        out.sin().sum().backward()
        outputs.append([out, *(g.grad for g in given), *(p.grad for p in m.parameters())])
    for on_host, on_device in zip(*outputs):
        torch.testing.assert_close(on_device.cpu(), on_host, rtol=1e-5, atol=1e-5)


on_both(torch.nn.RMSNorm(12), torch.randn(3, 5, 12))
on_both(torch.nn.RMSNorm((5, 12), elementwise_affine=False), torch.randn(3, 5, 12))
on_both(torch.nn.RMSNorm(12), torch.randn(12))
for bias in (True, False):
    on_both(torch.nn.LSTM(6, 4, num_layers=2, bias=bias, bidirectional=True), torch.randn(5, 3, 6))
    on_both(torch.nn.GRU(6, 4, num_layers=2, bias=bias), torch.randn(5, 3, 6))
on_both(torch.nn.Conv2d(4, 4, 3, groups=4, padding=1), torch.randn(2, 4, 7, 6))
on_both(torch.nn.Conv3d(4, 8, 3, groups=4), torch.randn(2, 4, 5, 6, 5))
half = torch.randn(2, 8, 8).half()
same(torch.mm(half[0].cuda(), half[1].cuda(), out_dtype=torch.float32), half[0].float() @ half[1].float())
same(torch.bmm(half.cuda(), half.cuda(), out_dtype=torch.float32), half.float() @ half.float())
product = half[0].float() @ half[1].float()
out = torch.ones(8, 8, device="cuda")
same(torch.mm(half[0].cuda(), half[1].cuda(), out_dtype=torch.float32, out=torch.empty_like(out)), product)
same(torch.addmm(out, half[0].cuda(), half[1].cuda(), out_dtype=torch.float32, out=out), 1 + product)
same(out, 1 + product)
kept = torch.nn.functional.dropout(torch.ones(1000, device="cuda"), 0.25).cpu()
assert set(kept.unique().tolist()) == {0.0, torch.tensor(1 / 0.75).item()} and 600 < (kept > 0).sum() < 900
# Attention takes the form that is made of ordinary operations.
q = torch.randn(1, 2, 16, 8)
torch.testing.assert_close(torch.nn.functional.scaled_dot_product_attention(*[q.cuda()] * 3).cpu(), torch.nn.functional.scaled_dot_product_attention(q, q, q))
# A program may ask for a fused form of attention, or for cuDNN: machine code both. Three heads of the query share one of key and value.
queries, keys = torch.randn(1, 6, 5, 8), torch.randn(1, 2, 7, 8)
results = []
for on in ("cpu", "cuda"):
    inputs = [t.to(on, copy=True).requires_grad_() for t in (queries, keys)]
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION if on == "cuda" else torch.nn.attention.SDPBackend.MATH):
        out = torch.nn.functional.scaled_dot_product_attention(inputs[0], inputs[1], inputs[1], scale=0.25, enable_gqa=True)
    out.square().sum().backward()
    results.append([t.cpu() for t in (out, inputs[0].grad, inputs[1].grad)])
for ours, theirs in zip(*results):
    torch.testing.assert_close(ours, theirs)
torch.backends.cudnn.enabled = True
with torch.backends.cudnn.flags(enabled=True):
    torch.testing.assert_close(convolutions[1](image.cuda()).cpu(), convolutions[0](image))
out = torch.empty_like(x)
double[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), 256)
same(out, 2 * host)
# Operations in a captured graph run when it is replayed, and not before: beside a kernel, in place, on a transposed view, into a list.
a, b = torch.arange(6.0, device="cuda"), torch.zeros(6, device="cuda")
m, n = torch.arange(6.0, device="cuda").reshape(2, 3), torch.zeros(3, 2, device="cuda")
graph = torch.cuda.CUDAGraph()
double[(1,)](a, b, 6, 256)
with torch.cuda.graph(graph):
    double[(1,)](a, b, 6, 256)
    c = b + 1
    a.add_(c)
    n.copy_(m.t() * 2)
    pieces = (m.t() @ m).split(1)
same(a, torch.arange(6.0))
same(n, torch.zeros(3, 2))
wanted = torch.arange(6.0)
for _ in range(2):
    graph.replay()
    wanted = wanted + (2 * wanted + 1)
m.add_(1)
graph.replay()
wanted = wanted + (2 * wanted + 1)
changed = torch.arange(6.0).reshape(2, 3) + 1
same(a, wanted)
same(n, changed.t() * 2)
same(torch.cat(pieces), changed.t() @ changed)
# More threads than a CTA has are an error of Triton's own, by which autotuning leaves such a configuration out.
try:
    double[(1,)](x, out, 1, 256, num_warps=64)
except triton.runtime.errors.OutOfResources as e:
    assert "threads, Required: 2048, Hardware limit: 1024" in str(e), e
else:
    raise AssertionError("2048 threads were launched")
# Types that CUDA's kernels have and the CPU's do not: integers, halves; also in place.
counted = torch.histc(torch.tensor([1, 2, 2, 7], dtype=torch.int32, device="cuda"), 8, 0, 7)
assert counted.dtype == torch.int32
same(counted, torch.tensor([0, 1, 2, 0, 0, 0, 0, 1], dtype=torch.int32))
half = torch.histc(torch.tensor([0.5, 1.5, 1.5], dtype=torch.float16, device="cuda"), 2, 0, 2)
assert half.dtype == torch.float16
same(half, torch.tensor([1.0, 2.0], dtype=torch.float16))
# Batch norm's running statistics change, though the operation's schema does not say so; without them, and in evaluation, nothing does.
for make in (torch.nn.BatchNorm1d, lambda n: torch.nn.BatchNorm1d(n, track_running_stats=False), lambda n: torch.nn.BatchNorm1d(n).eval()):
    theirs, ours = make(40), make(40).cuda()
    want, got = theirs(3 * host + 1), ours(3 * x + 1)
    torch.testing.assert_close(got.cpu(), want)
    if theirs.running_mean is not None:
        torch.testing.assert_close(ours.running_mean.cpu(), theirs.running_mean)
        torch.testing.assert_close(ours.running_var.cpu(), theirs.running_var)
# Softmax of halves with a result in float32, and its derivative; of others as ever.
for function in (torch.softmax, torch.log_softmax):
    for dtype, wide in ((torch.float16, torch.float32), (torch.bfloat16, torch.float32), (torch.float32, None), (torch.float16, None)):
        theirs, ours = (host.clone().to(device=place, dtype=dtype).requires_grad_() for place in ("cpu", "cuda"))
        want, got = function(theirs, -1, dtype=wide), function(ours, -1, dtype=wide)
        torch.testing.assert_close(got.cpu(), want)
        want[:, 0].sum().backward()
        got[:, 0].sum().backward()
        torch.testing.assert_close(ours.grad.cpu(), theirs.grad)
# PyTorch's profiler records the CPU: with the GPU's activities, its default, CUPTI would call itself without end.
with torch.profiler.profile() as profile:
    double[(1,)](x, out, 6, 256)
    torch.cuda.synchronize()
    (x + 1).sum()
assert "aten::sum" in profile.key_averages().table(sort_by="cuda_time_total")
# A tensor of the CPU is refused, as on a GPU.
try:
    double[(1,)](host, out, 1, 256)
except ValueError as e:
    assert "cpu tensor" in str(e)
else:
    raise AssertionError("a pointer of the host was accepted")
print("right")
