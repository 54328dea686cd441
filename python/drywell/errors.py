"""What can go wrong, as exceptions.

Each has ``code`` (docs/errors.md) and the text that the command prints. Four kinds:

* :class:`IllegalError` (E): the PTX, an argument or a launch that a device would refuse,
* :class:`UnsupportedError` (U): legal PTX that Drywell does not model,
* :class:`Fault` (F), with :class:`Deadlock`: the kernel did something wrong while it ran,
* :class:`InternalError` (X): a bug in Drywell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Sequence

if TYPE_CHECKING:
    from .results import Place, Run


class Error(Exception):
    """Base of all exceptions of this package; ``code`` is one of docs/errors.md."""

    code: str

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        """Worker processes send their exceptions pickled: one whose constructor takes more than its text would break their pool."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[Error], args: tuple[Any, ...], state: Mapping[str, Any]) -> Error:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


@dataclass(frozen=True)
class Diagnostic:
    """One message about an input text. ``line`` is 0 if it is not known."""

    code: str
    severity: str
    message: str
    hint: str
    file: str
    line: int
    column: int


def _diagnostic(d: Mapping[str, Any]) -> Diagnostic:
    where = d["where"] or {"file": "", "line": 0, "column": 0}
    return Diagnostic(d["code"], d["severity"], d["message"], d["hint"], where["file"], where["line"], where["column"])


class IllegalError(Error):
    """Illegal PTX, arguments or launch. ``diagnostics`` has every error that was found."""

    diagnostics: list[Diagnostic]

    def __init__(self, text: str, code: str = "", diagnostics: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(text, code)
        self.diagnostics = [_diagnostic(d) for d in diagnostics]


class UnsupportedError(Error):
    """Legal PTX that is not modelled. ``run`` is None if the launch did not start."""

    run: Run | None

    def __init__(self, text: str, code: str = "", diagnostics: Sequence[Any] = (), run: Run | None = None) -> None:
        super().__init__(text, code)
        self.run = run


class InternalError(Error):
    """A bug in Drywell."""

    def __init__(self, text: str, code: str = "", diagnostics: Sequence[Any] = ()) -> None:
        super().__init__(text, code)


class Fault(Error):
    """The kernel faulted. Arrays keep what they held before the launch.

    ``where`` names the CTA, the warp, the lanes, the instruction and the author's line; ``run`` holds what was seen until then
    (hazards, trace).
    """

    where: Place
    run: Run

    def __init__(self, text: str, code: str, where: Place, run: Run) -> None:
        super().__init__(text, code)
        self.where = where
        self.run = run

    @property
    def file(self) -> str:
        """The author's file; empty if it is not known."""
        return self.where.file

    @property
    def line(self) -> int:
        """The author's line; 0 if it is not known."""
        return self.where.line


class Deadlock(Fault):
    """No warp can go on and nothing is in flight. The text says who waits for what; a notebook shows it as a picture."""

    @property
    def picture(self) -> str:
        """The wait-for graph as SVG: blocked warps, barriers, the warps that should arrive."""
        return str((self.run.wait_graph or {}).get("svg", ""))

    def _repr_html_(self) -> str:
        from .html import deadlock_html

        return deadlock_html(str(self), self.picture)


class Stopped(Fault):
    """The launch reached a limit: ``max_instructions`` or ``max_seconds``."""


class HazardError(Error):
    """Raised by :meth:`drywell.Run.assert_clean`: hazards of level error."""
