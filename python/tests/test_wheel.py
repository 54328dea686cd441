"""The wheel is whole: what CMake installs into it, unpacked elsewhere, has every subcommand, `drywell exec` and `drywell python`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("DRYWELL_BINARY", "")

pytestmark = pytest.mark.skipif(not BINARY or not shutil.which("cmake"), reason="no drywell program (DRYWELL_BINARY), or no cmake")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder like site-packages, made by the same component as the wheel."""
    site = tmp_path_factory.mktemp("site")
    build = Path(BINARY).resolve().parents[1]
    subprocess.run(["cmake", "--install", build, "--component", "python", "--prefix", site], check=True, capture_output=True)
    for file in [*(ROOT / "python/drywell").glob("*.py"), ROOT / "python/drywell_command.py"]:
        shutil.copy(file, site / file.relative_to(ROOT / "python"))
    return site


def drywell(site, *words):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("DRYWELL", "LD_"))} | {"PYTHONPATH": str(site)}
    return subprocess.run([sys.executable, "-m", "drywell_command", *words], env=env, cwd=site, capture_output=True, text=True)


@pytest.mark.parametrize("words", [["list"], ["layout", "(4,8):(8,1)"], ["step", "--help"], ["isa", "--help"], ["ptxas", "--version"], ["exec", "--help"]])
def test_every_program_of_the_command_is_there(site, words):
    if words[0] == "isa" and not (Path(BINARY).parent / "drywell-lab").exists():
        pytest.skip("this build has no drywell-lab (Boost)")
    ran = drywell(site, *words)
    assert ran.returncode == 0 and ran.stdout, ran.stderr


PROGRAM = """
import ctypes, sys
driver, version = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
assert driver.cuInit(0) == 0 and driver.cuDriverGetVersion(ctypes.byref(version)) == 0
print(version.value, "drywell_boot" in sys.modules)
"""


@pytest.mark.parametrize("words", [["python", f"--python={sys.executable}", "-c", PROGRAM], ["exec", "--", sys.executable, "-c", PROGRAM]])
def test_programs_get_the_simulated_device(site, words):
    ran = drywell(site, *words)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.split()[0]) >= 13000
    assert ran.stdout.split()[1] == "True"


@pytest.mark.skipif(not shutil.which("qemu-x86_64"), reason="no qemu-x86_64 (package qemu-user)")
def test_an_old_processor_gets_a_sentence(site):
    command = ["qemu-x86_64", "-cpu", "core2duo", os.path.realpath(sys.executable), "-c", "import drywell"]
    ran = subprocess.run(command, env={"PYTHONPATH": str(site)}, cwd=site, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "ImportError: drywell: this processor has no SSE4.1; Drywell's programs are compiled for x86-64-v2" in ran.stderr


def test_compilers_find_the_stand_in_of_ptxas(site):
    drywell(site, "list")
    ran = subprocess.run([site / "drywell/lib/drywell/drywell-ptxas", "--version"], capture_output=True, text=True)
    assert ran.returncode == 0 and "release 13.0" in ran.stdout
