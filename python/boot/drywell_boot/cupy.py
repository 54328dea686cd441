"""CuPy: reductions take CuPy's own kernels, which it compiles from CUDA C++, instead of CUB's, which are machine code."""

import os

from drywell_boot import device


def package(module):
    """Called before the package runs: it reads the variable then."""
    if "CUPY_ACCELERATORS" not in os.environ:
        os.environ["CUPY_ACCELERATORS"] = ""
        device.say("CuPy's CUB is machine code: reductions take CuPy's own kernels (CUPY_ACCELERATORS)")
