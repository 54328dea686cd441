"""Formats, products, layouts and pictures."""

import csv
import re
import warnings
from fractions import Fraction
from pathlib import Path

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


def measured_words(instruction_of):
    """Rows of tests/data/numerics/mma_measured_hw.csv: words that GPUs gave, and how `mma` is asked for them."""
    path = Path(__file__).resolve().parents[2] / "tests/data/numerics/mma_measured_hw.csv"
    rows = csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("#"))
    archs = {"b200": "sm_100", "h100": "sm_90", "h200": "sm_90"}
    for r in rows:
        kind = {"f16": "f16", "bf16": "f16", "tf32": "tf32"}.get(r["atype"], "f8f6f4")
        by = dw.numbers.MMA(archs[r["arch"]], instruction_of(r), kind, r["dtype"], int(r["K"]))
        yield r["atype"], by, [[int(w, 16) for w in r[x].split()] for x in ("a_hex", "b_hex", "c_hex", "d_hex")]


def test_products_have_the_words_that_gpus_gave():
    # fp8 with 13 bits is wgmma's; the rest was measured through wmma.
    words = list(measured_words(lambda r: "wgmma" if r["kind"].startswith("fp8") else "mma.sync"))
    assert len(words) == 800
    for format, by, (a, b, c, d) in words:
        out = dw.numbers.mma([a], [b], dw.dequantize([c], by.d_format), a_format=format, by=by)
        assert dw.quantize(out, by.d_format, satfinite=False).reshape(-1).tolist() == d, (format, by, a, b, c)


def test_products_of_whole_numbers_are_exact_in_every_kind():
    r = np.random.default_rng(0)
    x, y = r.integers(-3, 4, (5, 128)).astype(np.float32), r.integers(-3, 4, (7, 128)).astype(np.float32)
    want = x @ y.T
    for kind, format, scales in [("f16", "bf16", None), ("tf32", "tf32", None), ("f8f6f4", "e2m3", None), ("mxf8f6f4", "e4m3", ("ue8m0", 4)), ("mxf4", "e2m1", ("ue8m0", 4)),
                                 ("mxf4nvf4", "e2m1", ("ue4m3", 8))]:
        options = {}
        if scales:  # a factor of 2 for A, a half for B
            codes = [dw.quantize([f], scales[0])[0] for f in (2.0, 0.5)]
            options = {"scale_format": scales[0], "a_scales": np.full((5, scales[1]), codes[0]), "b_scales": np.full((7, scales[1]), codes[1])}
        got = dw.numbers.mma(dw.quantize(x, format), dw.quantize(y, format), np.float32(1), a_format=format, by=dw.numbers.MMA(kind=kind), **options)
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, want + 1, kind)


def test_products_that_an_instruction_does_not_have_are_refused():
    a = np.zeros((2, 32), np.uint8)
    for bad, text in [(dict(a_format="e4m3"), "has no kind f16"), (dict(by=dw.numbers.MMA(kind="f64")), "no kind 'f64'"), (dict(by=dw.numbers.MMA(k=24)), "a multiple of 24"),
                      (dict(by=dw.numbers.MMA(kind="mxf8f6f4"), a_format="e4m3", a_scales=np.zeros((2, 1), np.uint8)), "equal numbers")]:
        with pytest.raises(ValueError, match=text):
            dw.numbers.mma(a, a, **bad)
    with pytest.raises(ValueError, match="of one K"):
        dw.numbers.mma(a, a[:, :16])


def nearest(value, ours):
    """The code of the value nearest to a number, by exact fractions; of two as near the even one. Codes of one sign are in the order of their values."""
    bits = dw.numbers.info(ours)["bits"]
    values = [(Fraction(float(v)), code) for code, v in enumerate(dw.dequantize(np.arange(1 << (bits - 1)), ours)) if np.isfinite(v)]
    return min((abs(Fraction(value) - v), code & 1, code) for v, code in values)[2]


@pytest.mark.parametrize("ours", ["e2m1", "e4m3", "e5m2", "f16"])
def test_doubles_are_rounded_once(ours):
    """Next to the middle of two codes: rounded to float32 first they would be in the middle."""
    codes = np.arange(20, 60) if ours != "e2m1" else np.arange(7)
    middles = (dw.dequantize(codes, ours).astype(np.float64) + dw.dequantize(codes + 1, ours)) / 2
    for x in (middles, middles * (1 + 2.0**-40), middles * (1 - 2.0**-40)):
        assert dw.quantize(x, ours).tolist() == [nearest(float(v), ours) for v in x]


