"""CuTe DSL kernels: the PTX that the DSL writes, run on the simulator.

The DSL's own launch needs a device, so that its host function cannot run here; use `drywell python script.py` for whole programs."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path
from typing import Any

from .errors import Error
from .kernel import Kernel


class Unavailable(Error):
    """The package nvidia-cutlass-dsl is not installed, or it wrote no PTX."""


def compile(fn: Any, *args: Any, arch: str = "sm_100a", entry: str | None = None) -> Kernel:
    """Compiles a ``@cute.jit`` host function for its arguments and returns the kernel of the PTX it wrote (``entry`` chooses one)."""
    try:
        import cutlass.cute as cute  # type: ignore[import-not-found]
    except ImportError as e:
        raise Unavailable("pip install nvidia-cutlass-dsl", "E4601") from e
    with tempfile.TemporaryDirectory() as folder:
        before = {k: os.environ.get(k) for k in ("CUTE_DSL_ARCH", "CUTE_DSL_DUMP_DIR")}
        os.environ.update(CUTE_DSL_ARCH=arch, CUTE_DSL_DUMP_DIR=folder)
        try:
            cute.compile(fn, *args, options="--keep-ptx")
        finally:
            for k, v in before.items():
                os.environ.pop(k) if v is None else os.environ.__setitem__(k, v)
        texts = [p.read_text() for p in Path(folder).rglob("*.ptx")]
    if not texts:
        raise Unavailable("the DSL wrote no PTX", "E4601")
    wanted = [t for t in texts if entry is None or re.search(rf"\.entry\s+{re.escape(entry)}\b", t)]
    return Kernel.from_ptx(wanted[0], entry, arch=arch)
