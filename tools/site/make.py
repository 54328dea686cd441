#!/usr/bin/env python3
"""Makes the documentation as a site: make.py [OUT]. Needs mkdocs (pages, search) and doxygen (API reference), both of Debian; no network.

The pages are those of docs/, grouped by reader (groups.txt), with the README as the first; api/ is made of include/drywell. Then every link
and anchor of the pages is checked, those into api/ too, and that every class, function, member and constant of include/drywell is there and has
a comment, also those that the tables of include/drywell make (filter.py); exit code 1 if a link leads nowhere or one of them is missing. `python3 -m http.server -d OUT` shows the site. make.py --check FOLDER checks the links of a folder alone,
make.py --headers FOLDER the comments of its headers.
"""
import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree

sys.dont_write_bytecode = True  # the tree stays as it is
import filter as doxygen_filter

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def groups(pages):
    """The groups as [(name, [page])]; each page is in one."""
    found = []
    for line in (HERE / "groups.txt").read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if not line.startswith(" "):
            found.append((line.strip(), []))
            continue
        page = line.strip().removeprefix("docs/")
        if page.endswith("/"):
            found[-1][1].extend(sorted((p for p in pages if p.startswith(page)), key=lambda p: (not p.endswith("README.md"), p)))
        elif page in pages:
            found[-1][1].append(page)
        else:
            raise SystemExit(f"groups.txt: there is no page {page}")
    listed = {page for _, group in found for page in group}
    if set(pages) - listed:
        raise SystemExit(f"groups.txt: no group has {', '.join(sorted(set(pages) - listed))}")
    return found


def title(path):
    """The first heading of a page."""
    return next((line[2:].strip() for line in path.read_text().splitlines() if line.startswith("# ")), path.stem).replace("`", "")


def gather(source, api):
    """Copies the pages to a folder whose index is the README; `api`: Doxygen's pages."""
    shutil.copytree(ROOT / "docs", source)
    for name, page in (("README.md", "index.md"), ("CHANGELOG.md", "CHANGELOG.md")):
        text = (ROOT / name).read_text().replace("](docs)", "](index.md)").replace("](LICENSE)", "](license.md)")
        (source / page).write_text(re.sub(r"\]\(docs/", "](", text))
    (source / "api.md").write_text(api_page(api))
    (source / "license.md").write_text("# License\n\n```text\n" + (ROOT / "LICENSE").read_text() + "```\n")
    # A link to a folder means its first page.
    for page in source.rglob("*.md"):
        text = page.read_text()
        page.write_text(re.sub(r"\]\((kernels|adr)\)", lambda m: f"]({first_page(source, m[1])})" if page.parent == source else m[0], text))


def first_page(source, folder):
    return sorted(p.relative_to(source).as_posix() for p in (source / folder).glob("*.md"))[0]


def api_page(api):
    """The way into api/: every public header with what its first lines say."""
    lines = ["# API reference", "", "[Classes](api/annotated.html), [functions and types by file](api/files.html), [search](api/index.html).",
             "[Typed](api/classdrywell_1_1isa_1_1Typed.html) has a function for each PTX instruction, [Mod](api/mods_8h.html) each modifier,",
             "[Code](api/code_8h.html) each code of a message. The headers:", "", "| header | |", "| --- | --- |"]
    for header in sorted((ROOT / "include").rglob("*.h")):
        comment = []
        for line in header.read_text().splitlines():
            if not line.startswith("//"):
                break
            comment.append(line.lstrip("/ "))
        about = " ".join(comment).split(". ")[0].rstrip(".").replace("|", "\\|").replace("<", "&lt;")
        lines.append(f"| [`{header.relative_to(ROOT / 'include')}`](api/{header_page(api, header)}) | {about} |")
    return "\n".join(lines) + "\n"


def header_page(api, header):
    """Doxygen's name of a header's page: with as many of its folders as tell it from others of its name."""
    parts = header.relative_to(ROOT / "include").parts
    for first in range(len(parts)):
        name = "".join({"_": "__", ".": "_8", "/": "_2"}.get(c, c) for c in "/".join(parts[first:])) + ".html"
        if (api / name).exists():
            return name
    raise SystemExit(f"{header}: not in the API reference")


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def write_config(source, work, out):
    pages = sorted(p.relative_to(source).as_posix() for p in source.rglob("*.md"))
    pages = [p for p in pages if p not in ("index.md", "license.md", "CHANGELOG.md", "api.md")]
    nav = ["  - Drywell: index.md"]
    for name, group in groups(pages):
        nav.append(f"  - {quoted(name)}:")
        nav += [f"    - {quoted(title(source / page))}: {page}" for page in group]
        if name == "Contribute":
            nav.append("    - API reference: api.md")
    nav += ["    - Changes: CHANGELOG.md", "    - License: license.md"]
    config = work / "mkdocs.yml"
    # The `mkdocs` theme has all its files in the package, but for a highlighter that it would load from the network.
    config.write_text(f"""site_name: Drywell
docs_dir: {source}
site_dir: {out}
use_directory_urls: false
theme:
  name: mkdocs
  highlightjs: false
  nav_style: dark
plugins: [search]
markdown_extensions: [tables, fenced_code, toc]
nav:
""" + "\n".join(nav) + "\n")
    return config


