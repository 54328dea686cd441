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


_EMPTY = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty() { ret; }\n\0"


def hardware_info(module):
    """Occupancy is asked for an empty kernel, compiled into a folder of its own: PTX of one does as well."""

    def empty_kernel(self):
        driver = module.driver
        library = self._checkCudaErrors(driver.cuLibraryLoadData(_EMPTY, None, None, 0, None, None, 0))
        kernel = self._checkCudaErrors(driver.cuLibraryGetKernel(library, b"empty"))
        return self._checkCudaErrors(driver.cuKernelGetFunction(kernel))

    module.HardwareInfo._get_device_function = empty_kernel
