"""Pictures of descriptors, scale factors and tensor memory."""

import os

import pytest

import drywell as dw

pytestmark = pytest.mark.skipif(not os.environ.get("DRYWELL_BINARY"), reason="no drywell program (DRYWELL_BINARY)")


def test_a_descriptor_is_taken_apart():
    p = dw.pictures.descriptor("smem", 0x4000404000010040)
    assert "0x400" in p.text and "128" in p.text  # start address 0x40 * 16, the swizzle
    assert p._repr_html_().startswith("<pre>") and str(p) == p.text
    with pytest.raises(dw.IllegalError):
        dw.pictures.descriptor("smem", "nonsense")


def test_a_layout_of_tensor_memory_is_drawn():
    p = dw.pictures.tmem_layout(operand="d", m=64, n=32)
    assert p.svg.rstrip().endswith("</svg>") and p.html.startswith("<svg") and "64" in p.text


def test_scale_factors_and_a_kernels_use_of_tensor_memory():
    assert "128x256" in dw.pictures.scale_factors("nvf4", tile="128x256", stages=3).text.replace(" ", "")
    assert "tcgen05.mma" in dw.pictures.tmem_map("fused-rht", m=128, n=128).text


def test_an_instruction_descriptor_of_its_fields():
    """Bits of kind::f16 for D in f32, M = 128, N = 64: PTX ISA, "Instruction descriptor"."""
    fields = (1 << 4) | (64 >> 3) << 17 | (128 >> 4) << 24
    assert f"0x{fields:08x}" in dw.pictures.descriptor("instr", kind="f16", d="f32", a="f16", b="f16", m=128, n=64).text
