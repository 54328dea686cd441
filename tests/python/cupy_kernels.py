"""CuPy: RawKernel, RawModule, ElementwiseKernel, ReductionKernel, its own element operations, a mask, a scan, fused functions."""

import cupy as cp
import numpy as np

rng = np.random.default_rng(1)
x, y = rng.random(1000, np.float32), rng.random(1000, np.float32)
axpy = cp.RawKernel(
    r"""extern "C" __global__ void axpy(float a, const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = a * x[i] + y[i]; }""",
    "axpy",
)
dx, dy = cp.asarray(x), cp.asarray(y)
out = cp.empty_like(dx)
axpy((8,), (128,), (np.float32(2), dx, dy, out, np.int32(1000)))
np.testing.assert_allclose(out.get(), 2 * x + y, rtol=1e-6)
sq = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff")
np.testing.assert_allclose(sq(dx, dy).get(), (x - y) ** 2, rtol=1e-6)
norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
np.testing.assert_allclose(norm(dx).get(), np.sqrt((x * x).sum()), rtol=1e-5)
np.testing.assert_allclose(norm(dx.reshape(10, 100), axis=1).get(), np.sqrt((x * x).reshape(10, 100).sum(1)), rtol=1e-5)
np.testing.assert_allclose(cp.sum(dx * dy + 1).get(), (x * y + 1).sum(), rtol=1e-5)
np.testing.assert_array_equal(dx[dx > 0.5].get(), x[x > 0.5])
np.testing.assert_array_equal(cp.arange(12).reshape(3, 4).T.copy().get(), np.arange(12).reshape(3, 4).T)
np.testing.assert_allclose(cp.exp(dx).get(), np.exp(x), rtol=1e-6)
np.testing.assert_allclose(cp.cumsum(dx).get(), np.cumsum(x), rtol=1e-5)


@cp.fuse()
def f(a, b):
    return cp.maximum(a, b) * 2


np.testing.assert_array_equal(f(dx, dy).get(), np.maximum(x, y) * 2)
