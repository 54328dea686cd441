"""A sweep as a map: a cell per point, the darker the less it costs; the best one has a frame."""

from __future__ import annotations

from html import escape
from numbers import Real
from typing import Any, Callable, Iterable, Mapping, Sequence

from .layouts import Picture

Names = str | Sequence[str]
Row = Mapping[str, Any]

_CELL = (84, 34)
_LIGHT, _DARK = (222, 235, 247), (8, 69, 148)  # of cells: most, least
# The figures beside the cells follow the reader's setting; the cells have colours of their own.
_STYLE = """text{font:12px system-ui,sans-serif;fill:#222}.title{font-size:14px;font-weight:600}.in{text-anchor:middle;font-variant-numeric:tabular-nums}
.light{fill:#fff}.dark{fill:#123}.row{text-anchor:end}.column{text-anchor:middle}.none{fill:none;stroke:#999;stroke-dasharray:3 3}.best{fill:none;stroke:#e6550d;stroke-width:3}
@media (prefers-color-scheme:dark){text{fill:#ddd}.dark{fill:#123}.light{fill:#fff}}"""


def is_number(value: Any) -> bool:
    """Whether a value can be the least of several: NaN cannot, nor can a word."""
    return isinstance(value, Real) and value == value


def _label(row: Row, names: Names) -> str:
    for name in [names] if isinstance(names, str) else names:
        if name not in row:
            raise ValueError(f"no point has a name '{name}': {', '.join(row)}")
    if isinstance(names, str):
        return str(row[names])
    return ", ".join(f"{n} {row[n]}" for n in names)


def _title(names: Names) -> str:
    return names if isinstance(names, str) else ", ".join(names)


def _mixed(share: float) -> tuple[str, bool]:
    """A colour between light (0) and dark (1), and whether it is dark."""
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(_LIGHT, _DARK)), share > 0.45


class _Map:
    def __init__(self, rows: Iterable[Row], x: Names, y: Names, value: str) -> None:
        self.cells: dict[tuple[str, str], float | None] = {}
        for row in rows:
            number = row.get(value) if not row.get("error") and is_number(row.get(value)) else None
            place = _label(row, x), _label(row, y)
            if place in self.cells:
                raise ValueError(f"two points at {_title(x)} {place[0]}, {_title(y)} {place[1]}: name all that differs")
            self.cells[place] = number
        self.columns = list(dict.fromkeys(c for c, _ in self.cells))
        self.rows = list(dict.fromkeys(r for _, r in self.cells))
        known = [v for v in self.cells.values() if v is not None]
        if not known:
            raise ValueError(f"no point has a value '{value}'")
        self.least, self.most = min(known), max(known)

    def share(self, v: float) -> float:
        return 1.0 if self.most == self.least else (self.most - v) / (self.most - self.least)


def _number(v: float) -> str:
    return f"{v:,.0f}" if float(v).is_integer() else f"{v:,.4g}"


def _text(m: _Map) -> str:
    def shown(place: tuple[str, str]) -> str:
        if place not in m.cells:
            return ""
        v = m.cells[place]
        return "failed" if v is None else _number(v) + ("*" if v == m.least else " ")

    table = [["", *m.columns], *([r, *(shown((c, r)) for c in m.columns)] for r in m.rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    return "\n".join("  ".join(word.rjust(w) for word, w in zip(line, widths)).rstrip() for line in table)


def _svg(m: _Map, title: str, x: str, y: str) -> str:
    width, height = _CELL
    left = 24 + round(6.6 * max(len(y), *(len(r) for r in m.rows)))
    top = 74
    out: list[str] = []
    put: Callable[[str], None] = out.append
    put(f'<text class="title" x="12" y="24">{escape(title)}</text><text class="row" x="{left - 10}" y="{top - 10}">{escape(y)}</text>')
    put(f'<text class="column" x="{left + width * len(m.columns) / 2:g}" y="{top - 28}">{escape(x)}</text>')
    for i, c in enumerate(m.columns):
        put(f'<text class="column" x="{left + width * (i + 0.5):g}" y="{top - 10}">{escape(c)}</text>')
    best = ""
    for j, r in enumerate(m.rows):
        put(f'<text class="row" x="{left - 10}" y="{top + height * j + 21}">{escape(r)}</text>')
        for i, c in enumerate(m.columns):
            if (c, r) not in m.cells:
                continue
            box = f'x="{left + width * i + 1}" y="{top + height * j + 1}" width="{width - 2}" height="{height - 2}" rx="3"'
            middle = f'x="{left + width * (i + 0.5):g}" y="{top + height * j + 21}"'
            v = m.cells[c, r]
            if v is None:
                put(f'<rect class="none" {box}/><text class="in" {middle}>failed</text>')
                continue
            colour, dark = _mixed(m.share(v))
            put(f'<rect fill="{colour}" {box}/><text class="in {"light" if dark else "dark"}" {middle}>{_number(v)}</text>')
            if v == m.least:
                best += f'<rect class="best" {box}/>'
    size = left + width * len(m.columns) + 14, top + height * len(m.rows) + 14
    wide = max(size[0], 24 + round(7.6 * len(title)))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{size[1]}" viewBox="0 0 {wide} {size[1]}"><style>{_STYLE}</style>'
            + "".join(out) + best + "</svg>\n")


def heat_map(rows: Iterable[Row], x: Names, y: Names, value: str = "cycles", title: str = "") -> Picture:
    """Rows of a table as a map. ``x`` and ``y``: a name, or names whose values together are a column or a row. The least value is the best;
    a row with an error is a cell without a value. ValueError if two rows have one cell, or no row has the value."""
    m = _Map(rows, x, y, value)
    svg = _svg(m, title or value, _title(x), _title(y))
    return Picture(_text(m), svg, svg)
