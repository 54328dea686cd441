"""CuTe DSL with PyTorch's tensors on the device: element by element, and a sum through shared memory behind a barrier."""

import importlib.util
import tempfile

import cutlass
import cutlass.cute as cute
import cutlass.memory
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


@cute.jit
def scale_with(x: cute.Tensor, y: cute.Tensor, threads: cutlass.Int32):
    scale_kernel(x, y).launch(grid=[4, 1, 1], block=[threads, 1, 1])


def by_tvm_ffi():
    """Compiled for TVM's foreign function interface: PyTorch's tensors as they are, errors by the run-time library's own functions."""
    x, y = torch.arange(512, dtype=torch.float32, device="cuda"), torch.zeros(512, device="cuda")
    function = cute.compile(scale_with, from_dlpack(x), from_dlpack(y), THREADS, options="--enable-tvm-ffi")
    function(x, y, THREADS)
    assert torch.equal(y.cpu(), x.cpu() * 3 + 1)
    try:
        function(x, y, 2000)
    except Exception as e:
        assert "cudaErrorInvalidValue" in str(e), e
        print("by TVM FFI: equal, and its error is raised")
        return
    raise AssertionError("2000 threads were launched")


def multiplier(factor):
    """Kernels of one name: the compiler writes them into the same files."""

    @cute.kernel
    def times_kernel(x: cute.Tensor, y: cute.Tensor):
        thread, _, _ = cute.arch.thread_idx()
        block, _, _ = cute.arch.block_idx()
        y[block * THREADS + thread] = x[block * THREADS + thread] * factor

    @cute.jit
    def times(x: cute.Tensor, y: cute.Tensor):
        times_kernel(x, y).launch(grid=[4, 1, 1], block=[THREADS, 1, 1])

    return times


def of_one_name():
    x = torch.arange(512, dtype=torch.float32, device="cuda")
    arguments = from_dlpack(x), from_dlpack(torch.zeros(512, device="cuda"))
    with tempfile.TemporaryDirectory() as folder:
        compiled = [cute.compile(multiplier(f), *arguments, options=o) for f, o in ((2, ""), (5, ""), (7, f"--dump-dir={folder}"))]
    for function, factor in zip(compiled, (2, 5, 7)):
        y = torch.zeros(512, device="cuda")
        function(from_dlpack(x), from_dlpack(y))
        assert torch.equal(y.cpu(), x.cpu() * factor), factor
    print("three functions of one name: each its own")


def main():
    x = torch.arange(512, dtype=torch.float32)
    for function, want in ((scale, x * 3 + 1), (reverse, x.reshape(4, THREADS).flip(1).reshape(-1))):
        source, result = x.cuda(), torch.zeros(512, device="cuda")
        function(from_dlpack(source), from_dlpack(result))
        assert torch.equal(result.cpu(), want), function
        print(f"{function.__name__}: equal to PyTorch's on the CPU")
    of_one_name()
    if importlib.util.find_spec("tvm_ffi") is not None:
        by_tvm_ffi()


if __name__ == "__main__":
    main()
