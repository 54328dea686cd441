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


def _include_options() -> list[str]:
    """CUDA's own headers: those of the wheels nvidia-cuda-runtime and nvidia-cuda-cccl, then a toolkit's (``CUDA_HOME``, ``CUDA_PATH``)."""
    spec = importlib.util.find_spec("nvidia")
    found = [f for p in list(spec.submodule_search_locations or []) for f in glob.glob(os.path.join(p, "*", "include"))] if spec else []
    toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    places = sorted(found, reverse=True) + [os.path.join(t, "include") for t in toolkits if t]
    with_cccl = [f for p in places for f in (p, os.path.join(p, "cccl"))]
    return [f"-I{f}" for f in dict.fromkeys(with_cccl) if os.path.isdir(f)]


def _explained(log: str) -> str:
    """NVRTC's log, with the remedy for headers of CUDA that are not there."""
    if "open source file" not in log:
        return log
    return f"{log}\n    hint: CUDA's own headers: pip install nvidia-cuda-runtime nvidia-cuda-cccl, or CUDA_HOME=TOOLKIT; yours: options=['-IFOLDER']; NVRTC has no C library"


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


def _compiled(source: str, entry: str | None, arch: str, options: Sequence[str], name: str) -> tuple[str, str | None]:
    """PTX, and the name in it of the kernel that `entry` names as C++ does (``scale``, ``scale<float>``)."""
    library = _load()
    program = ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
    try:
        if entry is not None:
            library.nvrtcAddNameExpression(program, entry.encode())
        words = [f"--gpu-architecture=compute_{arch.removeprefix('sm_')}", "--generate-line-info", "--std=c++17", *options, *_include_options()]
        argv = (ctypes.c_char_p * len(words))(*(w.encode() for w in words))
        if library.nvrtcCompileProgram(program, len(words), argv) != 0:
            raise CompileError(_explained(_text(library, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog", program).strip()), "E4601")
        lowered = ctypes.c_char_p()
        known = entry is not None and library.nvrtcGetLoweredName(program, entry.encode(), ctypes.byref(lowered)) == 0
        mangled = lowered.value.decode() if known and lowered.value else entry
        return _text(library, "nvrtcGetPTXSize", "nvrtcGetPTX", program), mangled
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def ptx(source: str, *, arch: str = "sm_100a", options: Sequence[str] = (), name: str = "kernel.cu") -> str:
    """PTX of a source text. ``options``: NVRTC's. CUDA's headers are found in its wheels or in a toolkit.

    Raises CompileError with NVRTC's log, Unavailable without NVRTC."""
    return _compiled(source, None, arch, options, name)[0]


def compile(source: str, entry: str | None = None, *, arch: str = "sm_100a", options: Sequence[str] = (), name: str = "kernel.cu") -> Kernel:
    """A kernel of CUDA C++. ``entry``: its name as C++ has it (``"scale"``, ``"ns::scale<float, 4>"``), or its name in the PTX; it may be left
    out if the source has one kernel.

    ``name``: the source's name in messages; lines of hazards and times are the source's."""
    try:
        text, mangled = _compiled(source, entry, arch, options, name)
    except CompileError as e:
        if "__nv_name_map" not in str(e):
            raise
        # No name of C++: one of the PTX, or none.
        text, mangled = ptx(source, arch=arch, options=options, name=name), entry
    return Kernel.from_ptx(text, mangled, arch=arch)
