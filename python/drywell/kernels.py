"""The kernels that Drywell ships, as functions on arrays: ``dw.kernels.quantize_nvfp4(x).outputs["codes"]``.

A name is that of ``drywell list`` with underscores. Arrays and options are the command's (``dw.kernels.parameters("gemm-bf16")``); each call runs
the command of this package in a process of its own, with .npy files for the arrays.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping

import numpy as np

from .arrays import host_array
from .errors import Error, HazardError, IllegalError, InternalError, UnsupportedError

# Exit codes of the command (docs/errors.md).
_MISMATCH, _UNSUPPORTED, _FAULT, _BUG = 1, 4, 5, 70


@dataclass(frozen=True)
class KernelRun:
    """Result of a shipped kernel. ``outputs``: its arrays by name (bf16: ``ml_dtypes.bfloat16``, or its bits as uint16 without that package); ``report``: what ``--json`` writes (docs/schemas/run.json)."""

    outputs: Mapping[str, np.ndarray]
    report: Mapping[str, Any]

    @property
    def cycles(self) -> int | None:
        """Predicted cycles; timed driver only."""
        return self.report["cycles"]

    @property
    def seconds(self) -> float | None:
        """Predicted seconds; timed driver only."""
        return self.report["seconds"]

    @property
    def hazards(self) -> list[Mapping[str, Any]]:
        """What the checker found, as in ``report``."""
        return list(self.report.get("hazards", ()))

    def __getitem__(self, name: str) -> np.ndarray:
        return self.outputs[name]

    def _repr_html_(self) -> str:
        from .html import kernel_run_html

        return kernel_run_html(self)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}: {a.dtype}{list(a.shape)}" for name, a in self.outputs.items())
        return f"<drywell.KernelRun {self.report['kernel']}, {self.report['shape']}; {shapes}>"


def program() -> str:
    """The command: of this package, or DRYWELL_BINARY. FileNotFoundError if there is neither."""
    own = Path(__file__).parent / "bin" / "drywell"
    found = os.environ.get("DRYWELL_BINARY") or (str(own) if own.exists() else "")
    if not found:
        raise FileNotFoundError("this package was built without the drywell command, and DRYWELL_BINARY is not set")
    return found


def command_output(*words: str, statuses: tuple[int, ...] = (0,)) -> str:
    """What the command prints. Raises IllegalError with its message for another exit status."""
    ran = subprocess.run([program(), *words], capture_output=True, text=True)
    if ran.returncode not in statuses:
        raise IllegalError(_message(ran.stderr), _code(ran.stderr))
    return ran.stdout


def names() -> list[str]:
    """The kernels, as ``drywell list`` names them."""
    return [line.split()[0] for line in command_output("list").splitlines() if line and not line.startswith(" ") and not line.startswith("drywell")]


def parameters(name: str) -> str:
    """A kernel's parameters as text, one per line."""
    return command_output("list", name)


def _message(text: str) -> str:
    return text.strip().removeprefix("drywell: ")


def _code(text: str) -> str:
    found = re.search(r"\b[EUFX]\d{4}\b", text)
    return found[0] if found else ""


def _as_float(array: Any) -> np.ndarray:
    """Values as the command reads them: exact for every format up to float32."""
    a = host_array(array)
    if a.dtype.kind not in "biufV":
        raise TypeError(f"an array of {a.dtype}: real numbers")
    return np.ascontiguousarray(a if a.dtype in (np.float32, np.uint8, np.uint16, np.uint32) else a.astype(np.float32))


def _word(name: str, value: Any, folder: Path) -> str:
    option = name.replace("_", "-")
    if isinstance(value, (bool, np.bool_)):
        return f"--{option}={str(bool(value)).lower()}"
    if isinstance(value, (str, int, float, np.integer, np.floating)):
        return f"--{option}={value}"
    np.save(folder / f"{name}.npy", _as_float(value))
    return f"--{option}={folder / name}.npy"


