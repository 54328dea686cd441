"""``drywell mcp``: tools for assistants that write kernels, by the Model Context Protocol (package ``mcp``).

Files are read only inside the folder in which it was started; runs are bounded in time and instructions, answers in characters."""

from __future__ import annotations

import argparse
import functools
import importlib
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Callable

import numpy as np

from .arrays import as_dtype, poison
from .errors import Error, Fault
from .kernel import Kernel, kernel_of
from .kernels import command_output, program
from .layouts import fragments as fragment_pictures
from .layouts import layout as evaluate_layout
from .results import Run
from .tensormap import tensor_map

MAX_TEXT = 20_000
MAX_SECONDS = 60.0
MAX_BYTES = 1 << 28  # of all arrays of a call
MAX_FILE = 1 << 26
MAX_TRACED = 2_000_000  # warp instructions: a trace is text in memory


class Workspace:
    """The folder of the server: paths outside it are refused."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def path(self, name: str) -> Path:
        p = (self.root / name).resolve()
        if not p.is_relative_to(self.root):
            raise ValueError(f"{name}: outside {self.root}")
        return p

    def ptx(self, text: str, file: str) -> tuple[str, str]:
        """PTX and its name in messages. `text` is never a path: that could lead anywhere."""
        if bool(text) == bool(file):
            raise ValueError("give ptx (the text) or file (a path), one of them")
        return (text, "<ptx>") if text else (self.file(file).read_text(), file)

    def file(self, name: str) -> Path:
        """A file of the folder: no pipe or device, which could keep the server for ever."""
        p = self.path(name)
        if not p.is_file() or p.stat().st_size > MAX_FILE:
            raise ValueError(f"{name}: {'larger than ' + str(MAX_FILE) + ' bytes' if p.is_file() else 'no file'}")
        return p

    def arch(self, name: str) -> str:
        """A shipped machine by its name, or an architecture file of the folder."""
        return name if re.fullmatch(r"\w*", name) and not (self.root / name).is_file() else str(self.file(name))

    def own_sources(self, text: str) -> str:
        """PTX whose `.file` directives name no file outside the folder: the debugger shows the source lines of what they name."""
        plain = re.sub(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', lambda m: m[0] if m[0][0] == '"' else " ", text, flags=re.S)
        return re.sub(r'(\.file\s+\d+\s*)"([^"\n]*)"', lambda m: m[0] if self._has(m[2]) else f'{m[1]}"{Path(m[2]).name}.outside"', plain)

    def _has(self, name: str) -> bool:
        return (self.root / name).resolve().is_relative_to(self.root)


def clip(text: str, limit: int = MAX_TEXT) -> str:
    return text if len(text) <= limit else f"{text[:limit]}\n… {len(text) - limit} more characters"


def bounded(seconds: float) -> float:
    """0 would be no limit."""
    return seconds if 0 < seconds < MAX_SECONDS else MAX_SECONDS


def make_arrays(specs: dict[str, dict[str, Any]] | None) -> dict[str, np.ndarray]:
    made: dict[str, np.ndarray] = {}
    for name, spec in (specs or {}).items():
        made[name] = make_array(spec)
        if sum(a.nbytes for a in made.values()) > MAX_BYTES:
            raise ValueError(f"arrays of more than {MAX_BYTES} bytes")
    return made


def make_array(spec: dict[str, Any]) -> np.ndarray:
    """{"shape": [64, 32], "dtype": "float32", "fill": "random" | "zeros" | "ones" | "iota" | "poison", "seed": 0}"""
    shape, dtype = tuple(spec["shape"]), as_dtype(spec.get("dtype", "float32"))
    if int(np.prod(shape, dtype=np.int64)) * dtype.itemsize > MAX_BYTES:
        raise ValueError(f"an array of more than {MAX_BYTES} bytes")
    fill = spec.get("fill", "random")
    if fill == "poison":
        return poison(shape, dtype)
    if fill == "random":
        r = np.random.default_rng(spec.get("seed", 0))
        return (r.integers(0, 100, shape) if dtype.kind in "iu" else r.standard_normal(shape)).astype(dtype)
    makers = {"zeros": np.zeros, "ones": np.ones, "iota": lambda s: np.arange(int(np.prod(s))).reshape(s)}
    if fill not in makers:
        raise ValueError(f"fill {fill!r}: random, zeros, ones, iota or poison")
    return makers[fill](shape).astype(dtype)


def make_argument(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """A number, "name" of an array, or {"map": "name", "box": […], "swizzle": "128B"}."""
    if isinstance(value, str):
        if value not in arrays:
            raise ValueError(f"no array '{value}': {', '.join(arrays) or 'none'}")
        return arrays[value]
    if isinstance(value, dict):
        return tensor_map(arrays[value["map"]], value["box"], value.get("swizzle"))
    return value


def describe_array(x: np.ndarray) -> dict[str, Any]:
    f = x.astype(np.float64)
    finite = f[np.isfinite(f)]
    return {"shape": list(x.shape), "dtype": x.dtype.name, "first": [float(v) for v in f.reshape(-1)[:8]], "nans": int(np.isnan(f).sum()),
            "min": float(finite.min()) if finite.size else None, "max": float(finite.max()) if finite.size else None}


def differences(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> dict[str, Any]:
    """Whether arrays of equal names have equal bytes; of those that do not, how many elements differ, and the first."""
    found = {}
    for name, x in a.items():
        bytes_of = [np.ascontiguousarray(v).reshape(-1).view(np.uint8).reshape(-1, x.itemsize) for v in (x, b[name])]
        (at,) = np.nonzero((bytes_of[0] != bytes_of[1]).any(1))
        if at.size:
            first = [int(i) for i in np.unravel_index(at[0], x.shape)]
            found[name] = {"elements": int(at.size), "first": first, "a": float(x.reshape(-1)[at[0]]), "b": float(b[name].reshape(-1)[at[0]])}
    return {"equal": not found, "differences": found}


def describe_run(run: Run) -> dict[str, Any]:
    out = run.to_dict()
    if run.timing:
        out["report"] = clip(run.timing.text, 6000)
    out["hazard_texts"] = [clip(h.text, 1500) for h in (run.hazards or [])[:10]]
    return out


_EXPECTED = (Error, ValueError, TypeError, OverflowError, KeyError, OSError, AttributeError, subprocess.TimeoutExpired)


def said(e: Exception) -> str:
    """An exception as text. That of a KeyError is the name alone, if it comes from a mapping."""
    if not isinstance(e, KeyError) or not e.args:
        return str(e)
    return str(e.args[0]) if " " in str(e.args[0]) else f"'{e.args[0]}' is missing"


def launch(workspace: Workspace, *, ptx: str = "", file: str = "", entry: str = "", grid: list[int], block: list[int] | None = None,
           cluster: list[int] | None = None, smem: int = 0, arrays: dict[str, dict[str, Any]] | None = None, args: list[Any] | None = None,
           driver: str = "eager", check: str = "full", arch: str = "sm_100a", seconds: float = 20.0) -> dict[str, Any]:
    """One bounded launch; errors of the kernel are part of the answer."""
    return launch_on(workspace, {}, ptx=ptx, file=file, entry=entry, grid=grid, block=block, cluster=cluster, smem=smem, arrays=arrays, args=args,
                     driver=driver, check=check, arch=arch, seconds=seconds)


def launch_on(workspace: Workspace, made: dict[str, np.ndarray], *, ptx: str, file: str, entry: str, grid: list[int], block: list[int] | None,
              cluster: list[int] | None, smem: int, arrays: dict[str, dict[str, Any]] | None, args: list[Any] | None, driver: str, check: str, arch: str,
              seconds: float) -> dict[str, Any]:
    """The same; the arrays are put into `made`."""
    try:
        made |= make_arrays(arrays)
        kernel = kernel_of(*workspace.ptx(ptx, file), entry or None, workspace.arch(arch))
        values = [make_argument(a, made) for a in args or []]
        run = kernel.launch(grid, *values, block=block, cluster=cluster, smem=smem or None, driver=driver, check=check or None,
                            max_seconds=bounded(seconds))
    except _EXPECTED as e:
        return {"ok": False, "code": getattr(e, "code", ""), "error": clip(said(e), 8000)}
    return {"ok": not run.errors, **describe_run(run), "arrays": {name: describe_array(x) for name, x in made.items()}}


def traced(kernel: Kernel, grid: list[int], values: list[Any], block: list[int] | None) -> tuple[str, str]:
    """The trace of a launch, and the text of its fault."""
    try:
        run = kernel.launch(grid, *values, block=block, trace="values", max_seconds=MAX_SECONDS, max_instructions=MAX_TRACED)
    except Fault as e:
        return e.run.trace or "", str(e)
    return run.trace or "", ""


def step_through(workspace: Workspace, commands: list[str], kernel: Kernel, grid: list[int], values: list[Any], driver: str, seconds: float, **shape: Any) -> str:
    """What `drywell step` prints for the commands, on a launch that is written to a folder first."""
    with tempfile.TemporaryDirectory(prefix="drywell-step-") as folder:
        try:
            kernel.launch(grid, *values, dump=folder, max_instructions=1, arch=kernel.arch, **shape)
        except Fault:
            pass  # stopped, as it should be: the launch was written before
        (file,) = Path(folder).glob("*/launch.toml")
        script = Path(folder) / "commands.txt"
        script.write_text("\n".join([*commands, "quit", ""]))
        words = [program(), "step", str(file), f"--script={script}", f"--driver={driver}", f"--arch={kernel.arch}", f"--timeout={seconds}"]
        ran = subprocess.run(words, cwd=workspace.root, capture_output=True, text=True, timeout=seconds + 30, stdin=subprocess.DEVNULL)
        return clip((ran.stdout + ran.stderr).replace(folder, ""))


def _server_classes() -> tuple[Any, Any]:
    """MCPServer of mcp 2, FastMCP of mcp 1, and the exception whose text an assistant sees: mcp 2 hides that of others."""
    for module, name in (("mcp.server.mcpserver", "MCPServer"), ("mcp.server.fastmcp", "FastMCP")):
        try:
            return getattr(importlib.import_module(module), name), importlib.import_module(f"{module}.exceptions").ToolError
        except (ImportError, AttributeError):
            continue
    raise ImportError("no server in the package mcp")


def _telling(refusal: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A tool whose failures are answers with their text."""

    def wrap(tool: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(tool)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return tool(*args, **kwargs)
            except _EXPECTED as e:
                raise refusal(clip(said(e), 8000)) from e

        return call

    return wrap


def server(root: Path) -> Any:
    """The server with its tools; their schemas follow from the signatures."""
    workspace = Workspace(root)
    kind, refusal = _server_classes()
    app = kind("drywell", instructions="Runs PTX kernels for sm_100a and sm_90a on a simulator: values, cycles, hazards. Nothing needs a GPU.")
    telling = _telling(refusal)

    @app.tool()
    @telling
    def run(grid: list[int], ptx: str = "", file: str = "", entry: str = "", block: list[int] | None = None, cluster: list[int] | None = None, smem: int = 0,
            arrays: dict[str, dict[str, Any]] | None = None, args: list[Any] | None = None, driver: str = "timed", arch: str = "sm_100a",
            seconds: float = 20.0) -> dict[str, Any]:
        """Launches a PTX kernel and returns cycles, the time report and what its arrays hold.

        ptx: text, or file: a path in the folder. arrays: name -> {"shape", "dtype", "fill": random|zeros|ones|iota|poison, "seed"}.
        args: numbers, names of arrays, {"map": name, "box": [...], "swizzle": "128B"}. driver: eager, lazy, shuffled:SEED, timed."""
        return launch(workspace, ptx=ptx, file=file, entry=entry, grid=grid, block=block, cluster=cluster, smem=smem, arrays=arrays, args=args,
                      driver=driver, check="", arch=arch, seconds=seconds)

    @app.tool()
    @telling
    def check(grid: list[int], ptx: str = "", file: str = "", entry: str = "", block: list[int] | None = None, cluster: list[int] | None = None, smem: int = 0,
              arrays: dict[str, dict[str, Any]] | None = None, args: list[Any] | None = None, driver: str = "eager", arch: str = "sm_100a",
              seconds: float = 20.0) -> dict[str, Any]:
        """Launches a PTX kernel with all hazard checks: missing waits and fences, races, lifetimes; each with its line and a fix. As run."""
        return launch(workspace, ptx=ptx, file=file, entry=entry, grid=grid, block=block, cluster=cluster, smem=smem, arrays=arrays, args=args,
                      driver=driver, check="full", arch=arch, seconds=seconds)

    @app.tool()
    @telling
    def compare(grid: list[int], ptx_a: str, ptx_b: str, entry: str = "", block: list[int] | None = None, cluster: list[int] | None = None, smem: int = 0,
                arrays: dict[str, dict[str, Any]] | None = None, args: list[Any] | None = None, arch: str = "sm_100a", seconds: float = 20.0) -> dict[str, Any]:
        """Launches two PTX texts on equal inputs under the timed driver, with all hazard checks: cycles of both, whether all bytes of their arrays
        are equal (null if one of them failed), and where they differ."""
        made: tuple[dict[str, np.ndarray], dict[str, np.ndarray]] = ({}, {})
        a, b = (launch_on(workspace, kept, ptx=text, file="", entry=entry, grid=grid, block=block, cluster=cluster, smem=smem, arrays=arrays, args=args,
                          driver="timed", check="full", arch=arch, seconds=seconds) for text, kept in zip((ptx_a, ptx_b), made))
        return {"a": a, "b": b, **differences(*made)} if "arrays" in a and "arrays" in b else {"a": a, "b": b, "equal": None, "differences": {}}

    @app.tool()
    @telling
    def explain(code: str) -> str:
        """What a code of Drywell means (E…, F…, U…, H…), and how it is fixed."""
        return _explain(code)

    @app.tool()
    @telling
    def layout(expression: str) -> dict[str, str]:
        """Evaluates CuTe's layout algebra, e.g. "composition((8,4):(4,1), 16:2)", and draws the result as text."""
        value = evaluate_layout(expression)
        try:
            picture = clip(str(value.picture()), 8000)
        except Error:
            picture = ""  # a value that is no layout
        return {"value": str(value), "picture": picture}

    @app.tool()
    @telling
    def fragments(instruction: str) -> list[str]:
        """Which thread and register holds which element, for "mma.m16n8k16.f32.bf16.bf16.f32", "ldmatrix.x4", "tcgen05.ld.16x256b.x2", …"""
        return [clip(str(p), 8000) for p in fragment_pictures(instruction)]

    @app.tool()
    @telling
    def step(commands: list[str], grid: list[int], ptx: str = "", file: str = "", entry: str = "", block: list[int] | None = None, cluster: list[int] | None = None,
             smem: int = 0, arrays: dict[str, dict[str, Any]] | None = None, args: list[Any] | None = None, driver: str = "eager", arch: str = "sm_100a",
             seconds: float = 20.0) -> str:
        """Debugs a launch: runs the debugger's commands one after the other and shows what each prints.

        Some commands: "break ptx:20" or "break mbarrier", "continue", "step 5", "next", "print %r1", "info" (warps, barriers, operations in flight),
        "x u32 ADDRESS 8", "where", "who REGISTER" (who wrote it), "reverse-step", "cta 1,0,0", "warp 2"; "help" and "help COMMAND" explain them."""
        made = make_arrays(arrays)
        text, name = workspace.ptx(ptx, file)
        kernel = kernel_of(workspace.own_sources(text), name, entry or None, workspace.arch(arch))
        values = [make_argument(a, made) for a in args or []]
        return step_through(workspace, commands, kernel, grid, values, driver, bounded(seconds), block=block, cluster=cluster, smem=smem or None)

    @app.tool()
    @telling
    def trace(grid: list[int], ptx: str = "", file: str = "", entry: str = "", block: list[int] | None = None, arrays: dict[str, dict[str, Any]] | None = None,
              args: list[Any] | None = None, owner: str = "", first: int = 0, records: int = 100, arch: str = "sm_100a") -> str:
        """The trace of a launch, until its fault if there is one: records `first` and following, with register values; `owner` keeps lines
        that contain it."""
        made = make_arrays(arrays)
        kernel = kernel_of(*workspace.ptx(ptx, file), entry or None, workspace.arch(arch))
        text, fault = traced(kernel, grid, [make_argument(a, made) for a in args or []], block)
        lines = [line for line in text.splitlines() if owner in line]
        shown = lines[max(first, 0) : max(first, 0) + min(max(records, 0), 500)]
        return clip("\n".join([*shown, fault] if fault else shown))

    return app


def _explain(code: str) -> str:
    try:
        return clip(command_output("explain", "--", code.strip()))
    except (Error, FileNotFoundError) as e:
        return str(e)


# As those of the other commands: a test runs them.
_EXAMPLES = """Examples:
  drywell mcp
  drywell mcp --root kernels"""


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser("drywell mcp", description="Serves Drywell's tools to an assistant on standard input and output.",
                                     formatter_class=argparse.RawDescriptionHelpFormatter, epilog=_EXAMPLES)
    parser.add_argument("--root", default=".", help="files are read only inside this folder")
    options = parser.parse_args(argv)
    try:
        app = server(Path(options.root))
    except ImportError:
        parser.exit(6, "drywell: `drywell mcp` needs the package mcp: pip install mcp\n")
    app.run()
