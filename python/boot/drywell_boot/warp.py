"""Warp: its library has the CUDA runtime linked into it, and no symbol table. The stand-in finds that code with the archive of the same
version: the file libcudart_static.a of PyPI's package nvidia-cuda-runtime, or of a CUDA toolkit."""

import glob
import os
import sys

_ARCHIVES = "DRYWELL_CUDART_STATIC"


def package(module):
    """Called before the package runs: it loads the library then."""
    folders = [os.path.join(p, "nvidia", "*", "lib") for p in sys.path if p]
    folders += [os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "lib64")]
    found = [a for f in folders for a in glob.glob(os.path.join(f, "libcudart_static.a"))]
    if found and _ARCHIVES not in os.environ:
        os.environ[_ARCHIVES] = ":".join(dict.fromkeys(found))


def config(module):
    """Called after the module: kernels are compiled to PTX (by Warp's own NVRTC), unless the program sets it otherwise."""
    module.cuda_output = "ptx"
