"""Drywell dry-runs Blackwell kernels on a CPU: values, cycles and hazards.

>>> import drywell as dw, numpy as np
>>> k = dw.Kernel.from_ptx("axpy.ptx")
>>> x, y = np.ones(1000, np.float32), np.zeros(1000, np.float32)
>>> r = k[8](x, y, np.float32(2), 1000, block=128, driver="timed", check="full")
>>> r.cycles, r.hazards

The parts: :class:`Kernel`, :class:`Run`, :mod:`drywell.triton`, :mod:`drywell.cuda`, :mod:`drywell.cute`, :mod:`drywell.numbers`, :mod:`drywell.kernels`,
:mod:`drywell.layouts`, :func:`sweep`. Nothing is global: two launches share nothing but the arrays that they are given.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _processor  # first: without it an older processor ends the interpreter
from ._core import version as __version__
from .arrays import poison
from .errors import (Deadlock, Diagnostic, Error, Fault, HazardError, IllegalError, InternalError, Stopped, UnsupportedError)
from .kernel import Kernel
from .layouts import Picture, fragments, layout
from .numbers import convert, dequantize, quantize
from .results import Hazard, Launch, Limit, Line, Place, Role, Run, Timing, Unit, diff_traces
from .sweeping import Sweep, sweep
from .tensormap import TensorMap, im2col_map, tensor_map

if TYPE_CHECKING:
    from . import cuda, cute, kernels, layouts, numbers, pictures, triton

_LAZY = ("cuda", "cute", "kernels", "pictures", "triton", "numbers", "layouts")


def __getattr__(name: str) -> Any:
    """Doors to other packages are imported when they are first used."""
    if name in _LAZY:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module 'drywell' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*__all__, *_LAZY})


__all__ = ["Deadlock", "Diagnostic", "Error", "Fault", "Hazard", "HazardError", "IllegalError", "InternalError", "Kernel", "Launch", "Limit",
           "Line", "Picture", "Place", "Role", "Run", "Stopped", "Sweep", "TensorMap", "Timing", "Unit", "UnsupportedError", "__version__", "convert", "dequantize",
           "diff_traces", "fragments", "im2col_map", "layout", "poison", "quantize", "sweep", "tensor_map"]
