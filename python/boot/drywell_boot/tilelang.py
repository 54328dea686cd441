"""TileLang: nvcc compiles its kernels to PTX instead of machine code, which the driver takes as well."""

import functools


def nvcc(module):
    """Called when a program has imported tilelang.contrib.nvcc."""
    compile_cuda = module.compile_cuda

    @functools.wraps(compile_cuda)
    def to_ptx(code, target_format="ptx", *more, **options):
        return compile_cuda(code, "ptx", *more, **options)

    module.compile_cuda = to_ptx