def _refuse(ran: subprocess.CompletedProcess[str], report: Mapping[str, Any]) -> None:
    """Raises what the exit code means; does nothing for a run that ended well, or with hazards but right values."""
    text = _message(ran.stderr or ran.stdout)
    if ran.returncode == 0 or (ran.returncode == _MISMATCH and report and report["verify"]["status"] != "failed"):
        return
    if ran.returncode == _MISMATCH:
        raise Error(f"values differ from the host reference: {report['verify'].get('first_mismatch', '')}" if report else text)
    if ran.returncode == _FAULT:
        fault = (report or {}).get("fault") or {"code": _code(text), "message": text}
        raise Error(f"{fault['code']}: {fault['message']}", fault["code"])
    kinds: dict[int, type[Error]] = {_UNSUPPORTED: UnsupportedError, _BUG: InternalError}
    raise kinds.get(ran.returncode, IllegalError)(text, _code(text))


def _loaded(file: Path) -> np.ndarray:
    """An output. NumPy has no bf16: its files name it as two bytes."""
    a = np.load(file)
    if a.dtype != np.dtype("V2"):
        return a
    try:
        import ml_dtypes  # type: ignore[import-not-found]
    except ImportError:
        return a.view(np.uint16)
    return a.view(ml_dtypes.bfloat16)


def _level(check: str | bool | None) -> str:
    """As a launch takes it."""
    return check if isinstance(check, str) else "full" if check else "off"


def run(name: str, x: Any = None, *, driver: str = "eager", check: str | bool | None = "basic", arch: str | None = None, verify: bool = False,
        values: bool = True, **options: Any) -> KernelRun:
    """Runs a shipped kernel; without arrays on generated data.

    ``x``: the input of kernels that have one; options that are arrays (a GEMM's ``a``, ``b``, ``c``), numbers and words are the command's, with
    underscores; None is an option that is not given. ``driver``, ``check`` ("off", "basic", "full"; True is full, None and False are off),
    ``arch``, ``verify`` (compare with the host reference): as for ``drywell run``. ``values=False``: timed driver; the same cycles, without
    results of the tensor core and without outputs.
    Raises IllegalError for shapes and options that the kernel does not take, Error with ``code`` F… for a fault, Error if ``verify`` finds a
    difference. Hazards are in the result; :meth:`KernelRun.hazards`."""
    with tempfile.TemporaryDirectory(prefix="drywell-kernel-") as place:
        folder = Path(place)
        words = [_word(option, value, folder) for option, value in options.items() if value is not None]
        if x is not None:
            words.append(_word("input", x, folder))
        words += [f"--driver={driver}", f"--check={_level(check)}"] + ([f"--arch={arch}"] if arch else []) + (["--verify"] if verify else [])
        out = folder / "outputs"
        out.mkdir()
        words.append(f"--save={out}" if values else "--no-values")
        ran = subprocess.run([program(), "run", name, *words, f"--json={folder / 'report.json'}"], capture_output=True, text=True)
        written = folder / "report.json"
        report = json.loads(written.read_text()) if written.exists() and written.stat().st_size else {}
        _refuse(ran, report)
        if not report:
            raise IllegalError(f"the command ran no kernel; it printed: {_message(ran.stdout)[:400]}", "E4300")
        return KernelRun({p.stem: _loaded(p) for p in sorted(out.glob("*.npy"))}, report)


def assert_clean(r: KernelRun) -> KernelRun:
    """Raises HazardError if there is a hazard of level error. Returns the run."""
    bad = [h for h in r.hazards if h["level"] == "error"]
    if bad:
        raise HazardError("\n".join(f"{h['code']}: {h['rule']}: {h['memory']}" for h in bad), bad[0]["code"])
    return r


def __getattr__(name: str) -> Callable[..., KernelRun]:
    """``dw.kernels.gemm_bf16(a=…, b=…)`` is ``dw.kernels.run("gemm-bf16", a=…, b=…)``."""
    if name.startswith("_"):
        raise AttributeError(name)
    known = {n.replace("-", "_"): n for n in names()}
    if name not in known:
        raise AttributeError(f"no kernel '{name}': {', '.join(known)}")
    return functools.partial(run, known[name])


def __dir__() -> list[str]:
    return [*globals(), *(n.replace("-", "_") for n in names())]
