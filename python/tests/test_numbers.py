"""Formats, layouts and pictures."""

import numpy as np
import pytest

import drywell as dw

ml_dtypes = pytest.importorskip("ml_dtypes")

PAIRS = [("e4m3", "float8_e4m3fn"), ("e5m2", "float8_e5m2"), ("bf16", "bfloat16"), ("f16", "float16"), ("e2m1", "float4_e2m1fn"), ("e2m3", "float6_e2m3fn"),
         ("e3m2", "float6_e3m2fn"), ("ue8m0", "float8_e8m0fnu")]


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name, name))


@pytest.mark.parametrize("ours, theirs", PAIRS)
def test_every_code_has_the_value_of_ml_dtypes(ours, theirs):
    codes = np.arange(1 << dw.numbers.info(ours)["bits"])
    dtype = dtype_of(theirs)
    want = codes.astype(np.uint8 if dtype.itemsize == 1 else np.uint16).view(dtype).astype(np.float32)
    np.testing.assert_array_equal(dw.dequantize(codes, ours), want)


@pytest.mark.parametrize("ours, theirs", [p for p in PAIRS if p[0] != "ue8m0"])
def test_rounding_is_that_of_ml_dtypes_inside_the_range(ours, theirs):
    limit = dw.numbers.info(ours)["max"]
    x = (np.random.default_rng(0).standard_normal(5000) * min(limit / 4, 100)).astype(np.float32)
    x = x[np.abs(x) <= limit]
    np.testing.assert_array_equal(dw.dequantize(dw.quantize(x, ours), ours), x.astype(dtype_of(theirs)).astype(np.float32))


def test_saturation_and_directed_rounding():
    assert dw.dequantize(dw.quantize([1e9, -1e9], "e4m3"), "e4m3").tolist() == [448, -448]
    assert dw.dequantize(dw.convert(dw.quantize([1.1], "f32"), "f32", "bf16", "rz"), "bf16") <= 1.1
    assert dw.dequantize(dw.convert(dw.quantize([1.1], "f32"), "f32", "bf16", "rp"), "bf16") >= 1.1
    with pytest.raises(ValueError, match="no format"):
        dw.quantize([1.0], "e9m9")


def test_block_scaling_round_trip():
    x = np.random.default_rng(1).standard_normal((4, 64)).astype(np.float32)
    codes, scales = dw.numbers.quantize_blocks(x, "e2m1", "ue4m3", 16)
    assert codes.shape == (4, 64) and scales.shape == (4, 4)
    back = dw.numbers.dequantize_blocks(codes, scales, "e2m1", "ue4m3", 16)
    largest = np.abs(x.reshape(4, 4, 16)).max(-1, keepdims=True)
    # A step of e2m1 next to its greatest value, 6, is 2: half of it, and a little for the factor's own rounding.
    assert (np.abs(back - x).reshape(4, 4, 16) <= largest * (1 / 6 + 1 / 16)).all()
    assert (dw.numbers.unpack_fp4(dw.numbers.pack_fp4(codes)) == codes).all()


def test_layouts():
    assert str(dw.layout("composition(20:2, (5,4):(4,1))")) == "(5,4):(8,2)"  # CuTe's documentation
    assert "<svg" in dw.layout("(4,8):(8,1)").picture().svg and "0" in str(dw.layout("(2,2):(2,1)").picture())
    with pytest.raises(dw.IllegalError) as e:
        dw.layout("(4,8")
    assert e.value.code == "E1801"


def test_fragments():
    pictures = dw.fragments("mma.m16n8k16.f32.bf16.bf16.f32")
    assert len(pictures) == 3 and "<svg" in pictures[0].svg
