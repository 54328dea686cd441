"""Warp: element by element, atomics, tiles, gradients, its own scan."""

import os
import sys

import numpy as np

named = "DRYWELL_CUDART_STATIC" in os.environ
import warp as wp  # noqa: E402

wp.init()
try:
    wp.zeros(1, dtype=float, device="cuda:0")
except RuntimeError:
    if named:
        raise
    print("skipped: no libcudart_static.a of Warp's CUDA version; DRYWELL_CUDART_STATIC names it (docs/python.md)")
    sys.exit(77)


@wp.kernel
def axpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = a * x[i] + y[i]


@wp.kernel
def count(x: wp.array(dtype=float), bins: wp.array(dtype=int)):
    wp.atomic_add(bins, int(x[wp.tid()] * 8.0), 1)


@wp.kernel
def length(x: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    wp.atomic_add(out, 0, wp.length(x[wp.tid()]))


TILE = wp.constant(16)


@wp.kernel
def tiles(a: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    t = wp.tile_load(a, shape=(TILE, TILE), offset=(i * TILE, j * TILE))
    wp.tile_store(out, t * 2.0 + t, offset=(i * TILE, j * TILE))


n = 1000
rng = np.random.default_rng(1)
x, y = rng.random(n, np.float32), rng.random(n, np.float32)
with wp.ScopedDevice("cuda:0"):
    out = wp.zeros(n, dtype=float)
    wp.launch(axpy, dim=n, inputs=[2.0, wp.array(x), wp.array(y), out])
    np.testing.assert_allclose(out.numpy(), 2 * x + y, rtol=1e-6)
    bins = wp.zeros(8, dtype=int)
    wp.launch(count, dim=n, inputs=[wp.array(x), bins])
    np.testing.assert_array_equal(bins.numpy(), np.bincount((x * 8).astype(int), minlength=8))
    v = rng.random((100, 3), np.float32)
    vd, loss = wp.array(v, dtype=wp.vec3, requires_grad=True), wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(length, dim=100, inputs=[vd, loss])
    np.testing.assert_allclose(loss.numpy()[0], np.linalg.norm(v, axis=1).sum(), rtol=1e-5)
    tape.backward(loss)
    np.testing.assert_allclose(vd.grad.numpy(), v / np.linalg.norm(v, axis=1, keepdims=True), rtol=1e-4)
    m = rng.random((32, 48), np.float32)
    o = wp.zeros((32, 48), dtype=float)
    wp.launch_tiled(tiles, dim=(2, 3), inputs=[wp.array(m), o], block_dim=64)
    np.testing.assert_allclose(o.numpy(), m * 2 + m, rtol=1e-6)
    s = wp.zeros(n, dtype=float)
    wp.utils.array_scan(wp.array(x), s)  # a kernel of CUB in Warp's library
    np.testing.assert_allclose(s.numpy(), np.cumsum(x), rtol=1e-5)
