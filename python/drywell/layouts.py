"""CuTe's layout algebra, and pictures of layouts and fragments (docs/layout.md)."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from . import _core
from .errors import IllegalError


@dataclass(frozen=True)
class Picture:
    """A picture: HTML in a notebook, text elsewhere, SVG on request."""

    text: str
    html: str
    svg: str

    def _repr_html_(self) -> str:
        return self.html

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Layout:
    """The value of an expression in CuTe's notation."""

    expression: str
    value: str

    def picture(self, colour: str = "index", element_bits: int = 8) -> Picture:
        """Its cells; ``colour``: "index", "bank", "chunk" or "none"; ``element_bits``: of an element, for banks and chunks. IllegalError if the value is no layout."""
        if colour not in ("index", "bank", "chunk", "none") or not 0 < element_bits <= 1 << 16:
            raise ValueError(f"colour={colour!r}, element_bits={element_bits}: index, bank, chunk or none; 1 to 65536 bits")
        texts = [_core.layout_picture(self.expression, form, colour, element_bits) for form in ("text", "html", "svg")]
        return Picture(*texts)

    def _repr_html_(self) -> str:
        try:
            return self.picture().html
        except IllegalError:  # a number, or a tuple: no layout to draw
            return f"<pre>{escape(self.value)}</pre>"

    def __str__(self) -> str:
        return self.value


def layout(expression: str) -> Layout:
    """Evaluates an expression such as "composition((8,4):(4,1), 16:2)". IllegalError E18xx with line and column."""
    if not isinstance(expression, str):
        raise TypeError(f"expression={expression!r}: a word is expected, such as '(8,4):(4,1)'")
    return Layout(expression, _core.evaluate_layout(expression))


def fragments(instruction: str) -> list[Picture]:
    """Pictures of the operands of a matrix instruction, e.g. "mma.m16n8k16.f32.bf16.bf16.f32": which thread holds which element. IllegalError
    for an instruction or a form that there is not."""
    if not isinstance(instruction, str):
        raise TypeError(f"instruction={instruction!r}: a word is expected, such as 'ldmatrix.x4'")
    forms = [_core.fragment_pictures(instruction, form) for form in ("text", "html", "svg")]
    return [Picture(*texts) for texts in zip(*forms)]


def functions() -> str:
    """The functions of the expression language, one per line."""
    return _core.layout_help()
