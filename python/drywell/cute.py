"""CuTe DSL kernels: the PTX that the DSL writes, run on the simulator.

The DSL's own launch needs a device, so that its host function cannot run here; use `drywell python` for whole programs."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .errors import Error
from .kernel import Kernel


class Unavailable(Error):
    """The package nvidia-cutlass-dsl is not installed, or it wrote no PTX."""


@contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def compile(fn: Any, *args: Any, arch: str = "sm_100a", entry: str | None = None, options: str = "") -> Kernel:
    """Compiles a ``@cute.jit`` host function for its arguments and returns the kernel of the PTX it wrote.

    ``args`` are what the host function takes (tensors by ``cutlass.cute.runtime.from_dlpack``); the kernel itself takes what the host
    function gives it: NumPy arrays for tensors whose layout is known when it is compiled. ``entry`` chooses one of several kernels, ``options``
    are the compiler's own. Raises Unavailable without the package, or if the text has no such kernel."""
    with _variable("CUTE_DSL_ARCH", arch):
        try:
            import cutlass.cute as cute  # type: ignore[import-not-found]
        except ImportError as e:
            raise Unavailable("pip install nvidia-cutlass-dsl", "E4601") from e
        with tempfile.TemporaryDirectory() as folder:  # the compiler also writes a file
            # The variable is read once in a process, when the DSL is first imported; the option holds for this call.
            text = cute.compile(fn, *args, options=f"--gpu-arch={arch} {options} --keep-ptx --dump-dir={folder}").__ptx__
    if not text:
        raise Unavailable("the DSL wrote no PTX", "E4601")
    if entry is not None and re.search(rf"\.entry\s+{re.escape(entry)}\b", text) is None:
        raise Unavailable(f"the PTX has no kernel '{entry}'", "E4601")
    return Kernel.from_ptx(text, entry, arch=arch)
