"""CuTe DSL: its compiler keeps the PTX beside the machine code, so that the stand-in of the driver finds one by the other."""

import os

_PREFIX = "CUTE_DSL"


def set_environment():
    """Before any module of CuTe DSL reads it."""
    library = next((p for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if os.path.exists(os.path.join(p, "libcudart.so.13"))), None)
    if library is not None:
        # The package's own .pth file has set the variable before this runs.
        os.environ[f"{_PREFIX}_LIBS"] = os.path.join(library, "libcudart.so.13")
    kept = [t for t in os.environ.get(f"{_PREFIX}_KEEP", "").split(",") if t]
    os.environ[f"{_PREFIX}_KEEP"] = ",".join(kept + [t for t in ("ptx", "cubin") if t not in kept])
    os.environ[f"{_PREFIX}_NO_CACHE"] = "1"  # what is loaded from the cache writes no PTX


def package(module):
    """Called before the package runs: it reads the folder for PTX then."""
    import atexit
    import shutil
    import tempfile

    folder = os.environ.get(f"{_PREFIX}_DUMP_DIR")
    if folder is None:
        folder = os.environ[f"{_PREFIX}_DUMP_DIR"] = tempfile.mkdtemp(prefix="drywell-cute-")
        owner = os.getpid()
        atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    os.environ["DRYWELL_KEPT_PTX"] = folder
