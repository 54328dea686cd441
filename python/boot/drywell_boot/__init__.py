"""Hooks that Drywell puts into Python frameworks when a program imports them (docs/python.md).

They change what cannot be simulated: benchmarks that repeat a kernel until the clock of a GPU is exact, and operations that
exist as machine code only. Everything else, kernels and launches included, takes the framework's own way to the driver.
"""

from drywell_boot import cute, on_import


def install():
    cute.set_environment()
    on_import.install(
        {
            "cutlass": ("drywell_boot.cute", "package", "before"),
            "cutlass.base_dsl.jit_executor": ("drywell_boot.cute", "artifacts"),
            "cutlass.utils.hardware_info": ("drywell_boot.cute", "hardware_info"),
            "cuda.bindings._internal.runtime": ("drywell_boot.cuda_bindings", "table"),
            "cuda.bindings._internal.runtime_ptds": ("drywell_boot.cuda_bindings", "table"),
            "cupy": ("drywell_boot.cupy", "package", "before"),
            "cupy.cublas": ("drywell_boot.cupy", "vectors"),
            "cupy.cuda.compiler": ("drywell_boot.cupy", "compilers"),
            "cupyx.cusparse": ("drywell_boot.cupy_sparse", "library"),
            "cupyx.scipy.sparse._index": ("drywell_boot.cupy_sparse", "index"),
            "cupyx.scipy.sparse.linalg._iterative": ("drywell_boot.cupy_sparse", "iterative"),
            "cupyx.scipy.sparse.linalg._eigen": ("drywell_boot.cupy_sparse", "eigen"),
            "cupyx.scipy.sparse.linalg._solve": ("drywell_boot.cupy_sparse", "solve"),
            "cupyx.scipy.fft": ("drywell_boot.cupy", "scipy_fft"),
            "cupyx.scipy.linalg": ("drywell_boot.cupy", "scipy_linalg"),
            "triton": ("drywell_boot.triton_hooks", "package"),
            "triton.testing": ("drywell_boot.triton_hooks", "testing"),
            "triton._C.libproton": ("drywell_boot.proton", "library"),
            "triton.profiler.hooks.hook": ("drywell_boot.proton", "hooks"),
            "triton.profiler.viewer": ("drywell_boot.proton", "viewer"),
            "triton.runtime.autotuner": ("drywell_boot.triton_hooks", "autotuner"),
            "tilelang.contrib.nvcc": ("drywell_boot.tilelang", "nvcc"),
            "tilelang.profiler.bench": ("drywell_boot.tilelang", "bench"),
            "tilelang.autotuner.tuner": ("drywell_boot.tilelang", "tuner"),
            "torch": ("drywell_boot.torch_hooks", "torch"),
            "torch.autograd.profiler": ("drywell_boot.torch_profiler", "profiler"),
            "torch._inductor.runtime.benchmarking": ("drywell_boot.triton_hooks", "inductor"),
            "warp": ("drywell_boot.warp", "package", "before"),
            "warp.config": ("drywell_boot.warp", "config"),
        }
    )
