"""CuPy: RawKernel, RawModule, ElementwiseKernel, ReductionKernel, its own element operations, a mask, a scan, fused functions."""

import importlib.util

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
if cp.cuda.get_nvcc_path():  # its code is machine code, unless it is asked for PTX
    twice = cp.RawModule(
        code=r"""__device__ float twice(float x) { return 2 * x; }
extern "C" __global__ void k(const float* x, float* out) { out[threadIdx.x] = twice(x[threadIdx.x]); }""",
        backend="nvcc",
        options=("-dc",),
    ).get_function("k")
    out = cp.empty(32, np.float32)
    twice((1,), (32,), (dx, out))
    np.testing.assert_array_equal(out.get(), 2 * x[:32])
out = cp.empty_like(dx)
axpy((8,), (128,), (np.float32(2), dx, dy, out, np.int32(1000)))
np.testing.assert_allclose(out.get(), 2 * x + y, rtol=1e-6)
sq = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff")
np.testing.assert_allclose(sq(dx, dy).get(), (x - y) ** 2, rtol=1e-6)
norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
np.testing.assert_allclose(norm(dx).get(), np.sqrt((x * x).sum()), rtol=1e-5)
np.testing.assert_allclose(norm(dx.reshape(10, 100), axis=1).get(), np.sqrt((x * x).reshape(10, 100).sum(1)), rtol=1e-5)
np.testing.assert_allclose(cp.sum(dx * dy + 1).get(), (x * y + 1).sum(), rtol=1e-5)
cp._core.set_routine_accelerators(["cub"])  # machine code, whose errors CuPy does not see
np.testing.assert_allclose(cp.sum(dx).get(), x.sum(), rtol=1e-5)
np.testing.assert_array_equal(cp.cumsum(cp.arange(300)).get(), np.cumsum(np.arange(300)))
assert cp._core.get_routine_accelerators() == []
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

# Sparse matrices, by SciPy: beside SciPy's own.
if importlib.util.find_spec("scipy") is not None:
    import scipy.sparse
    from cupyx.scipy import sparse
    from cupyx.scipy.sparse import linalg

    dense = np.diag(np.arange(3.0, 23.0)) + np.diag(np.full(19, 0.5), 1) + np.diag(np.full(16, -0.25), -4)
    a, v = scipy.sparse.csr_matrix(dense), np.arange(20.0)
    da, dv = sparse.csr_matrix(a), cp.asarray(v)
    for ours, theirs in (
        (da.toarray(), dense), (da @ dv, dense @ v), (dv @ da, v @ dense), ((da @ da).toarray(), dense @ dense), (da.T.toarray(), dense.T), (da.tocsc().toarray(), dense),
        (da.tocoo().toarray(), dense), ((da - 2 * da).toarray(), -dense), (da.sum(0), dense.sum(0, keepdims=True)), (da[2:7].toarray(), dense[2:7]), (da @ cp.asarray(dense), dense @ dense),
        (sparse.coo_matrix((dv, (cp.asarray([1] * 20), cp.asarray([3] * 20))), shape=(4, 4)).tocsr().toarray()[1], [0, 0, 0, v.sum()]), (dense @ linalg.spsolve(da, dv).get(), v),
        (dense @ linalg.gmres(da, dv, atol=1e-9)[0].get(), v), (dense @ linalg.lsqr(da, dv)[0].get(), v), (linalg.spsolve_triangular(sparse.tril(da, format="csr"), dv), np.linalg.solve(np.tril(dense), v)),
        (dense @ linalg.splu(da).solve(dv).get(), v), (linalg.eigsh(da + da.T, k=2)[0], np.linalg.eigvalsh(dense + dense.T)[-2:]), (np.sort(linalg.svds(da, k=2)[1].get()), np.sort(np.linalg.svd(dense)[1])[-2:]),
        (cp.asfortranarray(cp.asarray(dense)), dense),
    ):  # fmt: skip
        np.testing.assert_allclose(cp.asnumpy(ours), theirs, rtol=1e-5, atol=1e-5)
