"""A program of two kernels for dap_session.py: PTX whose lines are the marked ones of this file, launched by the CUDA driver alone."""

import ctypes
import os
import sys

import numpy as np
from device_array import Array, _cuda, check

HERE = os.path.abspath(__file__)


def line(mark):
    """The number of the line that ends in this mark."""
    with open(HERE) as f:
        return next(n for n, text in enumerate(f, 1) if text.rstrip().endswith("#: " + mark))


# What the kernels do, a line of this file each.
# x = data[thread]            #: scale, load
# x = x * 3                   #: scale, multiply
# data[thread] = x            #: scale, store
# x = data[thread]            #: shift, load
# data[thread] = x + 5        #: shift, store

HEAD = f""".version 8.7
.target sm_90
.address_size 64
.file 1 "{HERE}"
"""


def kernel(name, body):
    return f"""{HEAD}.visible .entry {name}(.param .u64 data) {{
  .reg .b64 %a, %t;
  .reg .b32 %x, %i;
  .loc 1 {line(name + ", load")} 1
  ld.param.u64 %a, [data];
  mov.u32 %i, %tid.x;
  mul.wide.u32 %t, %i, 4;
  add.u64 %a, %a, %t;
  ld.global.u32 %x, [%a];
{body}  ret;
}}
"""


SCALE = kernel("scale", f"""  .loc 1 {line("scale, multiply")} 1
  mul.lo.u32 %x, %x, 3;
  .loc 1 {line("scale, store")} 1
  st.global.u32 [%a], %x;
""")
SHIFT = kernel("shift", f"""  .loc 1 {line("shift, store")} 1
  add.u32 %x, %x, 5;
  st.global.u32 [%a], %x;
""")


def function(text, name):
    module, found = ctypes.c_void_p(), ctypes.c_void_p()
    check(_cuda.cuModuleLoadData(ctypes.byref(module), text.encode()))
    check(_cuda.cuModuleGetFunction(ctypes.byref(found), module, name.encode()))
    return found


def main():
    print("process", os.getpid())
    if "--no-launch" in sys.argv:
        sys.exit(3)
    data = Array(np.arange(32, dtype=np.uint32))
    address = ctypes.c_uint64(data.address)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(address))
    functions = {"scale": function(SCALE, "scale"), "shift": function(SHIFT, "shift")}
    for name in ("scale", "shift", "scale"):
        check(_cuda.cuLaunchKernel(functions[name], 1, 1, 1, 32, 1, 1, 0, None, arguments, None))
    print("values", *data.numpy()[:4])


if __name__ == "__main__":
    main()
