"""Runs one test file for ctest: exit status 77, a visible skip, if a package that it needs is not installed."""

import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def missing(names: list[str]) -> list[str]:
    return [n for n in names if importlib.util.find_spec(n) is None]


def main() -> int:
    file, *needs = sys.argv[1:]
    absent = missing(["pytest", "numpy", *needs])
    if absent:
        print(f"skipped: Python packages that {file} needs are not installed: {', '.join(absent)}")
        return 77
    import pytest

    os.chdir(HERE)
    return int(pytest.main(["-q", "-rs", "-p", "no:cacheprovider", file]))


if __name__ == "__main__":
    sys.exit(main())
