"""Shipped kernels as functions on arrays, against NumPy."""

import os

import numpy as np
import pytest

import drywell as dw

pytestmark = pytest.mark.skipif(not os.environ.get("DRYWELL_BINARY"), reason="no drywell program (DRYWELL_BINARY)")


def integers(seed, *shape):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def test_a_gemm_of_arrays_is_numpys_product():
    a, b = integers(1, 128, 64), integers(2, 128, 64)
    r = dw.kernels.gemm_bf16(a=a, b=b, d_type="f32", driver="timed")
    assert r["d"].dtype == np.float32 and np.array_equal(r["d"], a @ b.T)
    assert r.cycles > 0 and r.seconds > 0
    html = r._repr_html_()
    assert "gemm-bf16" in html and f"{r.cycles:,} cycles" in html and "128 x 128" in html


def test_bf16_outputs_are_numbers():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = integers(1, 128, 64), integers(2, 128, 64)
    r = dw.kernels.gemm_bf16(a=a, b=b)
    assert r["d"].dtype == ml_dtypes.bfloat16 and np.array_equal(r["d"], (a @ b.T).astype(ml_dtypes.bfloat16))
    assert "bfloat16" in r._repr_html_()


def test_a_copy_scales_by_a_number():
    x = integers(3, 64, 64)
    r = dw.kernels.tma_copy(x, scale=2.5, verify=True, check="full")
    (y,) = r.outputs.values()
    assert np.array_equal(y, 2.5 * x) and r.hazards == [] and dw.kernels.assert_clean(r) is r


def test_quantized_values_are_near_the_input():
    x = integers(4, 64, 64)
    greatest = float(dw.kernels.amax(x)["amax"])
    assert greatest == np.abs(x).max()
    r = dw.kernels.quantize_nvfp4(x, verify=True)
    assert r["codes"].shape == (64, 32) and r["scales"].shape == (64, 4) and r.report["verify"]["status"] == "passed"
    factor = dw.dequantize(r["scales"], "ue4m3") * greatest / (6 * 448)  # of two levels: ue4m3 per block, one for all
    values = dw.dequantize(dw.numbers.unpack_fp4(r["codes"]), "e2m1").reshape(64, 4, 16) * factor[..., None]
    # The widest gap of e2m1 is 2, from 4 to 6; a factor rounded down by up to 1/16 lets the greatest value saturate.
    assert (np.abs(values - x.reshape(64, 4, 16)) <= 1.4 * factor[..., None]).all()
    assert np.abs(values).max() > 2


def test_names_and_parameters():
    names = dw.kernels.names()
    assert {"tma-copy", "gemm-bf16", "fused-rht"} <= set(names) and "gemm_bf16" in dir(dw.kernels)
    assert "--k=integer" in dw.kernels.parameters("gemm-bf16")
    with pytest.raises(AttributeError, match="no kernel 'gemm_f64'"):
        dw.kernels.gemm_f64


def test_what_a_kernel_refuses():
    with pytest.raises(dw.IllegalError, match="different k") as e:
        dw.kernels.gemm_bf16(a=integers(1, 128, 64), b=integers(2, 128, 128))
    assert e.value.code == "E2303"
    with pytest.raises(dw.Error, match="F36") as e:
        dw.kernels.tma_copy(rows=64, columns=64, max_instructions=100)
    assert e.value.code.startswith("F36")


def test_levels_of_checks_are_those_of_a_launch_and_none_is_no_option():
    for level, hazards in ((True, []), (None, [])):
        r = dw.kernels.gemm_bf16(m=128, n=128, k=64, check=level, bn=None)
        assert r.hazards == hazards and r["d"].shape == (128, 128)


def test_tensors_of_types_that_numpy_does_not_have():
    torch = pytest.importorskip("torch")
    a, b = (torch.from_numpy(integers(s, 128, 64)).to(torch.bfloat16) for s in (1, 2))
    d = dw.kernels.gemm_bf16(a=a, b=b, d_type="f32")["d"]
    assert np.array_equal(d, integers(1, 128, 64) @ integers(2, 128, 64).T)


def test_what_is_no_array_of_numbers_or_runs_nothing():
    with pytest.raises(TypeError, match="complex128: real numbers"):
        dw.kernels.gemm_bf16(a=np.ones((128, 64), complex), b=np.ones((128, 64)))
    with pytest.raises(dw.IllegalError, match="the command ran no kernel"):
        dw.kernels.gemm_bf16(help=True)
