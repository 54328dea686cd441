"""Kernels of CuTe DSL on arrays."""

import numpy as np
import pytest

import drywell as dw

cutlass = pytest.importorskip("cutlass", reason="no package nvidia-cutlass-dsl")
import cutlass.cute as cute  # noqa: E402
from cutlass.cute.runtime import from_dlpack  # noqa: E402


@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    i = block * 128 + thread
    c[i] = a[i] + b[i]


@cute.jit
def add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    add_kernel(a, b, c).launch(grid=[4, 1, 1], block=[128, 1, 1])


@pytest.mark.parametrize("arch, driver", [("sm_100a", "eager"), ("sm_100a", "timed"), ("sm_90a", "lazy"), ("sm_90a", "shuffled:3")])
def test_a_kernel_adds_arrays(arch, driver, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    x, y, z = rng.random(512, np.float32), rng.random(512, np.float32), np.zeros(512, np.float32)
    k = dw.cute.compile(add, *(from_dlpack(v) for v in (x, y, z)), arch=arch)
    r = k[4](x, y, z, driver=driver, check="full")
    np.testing.assert_array_equal(z, x + y)
    assert r.hazards == [] and (driver != "timed" or (r.cycles or 0) > 0)
    assert list(tmp_path.iterdir()) == []  # no file of the compiler is left


def test_a_kernel_that_is_not_there():
    v = [from_dlpack(np.zeros(512, np.float32)) for _ in range(3)]
    with pytest.raises(dw.cute.Unavailable, match="no kernel 'none'"):
        dw.cute.compile(add, *v, entry="none")
