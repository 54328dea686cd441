"""Numba-CUDA kernels against NumPy: axpy, a reduction in shared memory with atomics, matrix product, warp shuffles, libdevice, a reduction of Numba's own."""

import math
import numpy as np
from numba import cuda, float32


@cuda.jit
def axpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


@cuda.jit
def total(x, out):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    n = 64
    while n:
        if t < n:
            part[t] += part[t + n]
        cuda.syncthreads()
        n //= 2
    if t == 0:
        cuda.atomic.add(out, 0, part[0])


@cuda.jit
def matmul(a, b, c):
    sa = cuda.shared.array((16, 16), float32)
    sb = cuda.shared.array((16, 16), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    s = float32(0)
    for k in range(a.shape[1] // 16):
        sa[ty, tx] = a[y, tx + k * 16]
        sb[ty, tx] = b[ty + k * 16, x]
        cuda.syncthreads()
        for j in range(16):
            s += sa[ty, j] * sb[j, tx]
        cuda.syncthreads()
    c[y, x] = s


@cuda.jit
def warp_sum(x, out):
    v = x[cuda.grid(1)]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = v


@cuda.jit
def special(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.exp(math.sin(x[i])) + math.sqrt(x[i])


@cuda.jit
def neighbours(x, out):
    """Each thread reads what a thread of another block wrote before the barrier of the grid."""
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for step in range(3):
        x[i] += 1
        grid.sync()
        out[i] = x[(i + cuda.blockDim.x) % x.size]
        grid.sync()


rng = np.random.default_rng(1)
n = 1000
x, y = rng.random(n, np.float32), rng.random(n, np.float32)
dx, dy = cuda.to_device(x), cuda.to_device(y)
out = cuda.device_array(n, np.float32)
axpy[(n + 127) // 128, 128](np.float32(2), dx, dy, out)
np.testing.assert_allclose(out.copy_to_host(), 2 * x + y, rtol=1e-6)
s = cuda.to_device(np.zeros(1, np.float32))
total[(n + 127) // 128, 128](dx, s)
np.testing.assert_allclose(s.copy_to_host()[0], x.sum(), rtol=1e-5)
a, b = rng.integers(-4, 5, (64, 32)).astype(np.float32), rng.integers(-4, 5, (32, 48)).astype(np.float32)
c = cuda.device_array((64, 48), np.float32)
matmul[(3, 4), (16, 16)](cuda.to_device(a), cuda.to_device(b), c)
np.testing.assert_array_equal(c.copy_to_host(), a @ b)
w = cuda.device_array(4, np.int32)
v = np.arange(128, dtype=np.int32)
warp_sum[1, 128](v, w)
np.testing.assert_array_equal(w.copy_to_host(), v.reshape(4, 32).sum(1))
o = cuda.device_array(n, np.float64)
special[(n + 127) // 128, 128](cuda.to_device(x.astype(np.float64)), o)
np.testing.assert_allclose(o.copy_to_host(), np.exp(np.sin(x.astype(np.float64))) + np.sqrt(x.astype(np.float64)), rtol=1e-14)


@cuda.reduce
def add(a, b):
    return a + b


assert add(v) == v.sum()
numbers, moved = cuda.to_device(np.arange(256, dtype=np.int32)), cuda.device_array(256, np.int32)
neighbours[4, 64](numbers, moved)
np.testing.assert_array_equal(moved.copy_to_host(), np.roll(np.arange(256), -64) + 3)
