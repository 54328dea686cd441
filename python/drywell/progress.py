"""A progress bar of tqdm for long launches, where tqdm is installed."""

from __future__ import annotations

from typing import Any


class _Bar:
    def __init__(self, tqdm: Any) -> None:
        self._make = tqdm
        self._bar: Any = None

    def __call__(self, done: int, total: int, cycles: int) -> None:
        if self._bar is None:
            self._bar = self._make(total=total or None, unit="CTA", leave=False)
        self._bar.n = done
        self._bar.set_postfix_str(f"cycle {cycles}" if cycles else "", refresh=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def bar() -> _Bar | None:
    """A callback for Options.progress, or None without tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return _Bar(tqdm)
