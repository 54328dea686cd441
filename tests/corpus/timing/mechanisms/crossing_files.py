"""Writes cross.toml, f64.toml, copies.toml, products.toml, jumps.toml, emulated.toml and late.toml."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from plans import plan  # noqa: E402

TILE, ENDS = 8192, ("sin", "sincos", "exp", "log", "tanh", "pow", "fma4", "sqrt", "div", "rsqrt")


def entries(module, start):
    return re.findall(rf"entry ({start}\w+)\(", pathlib.Path(f"{module}.ptx").read_text())


def copies():
    for e in entries("copies", "tiles"):
        _, _, stages, row, pitch, dst, src = (int(x) if x.isdigit() else x for x in e.split("_"))
        shared = stages * (TILE // row * pitch + (128 if dst else 0))
        for grid in (1, 132, 264, 528):
            yield f"{e}-{grid}", e, grid, 128, shared, f"@a @y u32:36 u32:{row}"
        spans = {128: (256, 512), 64: (256,), 32: (128,), 16: (64,)}[row] if stages == 3 and dst == src == 0 and "_0_3_" in e else ()
        for span in spans:
            for grid in (132, 528):
                yield f"{e}-{grid}-span{span}", e, grid, 128, shared, f"@a @y u32:36 u32:{span}"
    for e in entries("copies", "loads"):
        for grid in (1, 132, 264, 528):
            yield f"{e}-{grid}", e, grid, 128, 0, "@a @y u32:36 u32:0"


def doubles():
    for e in entries("f64", "f64"):
        for block in (32, 128, 512, 1024):
            yield f"{e}-{block}", e, 132, block, 0, f"@y u32:{16 if e[4:] in ENDS else 32} f64:0.75 f64:0.5"
    for words in (2, 3, 5, 7, 9, 12, 16):
        for kind in ("store", "load"):
            for grid, block, n in ((132, 128, 1), (132, 128, 8), (1056, 128, 1), (132, 1024, 4), (33, 256, 4)):
                yield f"dense_{kind}_{words}-{grid}x{block}x{n}", f"dense_{kind}_{words}", grid, block, 0, f"@a @z u32:{n} u32:{grid * block * words}"


def products():
    for e in entries("products", "parts"):
        for grid in (132, 264, 924):
            yield f"{e}-{grid}", e, grid, 128, 0, "@a @b @y u32:16 u32:512"
    for e in entries("products", "product"):
        for block in (32, 128, 256, 512):
            yield f"{e}-{block}x256", e, 132, block, 0, "@y u32:256"


plan("cross", dict(y="u32[1048576]:zeros"), [(f"{e}-{b}", e, 132, b, 0, "@y u32:64 u32:5 u32:9") for e in entries("cross", "cross") for b in (32, 128, 512)])
plan("jumps", dict(y="f32[1048576]:zeros"), [(f"{e}-{b}", e, 132, b, 0, "@y u32:7 u32:5 u32:9") for e in entries("jumps", "jump") for b in (32, 128, 512)])
plan("f64", dict(y="f64[1048576]:zeros", a="f32[16777216]:random", z="f32[16777216]:zeros"), list(doubles()))
plan("copies", dict(a="u8[67108864]:random", y="f32[1048576]:zeros"), list(copies()))
plan("products", dict(y="f32[1048576]:zeros", a="f16[8388608]:random", b="f16[8388608]:random"), list(products()))
plan("emulated", dict(y="u32[1048576]:zeros"),
     [(f"{e}-{b}", e, 132, b, 0, f"@y u32:64 u32:{'7' if e.startswith('table') else '4294967295'}") for e in entries("emulated", r"[a-z]+_") for b in (32, 128, 512)])
plan("late", dict(z="f32[16777216]:zeros"),
     [(f"{e}-{grid}x{block}x{gap}", e, grid, block, 0, f"@z u32:{gap} f32:0.5") for e in entries("late", "late") for grid, block in ((132, 1024), (132, 256), (1056, 128)) for gap in (0, 4, 16, 64)])
