"""A page with every launch of `drywell device time … --json FILE`, and its scatter:
calibration_page.py TITLE RECORD FOLDER FILE.json > PAGE.md, with a picture of the page's name beside it (--svg PICTURE)."""
import json
import math
import pathlib
import re
import sys

KINDS = (("warm", "#1f77b4"), ("cold", "#d62728"))
TICKS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)


def families(folder):
    return {name: path.stem for path in pathlib.Path(folder).glob("*.toml") for name in re.findall(r'^name = "([^"]+)"', path.read_text(), re.M)}


def page(title, record, folder, rows, picture):
    family = families(folder)
    lines = [f"# {title}", "", f"Microseconds from one launch to the next in a CUDA graph on an H200 (`{record}`), and the timed driver's", "prediction. "
             f"The kernels are in `{folder}`; [calibration.md](calibration.md) says how they were chosen, with which model they were compared, and what their errors come from. GHz is the SMs' clock meanwhile.", "",
             "| launch | GHz | warm, H200 | model | error | cold, H200 | model | error |", "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    for r in sorted(rows, key=lambda r: (family[r["launch"]], r["launch"])):
        cells = [f"{family[r['launch']]}: {r['launch']}", f"{r['GHz']:.2f}"]
        for kind, _ in KINDS:
            measured, predicted = r[f"{kind}_us"], r[f"{kind}_predicted_us"]
            cells += [f"{measured:.2f}", f"{predicted:.2f}", f"{100 * (predicted / measured - 1):+.0f} %"]
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "```", f"drywell device time {folder}/*.toml --from {record}", "```", "", f"![H200 and model, microseconds, both axes logarithmic]({picture})"]
    return "\n".join(lines) + "\n"


def scatter(rows):
    low, high = 1, max(max(r[f"{k}_us"], r[f"{k}_predicted_us"]) for r in rows for k, _ in KINDS) * 1.2
    span = math.log(high / low)
    x = lambda v: 70 + 550 * math.log(v / low) / span
    y = lambda v: 580 - 560 * math.log(v / low) / span
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 640" font-family="sans-serif" font-size="13"><rect width="640" height="640" fill="#fff"/>']
    for t in TICKS:
        if low <= t <= high:
            out.append(f'<path d="M{x(t):.1f} 20V580M70 {y(t):.1f}H620" stroke="#ddd"/><text x="{x(t):.1f}" y="598" text-anchor="middle" fill="#333">{t:g}</text>'
                       f'<text x="62" y="{y(t) + 4:.1f}" text-anchor="end" fill="#333">{t:g}</text>')
    for factor, dash in ((1, ""), (1.2, "4 4"), (1 / 1.2, "4 4")):
        ends = [v for v in (low * max(1, 1 / factor), high / max(1, factor))]
        out.append(f'<path d="M{x(ends[0]):.1f} {y(ends[0] * factor):.1f}L{x(ends[1]):.1f} {y(ends[1] * factor):.1f}" stroke="#888" stroke-dasharray="{dash}"/>')
    for kind, colour in KINDS:
        out += [f'<circle cx="{x(r[f"{kind}_us"]):.1f}" cy="{y(r[f"{kind}_predicted_us"]):.1f}" r="3.5" fill="{colour}" fill-opacity=".6"><title>{r["launch"]}, {kind}</title></circle>' for r in rows]
    for i, (kind, colour) in enumerate(KINDS):
        out.append(f'<circle cx="90" cy="{40 + 20 * i}" r="4" fill="{colour}"/><text x="100" y="{44 + 20 * i}" fill="#333">{kind}; dashed: 20 % off</text>')
    out.append('<text x="345" y="625" text-anchor="middle" fill="#333">H200, microseconds</text><text x="20" y="300" text-anchor="middle" fill="#333" transform="rotate(-90 20 300)">model, microseconds</text></svg>')
    return "\n".join(out) + "\n"


def main():
    title, record, folder, file, _, picture = sys.argv[1:]
    found = json.loads(pathlib.Path(file).read_text())
    rows = found if isinstance(found, list) else found["launches"]
    pathlib.Path(picture).write_text(scatter(rows))
    print(page(title, record, folder, rows, pathlib.Path(picture).name), end="")


main()
