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

# Libraries of machine code, computed by NumPy.
host = np.random.default_rng(2).random((6, 6)) + 6 * np.eye(6)
x = cp.asarray(host)
np.testing.assert_allclose(cp.asnumpy(x @ x), host @ host)
np.testing.assert_allclose(cp.asnumpy(cp.linalg.inv(x)), np.linalg.inv(host))
np.testing.assert_allclose(cp.asnumpy(cp.fft.fft(x)), np.fft.fft(host))
assert (cp.asnumpy(cp.sort(x, axis=0)) == np.sort(host, axis=0)).all()
assert (cp.asnumpy(cp.argsort(x[0])) == np.argsort(host[0])).all()
cp.random.seed(3)
drawn = cp.random.random(1000), cp.random.default_rng(3).standard_normal(1000), cp.random.randint(0, 10, 1000)
assert 0.4 < float(drawn[0].mean()) < 0.6 and 0.8 < float(drawn[1].std()) < 1.2 and int(drawn[2].max()) == 9
stream = cp.cuda.Stream(non_blocking=True)
with stream:
    stream.begin_capture()
    try:
        x @ x
        raise AssertionError("captured")
    except RuntimeError as e:
        assert "cannot be captured" in str(e), e
    finally:
        stream.end_capture()
