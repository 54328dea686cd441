"""cuda.core: kernels from CUDA C++ by NVRTC, as machine code, launched on a stream."""

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

src = r"""
template <class T> __global__ void axpy(T a, const T* x, const T* y, T* out, size_t n) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += size_t{gridDim.x} * blockDim.x) out[i] = a * x[i] + y[i];
}
extern "C" __global__ void transpose(const int* in, int* out, int w, int h) {
  __shared__ int tile[32][33];
  for (int j = threadIdx.y; j < 32; j += blockDim.y) tile[j][threadIdx.x] = in[(blockIdx.y * 32 + j) * w + blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  for (int j = threadIdx.y; j < 32; j += blockDim.y) out[(blockIdx.x * 32 + j) * h + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][j];
}
"""
d = Device()
d.set_current()
s = d.create_stream()
arch = "".join(str(i) for i in d.compute_capability)
prog = Program(src, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{arch}"))
mod = prog.compile("cubin", name_expressions=("axpy<float>",))
k = mod.get_kernel("axpy<float>")
n = 1000
rng = np.random.default_rng(1)
from cuda.core import LegacyPinnedMemoryResource

pin = LegacyPinnedMemoryResource()
hb = pin.allocate(n * 4 * 3, stream=s)
h = np.from_dlpack(hb).view(np.float32).reshape(3, n)
h[:2] = rng.random((2, n), np.float32)
h[2] = 0
db = d.memory_resource.allocate(n * 4 * 3, stream=s)
db.copy_from(hb, stream=s)
p = int(db.handle)
launch(s, LaunchConfig(grid=4, block=128), k, np.float32(2), p, p + 4 * n, p + 8 * n, np.uint64(n))
db.copy_to(hb, stream=s)
s.sync()
np.testing.assert_allclose(h[2], 2 * h[0] + h[1], rtol=1e-6)
t = mod.get_kernel("transpose")
a = pin.allocate(64 * 32 * 4, stream=s)
an = np.from_dlpack(a).view(np.int32).reshape(32, 64)
an[:] = np.arange(64 * 32).reshape(32, 64)
ad = d.memory_resource.allocate(64 * 32 * 8, stream=s)
b = pin.allocate(64 * 32 * 8, stream=s)
bn = np.from_dlpack(b).view(np.int32)
bn[:2048] = an.reshape(-1)
bn[2048:] = 0
ad.copy_from(b, stream=s)
launch(s, LaunchConfig(grid=(2, 1), block=(32, 8)), t, int(ad.handle), int(ad.handle) + 8192, np.int32(64), np.int32(32))
ad.copy_to(b, stream=s)
s.sync()
np.testing.assert_array_equal(bn[2048:].reshape(64, 32), an.T)
