"""CuTe DSL with PyTorch's tensors on the device: element by element, and a sum through shared memory behind a barrier."""

import cutlass.memory
import cutlass.cute as cute
import torch
from cutlass.cute.runtime import from_dlpack

THREADS = 128


@cute.kernel
def scale_kernel(x: cute.Tensor, y: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = block * THREADS + thread
    value = x[i] * 3
    y[i] = value + 1


@cute.jit
def scale(x: cute.Tensor, y: cute.Tensor):
    scale_kernel(x, y).launch(grid=[cute.size(x) // THREADS, 1, 1], block=[THREADS, 1, 1])


@cute.kernel
def reverse_kernel(x: cute.Tensor, y: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    memory = cutlass.memory.SmemAllocator()
    tile = memory.allocate_tensor(cutlass.Float32, cute.make_layout(THREADS), byte_alignment=16)
    tile[thread] = x[block * THREADS + thread]
    cute.arch.sync_threads()
    y[block * THREADS + thread] = tile[THREADS - 1 - thread]


@cute.jit
def reverse(x: cute.Tensor, y: cute.Tensor):
    reverse_kernel(x, y).launch(grid=[cute.size(x) // THREADS, 1, 1], block=[THREADS, 1, 1])


def main():
    x = torch.arange(512, dtype=torch.float32)
    for function, want in ((scale, x * 3 + 1), (reverse, x.reshape(4, THREADS).flip(1).reshape(-1))):
        source, result = x.cuda(), torch.zeros(512, device="cuda")
        function(from_dlpack(source), from_dlpack(result))
        assert torch.equal(result.cpu(), want), function
        print(f"{function.__name__}: equal to PyTorch's on the CPU")


if __name__ == "__main__":
    main()
