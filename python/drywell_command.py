"""The command ``drywell`` of the wheel: `drywell mcp` is Python, everything else is the program inside the package."""

import os
import sys


_NAMES = ("libcudart.so.13", "libcudart.so.12", "libcudart.so", "libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1")


def _link_names(folder: str) -> None:
    """The names under which programs look for the CUDA runtime, and compilers for ptxas. A wheel cannot hold links, and copies would be
    several libraries."""
    links = {name: "libdrywell_cudart.so" for name in _NAMES} | {"drywell-ptxas": "../../bin/drywell-cuda"}
    for name, target in links.items():
        try:
            os.symlink(target, os.path.join(folder, name))
        except OSError:
            pass  # made before, or not our folder: `drywell exec` then says what is missing


def main() -> None:
    if sys.argv[1:2] == ["mcp"]:
        from drywell.mcp_server import main as serve

        serve(sys.argv[2:])
        return
    package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "drywell")
    program = os.path.join(package, "bin", "drywell")
    if not os.access(program, os.X_OK):
        sys.exit(f"drywell: the program {program} is missing: this package was built without it")
    _link_names(os.path.join(package, "lib", "drywell"))
    os.execv(program, ["drywell", *sys.argv[1:]])


if __name__ == "__main__":
    main()
