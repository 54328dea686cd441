"""Helion: element by element, a matrix product and softmax against PyTorch on the CPU."""

import helion
import helion.language as hl
import torch


@helion.kernel(config=helion.Config(block_sizes=[32, 32]))
def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(out.size()):
        out[tile] = x[tile] + y[tile]
    return out


@helion.kernel(config=helion.Config(block_sizes=[32, 32, 16]))
def matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    m, k = x.size()
    k2, n = y.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for tm, tn in hl.tile([m, n]):
        acc = hl.zeros([tm, tn], dtype=torch.float32)
        for tk in hl.tile(k):
            acc = torch.addmm(acc, x[tm, tk], y[tk, tn])
        out[tm, tn] = acc
    return out


@helion.kernel(config=helion.Config(block_sizes=[4]))
def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        out[t, :] = torch.nn.functional.softmax(x[t, :], dim=1)
    return out


torch.manual_seed(1)
x, y = torch.randn(64, 96), torch.randn(64, 96)
torch.testing.assert_close(add(x.cuda(), y.cuda()).cpu(), x + y)
a, b = torch.randint(-3, 4, (64, 48)).half(), torch.randint(-3, 4, (48, 96)).half()
torch.testing.assert_close(matmul(a.cuda(), b.cuda()).cpu().float(), a.float() @ b.float())
torch.testing.assert_close(softmax(x.cuda()).cpu(), torch.softmax(x, 1), rtol=1e-5, atol=1e-6)
