"""Pictures of descriptors, scale factors and tensor memory, as the command draws them: text, HTML in a notebook, SVG where it has one."""

from __future__ import annotations

import tempfile
from html import escape
from pathlib import Path
from typing import Any

from .kernels import command_output
from .layouts import Picture


def _words(options: dict[str, Any]) -> list[str]:
    """Options as the command has them; True is a flag."""
    given = {name.replace("_", "-"): value for name, value in options.items() if value not in (None, False)}
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in given.items()]


def _text(*words: str) -> Picture:
    """A subcommand that prints text. What breaks a rule is part of the text (exit code 1)."""
    text = command_output(*words, statuses=(0, 1))
    return Picture(text, f"<pre>{escape(text)}</pre>", "")


def _drawn(*words: str) -> Picture:
    with tempfile.TemporaryDirectory(prefix="drywell-picture-") as folder:
        file = Path(folder) / "picture.svg"
        text = command_output(*words, f"--svg={file}", statuses=(0, 1))
        svg = file.read_text()
    fitted = svg[svg.index("<svg"):].replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)  # to a notebook's column
    return Picture(text, fitted, svg)


def descriptor(kind: str, word: int | str | None = None, /, **options: Any) -> Picture:
    """A descriptor taken apart, or made of its fields: ``kind`` "smem", "instr" or "zero-mask"; options as ``drywell desc KIND --help`` has them.

    Raises IllegalError for words that are none."""
    shown = [] if word is None else [hex(word) if isinstance(word, int) else word]
    return _text("desc", kind, *shown, *_words(options))


def tmem_layout(**options: Any) -> Picture:
    """Where an operand of ``tcgen05.mma`` lies in tensor memory: ``operand``, ``kind``, ``m``, ``n``, ``cta_group``, ``ws``, … as
    ``drywell tmem layout`` has them."""
    return _drawn("tmem", "layout", *_words(options))


def tmem_map(kernel: str, /, **options: Any) -> Picture:
    """Runs a shipped kernel and shows its allocations of tensor memory and who touches them."""
    return _text("tmem", "map", kernel, *_words(options))


def scale_factors(kind: str, /, **options: Any) -> Picture:
    """Layouts of the factors of a block-scaled MMA ("mxf8", "mxf4", "nvf4") in global, shared and tensor memory."""
    return _text("sf", "mma", kind, *_words(options))