def test_doubles_beyond_float32_are_rounded_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert dw.dequantize(dw.quantize([1e300, -1e300, 1e-300, 2**70], "e4m3"), "e4m3").tolist() == [448, -448, 0, 448]
    assert dw.dequantize(dw.quantize([2**24 + 1], "f32"), "f32").tolist() == [2**24]


@pytest.mark.parametrize("ours, theirs", PAIRS)
def test_an_array_of_the_format_is_its_codes(ours, theirs):
    x = np.asarray([1.0, 2.0]).astype(dtype_of(theirs))
    assert dw.dequantize(x, ours).tolist() == [1.0, 2.0]
    assert dw.dequantize(dw.convert(x, ours, "f32"), "f32").tolist() == [1.0, 2.0]


@pytest.mark.parametrize("call, text", [
    (lambda: dw.dequantize([300], "e4m3"), "codes of e4m3: from 0 to 255; there are 300 to 300"),
    (lambda: dw.dequantize([-1], "e4m3"), "codes of e4m3: from 0 to 255"),
    (lambda: dw.dequantize([16], "e2m1"), "codes of e2m1: from 0 to 15"),
    (lambda: dw.dequantize([1.5], "e4m3"), "codes of e4m3: whole numbers, or an array of that format; not float64"),
    (lambda: dw.dequantize(np.ones(2, np.float16), "bf16"), "codes of bf16: whole numbers, or an array of that format; not float16"),
    (lambda: dw.numbers.pack_fp4([16, 17]), "codes of e2m1: from 0 to 15"),
    (lambda: dw.numbers.pack_fp4([1.5, 2.0]), "codes of e2m1: whole numbers"),
    (lambda: dw.numbers.quantize_blocks(np.ones((2, 16)), block=0), "blocks of 0 along the last axis"),
    (lambda: dw.numbers.dequantize_blocks(np.ones((2, 32), np.uint8), np.ones((2, 1), np.uint8)), "scales of shape (2, 1): (2, 2), one for each block of 16"),
    (lambda: dw.quantize(["a"], "e4m3"), "values: real numbers"),
    (lambda: dw.quantize([1j], "e4m3"), "values: real numbers"),
    (lambda: dw.quantize([None], "e4m3"), "NoneType"),
    (lambda: dw.quantize([1.0], None), "format=None: a word is expected"),
    (lambda: dw.numbers.mma(np.ones((4, 16)), np.ones((4, 16), np.uint16)), "codes of f16: whole numbers"),
    (lambda: dw.numbers.mma(np.ones((4, 16), np.float16), np.ones((4, 16), np.float16), np.ones((3, 4))), "C (3, 4): values [M, N], here (4, 4)"),
    (lambda: dw.layout(3), "expression=3: a word is expected"),
    (lambda: dw.layout("8:1").picture("pink"), "colour='pink'"),
    (lambda: dw.fragments(None), "instruction=None: a word is expected"),
])
def test_what_are_no_numbers_is_told(call, text):
    with pytest.raises((TypeError, ValueError), match=re.escape(text)):
        call()


def test_tensors_are_arrays_of_their_types():
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert dw.quantize(x, "e4m3").tolist() == dw.quantize(x.detach().to(torch.bfloat16), "e4m3").tolist() == [56, 64]
    assert dw.dequantize(x.detach().to(torch.float8_e4m3fn), "e4m3").tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", ["ldmatrix.x3", "stmatrix.x3", "tcgen05.ld.16x256b.x3", "tcgen05.ld.32x32b.x256", "mma.m16n8k16.f32.bf16.e4m3.f32"])
def test_instructions_that_there_are_not_have_no_fragments(name):
    """PTX: .x1, .x2, .x4 of ldmatrix, powers of two up to .x128 of tcgen05.ld; A and B of one size."""
    with pytest.raises(dw.IllegalError, match="E4306"):
        dw.fragments(name)


def test_narrow_floats_take_a_byte_each_where_k_is_32():
    """.kind::f8f6f4: e2m1 and its relatives of 6 bits lie in containers of 8; .kind::mxf4 packs eight into a register."""
    eight, four = (dw.fragments(f"mma.{shape}.f32.e2m1.e2m1.f32") for shape in ("m16n8k32", "m16n8k64"))
    for narrow, e4m3 in zip(eight, dw.fragments("mma.m16n8k32.f32.e4m3.e4m3.f32")):
        assert narrow.text.splitlines()[1:] == e4m3.text.splitlines()[1:]
    assert "R3.7" in four[0].text and "R3.4" not in eight[0].text
