"""The simulated device as the hooks see it: options of the run, messages, kernel time, memory."""

import ctypes
import os
import sys

_said = set()
_library = None
# Errors that stay with a device: illegal address, time out, assertion, illegal instruction, misaligned address, invalid address space and counter, failed launch.
_AFTER_A_FAULT = {700, 702, 710, 715, 716, 717, 718, 719}


def say(text):
    """Writes a message to standard error, once."""
    if text not in _said:
        _said.add(text)
        sys.stdout.flush()
        print(f"drywell: {text}", file=sys.stderr, flush=True)


def options():
    """The options of `drywell exec` by name, as text."""
    lines = os.environ.get("DRYWELL_EXEC", "").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def timed():
    return options().get("driver") == "timed"


def library():
    """The stand-in of CUDA."""
    global _library
    if _library is None:
        _library = ctypes.CDLL("libcuda.so.1")
        _library.cuMemcpy.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t]
    return _library


def kernel_seconds():
    """Simulated seconds of all kernels so far; not a number without --driver=timed."""
    out = ctypes.c_double()
    if library().drywellKernelSeconds(ctypes.byref(out)) != 0:
        return float("nan")
    return out.value


def kernel_launches():
    """How many simulated kernels have run so far."""
    out = ctypes.c_ulonglong()
    return out.value if library().drywellKernelLaunches(ctypes.byref(out)) == 0 else 0


def copy(to, source, count):
    """Copies bytes between addresses of the device or the host."""
    error = library().cuMemcpy(to, source, count)
    if error in _AFTER_A_FAULT:
        raise RuntimeError(f"a kernel has failed (its message is above), and the device gives CUDA error {error} since: a tensor cannot be read or written")
    if error != 0:
        raise RuntimeError(f"drywell: copy of {count} bytes failed: CUDA error {error}")
