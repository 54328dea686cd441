"""cuda.bindings.runtime has NVIDIA's runtime linked into it: its table of functions gets the stand-in's instead."""

import ctypes

from drywell_boot import device


def table(module):
    """Called when a program has imported the module with the table: other modules take the addresses from it."""
    set_pointer = ctypes.pythonapi.PyCapsule_SetPointer
    set_pointer.argtypes = [ctypes.py_object, ctypes.c_void_p]
    for name, capsule in module.__pyx_capi__.items():
        function = getattr(device.library(), name.lstrip("_"), None) if name.startswith("_cuda") else None
        if function is not None:
            set_pointer(capsule, ctypes.cast(function, ctypes.c_void_p))
