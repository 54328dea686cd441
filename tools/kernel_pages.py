#!/usr/bin/env python3
"""Runs the commands of docs/kernels/*.md again: what they print goes into the text block after them, pictures beside the page.

    tools/kernel_pages.py build/tools/drywell [PAGE...]
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PAGES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "kernels"
BLOCK = re.compile(r"```sh\n(drywell [^`]*)```\n\n(```text\n[^`]*```|!\[)")


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 2
    drywell = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = sys.argv[2:]

    def run(match: re.Match) -> str:
        command = re.sub(r"(?m)(^|&& |\| )drywell ", lambda m: m.group(1) + drywell + " ", match.group(1))
        with tempfile.TemporaryDirectory() as folder:
            text = subprocess.run(["bash", "-ec", command], cwd=folder, stdout=subprocess.PIPE, check=True, text=True).stdout
            for picture in pathlib.Path(folder).glob("*.svg"):
                shutil.copy(picture, PAGES)
        if match.group(2) == "![":
            return match.group(0)
        return f"```sh\n{match.group(1)}```\n\n```text\n{text.strip(chr(10))}\n```"

    for page in sorted(PAGES.glob("*.md")):
        if wanted and page.stem not in wanted:
            continue
        print(page.stem, flush=True)
        page.write_text(BLOCK.sub(run, page.read_text()))
    return 0


sys.exit(main())
