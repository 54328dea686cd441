"""Starts Drywell's hooks in a Python process under `drywell exec` or `drywell python`, then the user's own sitecustomize."""

import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _start_hooks():
    import drywell_boot

    drywell_boot.install()


def _run_next():
    """This file hides the sitecustomize of the user or of the system: it runs now, under its own name."""
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_start_hooks()
# The program sees the path that it would see without Drywell.
sys.path[:] = [p for p in sys.path if os.path.abspath(p or os.curdir) != _here]
_run_next()
