#!/usr/bin/env python3
"""tools/fit_arch.py finds the figures of a machine from its survey: here the machine is the simulator with figures of its own.

    tests/timing/fit_arch.py build/tools/drywell
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OTHER = {("tmem", "service_32x32b"): (0.6, "cyc"), ("tmem", "cp_bytes_per_clk"): (80, "B/clk"), ("umma", "array_per_column"): (0.55, "cyc"), ("class", "tmem_alloc.latency"): (300, "cyc")}


def machine():
    text = 'base = "sm_100a"\nname = "other"\ndescription = "a machine of this test"\ntarget = "sm_100a"\ntensor = "umma"\n'
    for section in sorted({s for s, _ in OTHER}):
        text += f"[{section}]\n"
        for (s, key), (value, unit) in OTHER.items():
            if s == section:
                text += f'{key} = {{ value = {value}, unit = "{unit}", provenance = "assumed", source = "a test" }}\n'
    return text


def fitted(text, section, key):
    body = text[text.index(f"\n[{section}]\n") :]
    return float(re.search(rf"^{re.escape(key)} = {{ value = ([^,]+),", body, re.M)[1])


def main():
    drywell = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "other.toml").write_text(machine())
        subprocess.run([drywell, "device", "survey", "other.survey", "--simulate=./other.toml", "--only=microbench", "--filter=^tcgen05"], cwd=folder, check=True)
        shutil.copy(ROOT / "sim/arch/sm_100a.toml", folder / "fitted.toml")
        subprocess.run([sys.executable, ROOT / "tools/fit_arch.py", drywell, "other.survey", "./fitted.toml"], cwd=folder, check=True)
        text = (folder / "fitted.toml").read_text()
    wrong = 0
    for (section, key), (value, _) in OTHER.items():
        found = fitted(text, section, key)
        near = abs(found / value - 1) <= 0.03
        wrong += not near
        print(f"{section}.{key}: {found} of {value}{'' if near else '  TOO FAR'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
