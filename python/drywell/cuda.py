"""CUDA C++ kernels: compiled to PTX by NVRTC (the wheel ``nvidia-cuda-nvrtc``, or a toolkit), run on the simulator.

>>> k = dw.cuda.compile(source, "axpy")
>>> k[8](x, y, np.float32(2), 1000, block=128)
"""

from __future__ import annotations

import ctypes
import glob
import importlib.util
import os
from typing import Sequence

from .errors import Error
from .kernel import Kernel


class CompileError(Error):
    """NVRTC refused the source; the text is its log."""


class Unavailable(Error):
    """There is no NVRTC: ``pip install nvidia-cuda-nvrtc``."""


def _candidates() -> list[str]:
    """Libraries of the wheels nvidia-cuda-nvrtc (nvidia/cu13/lib) and nvidia-cuda-nvrtc-cu12, then the loader's."""
    spec = importlib.util.find_spec("nvidia")
    places = list(spec.submodule_search_locations or []) if spec else []
    found = [f for p in places for f in glob.glob(os.path.join(p, "**", "libnvrtc.so.*"), recursive=True) if "alt" not in f]
    return sorted(found, reverse=True) + ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]


def _load() -> ctypes.CDLL:
    for name in _candidates():
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise Unavailable("no NVRTC: pip install nvidia-cuda-nvrtc", "E4601")


def _text(library: ctypes.CDLL, size: str, get: str, program: ctypes.c_void_p) -> str:
    n = ctypes.c_size_t()
    getattr(library, size)(program, ctypes.byref(n))
    buffer = ctypes.create_string_buffer(n.value or 1)
    getattr(library, get)(program, buffer)
    return buffer.value.decode("utf-8", "replace")


def ptx(source: str, *, arch: str = "sm_100a", options: Sequence[str] = (), name: str = "kernel.cu") -> str:
    """PTX of a source text. ``options``: NVRTC's. Raises CompileError with NVRTC's log, Unavailable without NVRTC."""
    library = _load()
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
    try:
        words = [f"--gpu-architecture=compute_{arch.removeprefix('sm_')}", "--generate-line-info", "--std=c++17", *options]
        argv = (ctypes.c_char_p * len(words))(*(w.encode() for w in words))
        if library.nvrtcCompileProgram(program, len(words), argv) != 0:
            raise CompileError(_text(library, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program).strip(), "E4601")
        return _text(library, "nvrtcGetPTXSize", "nvrtcGetPTX", program)
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def compile(source: str, entry: str | None = None, *, arch: str = "sm_100a", options: Sequence[str] = (), name: str = "kernel.cu") -> Kernel:
    """A kernel of CUDA C++. ``entry``: its name; declare it ``extern "C"``, or leave ``entry`` out if the source has one kernel.

    ``name``: the source's name in messages; lines of hazards and times are the source's."""
    return Kernel.from_ptx(ptx(source, arch=arch, options=options, name=name), entry, arch=arch)
