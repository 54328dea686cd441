"""CuTe DSL: its compiler keeps the PTX beside the machine code, so that the stand-in of the driver finds one by the other."""

import os

# The second is that of `cutlass.cute.experimental`, which has variables of its own.
_PREFIXES = ("CUTE_DSL", "CUTE_EXPERIMENTAL_DSL")
# Caches of packages that keep compiled functions as object files: what is loaded from one has no PTX, in this run or in the next.
_OBJECT_CACHES = ("QUACK_CACHE_ENABLED", "FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED")


def set_environment():
    """Before any module of CuTe DSL reads it."""
    library = next((p for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if os.path.exists(os.path.join(p, "libcudart.so.13"))), None)
    for prefix in _PREFIXES:
        if library is not None:
            # The package's own .pth file has set the variable before this runs.
            os.environ[f"{prefix}_LIBS"] = os.path.join(library, "libcudart.so.13")
        kept = [t for t in os.environ.get(f"{prefix}_KEEP", "").split(",") if t]
        os.environ[f"{prefix}_KEEP"] = ",".join(kept + [t for t in ("ptx", "cubin") if t not in kept])
        os.environ[f"{prefix}_NO_CACHE"] = "1"  # what is loaded from the cache writes no PTX
        os.environ[f"{prefix}_LINEINFO"] = "1"
    os.environ.update(dict.fromkeys(_OBJECT_CACHES, "0"))


def package(module):
    """Called before the package runs: it reads the folder for PTX then."""
    import atexit
    import shutil
    import tempfile

    folder = tempfile.mkdtemp(prefix="drywell-cute-")
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    os.environ["DRYWELL_KEPT_PTX"] = folder
    for prefix in _PREFIXES:
        os.environ.setdefault(f"{prefix}_DUMP_DIR", folder)


def artifacts(module):
    """Called with the module that reads what the compiler wrote. Two functions of one name write the same files, and a program may name
    another folder (`--dump-dir`): each pair is kept under a name of its own in Drywell's."""
    if not hasattr(module, "JitFunctionArtifacts"):  # earlier versions
        os.environ["DRYWELL_KEPT_PTX"] = os.environ[f"{_PREFIXES[0]}_DUMP_DIR"]
        return
    read = module.JitFunctionArtifacts.__post_init__

    def read_and_keep(self):
        read(self)
        if isinstance(self.CUBIN, bytes) and self.PTX and ".version" in self.PTX:
            _keep(self.CUBIN, self.PTX)

    module.JitFunctionArtifacts.__post_init__ = read_and_keep


def _keep(cubin, ptx):
    import hashlib

    path = os.path.join(os.environ["DRYWELL_KEPT_PTX"], hashlib.sha256(cubin).hexdigest())
    for end, content in ((".ptx", ptx.encode()), (".cubin", cubin)):
        with open(path + end, "wb") as out:
            out.write(content)


_EMPTY = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry empty() { ret; }\n\0"


def hardware_info(module):
    """Occupancy is asked for an empty kernel, compiled into a folder of its own: PTX of one does as well."""

    def empty_kernel(self):
        driver = module.driver
        library = self._checkCudaErrors(driver.cuLibraryLoadData(_EMPTY, None, None, 0, None, None, 0))
        kernel = self._checkCudaErrors(driver.cuLibraryGetKernel(library, b"empty"))
        return self._checkCudaErrors(driver.cuKernelGetFunction(kernel))

    module.HardwareInfo._get_device_function = empty_kernel