def make_api(out):
    version = re.search(r"project\(drywell VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    doxyfile = (HERE / "Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {out}\nPROJECT_NUMBER = {version}\n"
    subprocess.run(["doxygen", "-"], input=doxyfile, text=True, cwd=ROOT, check=True)


def undocumented(headers):
    """The entities of the headers in a folder that have no comment, as (number of entities with one, text of those without)."""
    with tempfile.TemporaryDirectory() as work:
        options = {"INPUT": headers, "OUTPUT_DIRECTORY": work, "EXTRACT_ALL": "NO", "GENERATE_HTML": "NO", "GENERATE_XML": "YES", "WARNINGS": "YES",
                   "WARN_IF_UNDOCUMENTED": "YES", "WARN_LOGFILE": f"{work}/log"}
        doxyfile = (HERE / "Doxyfile").read_text() + "".join(f"{name} = {value}\n" for name, value in options.items())
        subprocess.run(["doxygen", "-"], input=doxyfile, text=True, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
        log = pathlib.Path(work, "log").read_text()
        pages = [xml.etree.ElementTree.parse(p).getroot() for p in pathlib.Path(work, "xml").glob("*.xml")]
    warnings = re.findall(r"^(\S+\.h):(\d+): warning: (.*) is not documented\.$", log, re.MULTILINE)
    without = [(place(file, line), what) for file, line, what in sorted({(file, int(line), what) for file, line, what in warnings})]
    found = sum(len(page.findall(".//compounddef")) + len(page.findall(".//memberdef")) for page in pages)
    return found, without, not_in_reference(headers, pages)


def place(file, line):
    """Where a line that Doxygen read stands in the header; a member of a table has the line of its #include."""
    return f"{file.removeprefix(f'{ROOT}/')}:{doxygen_filter.expanded(file)[2][line - 1]}"


def not_in_reference(headers, pages):
    """The members that the tables of a header make and the reference does not have, as (table, name)."""
    there = set()  # (header's name, member)
    for entity in (e for page in pages for tag in ("compounddef", "memberdef") for e in page.iter(tag)):
        location = entity.find("location")
        names = [entity.findtext("compoundname") or entity.findtext("name"), *(v.findtext("name") for v in entity.findall("enumvalue"))]
        if location is not None:
            there |= {(pathlib.Path(location.get("file")).name, name.split("::")[-1]) for name in names}
    return [(table, name) for header in sorted((ROOT / headers).rglob("*.h")) for name, table in doxygen_filter.expanded(header)[1]
            if (header.name, name) not in there]


def report_headers(headers):
    found, without, missing = undocumented(headers)
    print(f"{found} classes, functions, members and constants of {headers}, {len(without)} without a comment, {len(missing)} of tables missing")
    for where, what in without:
        print(f"{where}: {what}")
    for table, name in missing:
        print(f"{table}: {name} is not in the reference")
    return 1 if without or missing else 0


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value and tag != "base":
                self.links.append(value)
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)


def broken_links(out):
    """The links of the pages that lead nowhere, as text. Of api/, whose maker wrote its links, only the anchors count."""
    pages = {p: Page(p.read_text()) for p in out.rglob("*.html")}
    broken, checked, own = [], 0, {p: page for p, page in pages.items() if "api" not in p.relative_to(out).parts}
    for path, page in own.items():
        for link in page.links:
            url = urllib.parse.urlparse(link)
            if url.scheme or url.netloc:
                continue
            checked += 1
            target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            known = target in pages and (not url.fragment or urllib.parse.unquote(url.fragment) in pages[target].anchors)
            if not (known or (target not in pages and target.exists())):
                broken.append(f"{path.relative_to(out)}: {link}")
    print(f"{len(own)} pages, {checked} links and anchors checked, {len(broken)} broken")
    return broken


def report(out):
    broken = broken_links(out)
    for line in broken:
        print(line)
    return 1 if broken else 0


def has(program):
    if shutil.which(program) is None:
        print(f"skipped: no {program} (tools/install-deps.sh site)")
    return shutil.which(program) is not None


def main():
    if sys.argv[1:2] == ["--check"]:
        return report(pathlib.Path(sys.argv[2]).resolve())
    if sys.argv[1:2] == ["--headers"]:
        return report_headers(sys.argv[2]) if has("doxygen") else 0
    if not (has("mkdocs") and has("doxygen")):
        return 0
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site").resolve()
    work = out.parent / (out.name + "-work")
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(out, ignore_errors=True)
    work.mkdir(parents=True)
    make_api(work)
    gather(work / "docs", work / "api")
    subprocess.run(["mkdocs", "build", "--quiet", "--config-file", str(write_config(work / "docs", work, out))], check=True)
    (out / "404.html").unlink()  # for servers: its links begin at the root
    (work / "api").rename(out / "api")
    print(f"the site is in {out}")
    return max(report(out), report_headers("include/drywell"))


if __name__ == "__main__":
    sys.exit(main())
