"""Results as HTML for notebooks: tables without scripts or external parts."""

from __future__ import annotations

import re
from html import escape
from typing import Any, Iterable, Sequence

from .results import Hazard, Run, Timing

_STYLE = ("<style>.dw table{margin:6px 0;border-collapse:collapse}.dw td,.dw th{text-align:left;padding:1px 8px;vertical-align:middle}.dw .number{text-align:right}"
          ".dw .bar{background:#4878a8;height:9px}.dw .error{color:#b00020}.dw .warning{color:#8a6d00}.dw pre{margin:2px 0;white-space:pre-wrap}"
          ".dw svg{max-width:100%;height:auto}.dw .key{display:inline-block;width:10px;height:10px;margin:0 4px 0 12px}</style>")
_RIGHT = ' class="number"'
_NUMBER = re.compile(r"-?[\d,]*\.?\d+%?")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = [list(row) for row in rows]
    numbers = [bool(cells) and all(_NUMBER.fullmatch(row[i]) or not row[i] for row in cells) for i in range(len(head))]

    def line(tag: str, row: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}{_RIGHT if number else ''}>{cell}</{tag}>" for cell, number in zip(row, numbers)) + "</tr>"

    return f"<table>{line('th', [escape(h) for h in head])}{''.join(line('td', row) for row in cells)}</table>"


def _bar(share: float) -> str:
    return f'<div class="bar" style="width:{max(1, round(160 * min(share, 1)))}px" title="{share:.1%}"></div>'


def _limits(t: Timing) -> str:
    return _table(("limit", "cycles", "of the run", ""), [(escape(x.name), f"{x.cycles:,.0f}", f"{x.fraction:.1%}", _bar(x.fraction)) for x in t.limits[:6]])


def _lines(t: Timing) -> str:
    total = sum(x.cycles for x in t.lines) or 1
    rows = [(escape(f"{x.file.rpartition('/')[2]}:{x.line}"), f"{x.instructions:,}", f"{x.cycles / total:.1%}", _bar(x.cycles / total)) for x in t.lines[:8]]
    return _table(("line", "warp instructions", "of warp time", ""), rows)


def _stalls(t: Timing) -> str:
    rows = []
    for role in t.roles.values():
        total = sum(role.stalls.values()) or 1
        worst = sorted(role.stalls.items(), key=lambda s: -s[1])[:5]
        rows.append((escape(role.name), f"{role.warps}", escape(", ".join(f"{name} {cycles / total:.0%}" for name, cycles in worst))))
    return _table(("role", "warps", "where their cycles went"), rows)


def _hazards(hazards: list[Hazard]) -> str:
    if not hazards:
        return "<p>no hazards found</p>"
    items = (f'<details><summary class="{h.level}">{h.level} {h.code}: {escape(h.rule)} ({h.count})</summary><pre>{escape(h.text)}</pre></details>' for h in hazards)
    return "".join(items)


def run_html(r: Run) -> str:
    """A run: its shape, time, limits, lines, stalls, hazards."""
    title = f"<b>{escape(r.launch.kernel)}</b> grid {r.launch.grid}, block {r.launch.block}, {escape(r.launch.arch)}, {escape(r.launch.driver)}"
    parts = [title]
    if r.timing:
        parts += [f"<p>{r.timing.cycles:,} cycles, {r.timing.seconds * 1e6:.2f} us at {r.timing.clock_ghz:.2f} GHz on {r.timing.sms_used} SMs</p>",
                  _limits(r.timing), _stalls(r.timing), _lines(r.timing)]
    if r.timeline and r.timeline["seen"]:
        parts.append(timeline_svg(r.timeline))
    if r.wait_graph and r.wait_graph["edges"]:
        parts.append(r.wait_graph["svg"])
    if r.hazards is not None:
        parts.append(_hazards(r.hazards))
    return f'{_STYLE}<div class="dw">{"".join(parts)}</div>'


_COLOURS = {"issued": "#2a9d5c", "memory": "#c06030", "register_dependency": "#d9a441", "mbarrier": "#5470c6", "tmem_wait": "#8e5ea2", "named_barrier": "#73a0d0",
            "pipe_busy": "#c23b3b"}
_OTHER = "#bbbbbb"


def timeline_svg(t: dict[str, Any] | Any) -> str:
    """The warps of one CTA over time: a row per warp, coloured by state."""
    length = max(1, t["to"] - t["from"])
    out, seen = [], set[str]()
    for row, warp in enumerate(t["warps"]):
        y = row * 12
        for begin, end, state, _ in warp["spans"]:
            x, width = 900 * (begin - t["from"]) / length, max(0.2, 900 * (end - begin) / length)
            if state != "finished":
                seen.add(state)
                out.append(f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="10" fill="{_COLOURS.get(state, _OTHER)}"><title>warp {row}: {state} {begin}-{end}</title></rect>')
    height = 12 * len(t["warps"])
    svg = f'<svg width="900" height="{height}" viewBox="0 0 900 {height}" xmlns="http://www.w3.org/2000/svg">{"".join(out)}</svg>'
    return f"<p>warps 0 to {len(t['warps']) - 1} of one CTA, cycles {t['from']:,} to {t['to']:,}:{_key(seen)}</p>{svg}"


def _key(states: Iterable[str]) -> str:
    """The colours of a timeline; states without one of their own share grey."""
    named = sorted(s for s in states if s in _COLOURS)
    others = sorted(s for s in states if s not in _COLOURS)
    parts = [(_COLOURS[s], s) for s in named] + ([(_OTHER, ", ".join(others))] if others else [])
    return "".join(f'<span class="key" style="background:{colour}"></span>{escape(name.replace("_", " "))}' for colour, name in parts)


def deadlock_html(text: str, picture: str) -> str:
    return f'{_STYLE}<div class="dw"><pre>{escape(text)}</pre>{picture}</div>'


def lines_html(title: str, lines: Sequence[str]) -> str:
    return f"<b>{escape(title)}</b><pre>{escape(chr(10).join(lines))}</pre>"


_ROWS = 200


def rows_html(columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> str:
    more = f"<p>{len(rows):,} rows; the first {_ROWS} are shown</p>" if len(rows) > _ROWS else ""
    return f'{_STYLE}<div class="dw">{_table(columns, [[_cell(r.get(c)) for c in columns] for r in rows[:_ROWS]])}{more}</div>'


def _cell(value: Any) -> str:
    return "" if value is None else escape(str(value))


def kernel_run_html(r: Any) -> str:
    """A shipped kernel's run: its arrays, time, limits and hazards."""
    report = r.report
    parts = [f"<b>{escape(report['kernel'])}</b> {escape(report['shape'])}, {escape(report['arch'])}, {escape(report['driver'])}"]
    if report["cycles"] is not None:
        parts.append(f"<p>{report['cycles']:,} cycles, {report['seconds'] * 1e6:.2f} us</p>")
        parts.append(_table(("limit", "cycles", "of the run", ""),
                            [(escape(x["name"]), f"{x['cycles']:,.0f}", f"{x['fraction']:.1%}", _bar(x["fraction"])) for x in report["limits"][:6]]))
    parts.append(_table(("output", "type", "shape"), [(escape(n), str(a.dtype), " x ".join(map(str, a.shape))) for n, a in r.outputs.items()]))
    parts += [f'<p class="{h["level"]}">{h["level"]} {h["code"]}: {escape(h["rule"])} ({h["count"]})</p>' for h in report.get("hazards", ())]
    return f'{_STYLE}<div class="dw">{"".join(parts)}</div>'
