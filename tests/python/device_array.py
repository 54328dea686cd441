"""Arrays on the device for tests without PyTorch: memory of the CUDA driver, NumPy in and out."""

import ctypes

import numpy as np

_cuda = ctypes.CDLL("libcuda.so.1")
_cuda.cuMemAlloc_v2.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_cuda.cuMemcpyHtoD_v2.argtypes = [ctypes.c_uint64, ctypes.c_void_p, ctypes.c_size_t]
_cuda.cuMemcpyDtoH_v2.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t]


class DriverError(RuntimeError):
    def __init__(self, number):
        super().__init__(f"CUDA error {number}")
        self.number = number


def check(error):
    if error != 0:
        raise DriverError(error)


check(_cuda.cuInit(0))


class Array:
    """A copy of a NumPy array. `dtype` is Triton's name of the type where NumPy has none."""

    def __init__(self, values, dtype=None):
        values = np.ascontiguousarray(values)
        self.shape, self.np = values.shape, values.dtype
        self.dtype = dtype or values.dtype
        self.strides = [s // values.itemsize for s in values.strides]
        address = ctypes.c_uint64()
        check(_cuda.cuMemAlloc_v2(ctypes.byref(address), max(values.nbytes, 1)))
        self.address = address.value
        check(_cuda.cuMemcpyHtoD_v2(self.address, values.ctypes.data, values.nbytes))

    def data_ptr(self):
        return self.address

    def element_size(self):
        return self.np.itemsize

    def stride(self, i):
        return self.strides[i]

    def numpy(self):
        check(_cuda.cuCtxSynchronize())
        out = np.empty(self.shape, self.np)
        check(_cuda.cuMemcpyDtoH_v2(out.ctypes.data, self.address, out.nbytes))
        return out


def zeros(shape, dtype=np.float32):
    return Array(np.zeros(shape, dtype))
