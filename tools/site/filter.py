#!/usr/bin/env python3
"""What Doxygen reads in place of a header: filter.py HEADER prints it with its tables (#include "….inc") expanded to the members that the
compiler sees, each with a comment from its row; comments.sed changes the other lines. make.py also asks for the names of those members, so
that one that is missing in the reference is found."""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent.parent / "include"
STRING = r'"((?:[^"\\]|\\.)*)"'


def text_of(literals):
    """The text of adjacent string literals, safe in a comment."""
    return "".join(re.findall(STRING, literals)).replace('\\"', '"').replace("\\\\", "\\").replace("*/", "* /")


def plain(text):
    """Words that Doxygen would take for links, tags or commands, as they are."""
    return re.sub(r"([<>#@\\])", r"\\\1", text)


def after(declaration, comment):
    return f"  {declaration}  /**< {comment} */" if comment else f"  {declaration}"


def without_comments(table):
    return re.sub(r"^\s*//.*$", "", table, flags=re.MULTILINE)


def rows(table, macro):
    """The arguments of each MACRO(…) of a table as text; a row may take several lines."""
    text = without_comments(table)
    for start in re.finditer(rf"\b{macro}\(", text):
        depth, at, quoted = 1, start.end(), False
        while depth:
            c = text[at]
            if c == '"' and text[at - 1] != "\\":
                quoted = not quoted
            if not quoted:
                depth += {"(": 1, ")": -1}.get(c, 0)
            at += 1
        yield text[start.end():at - 1]


def named(table, macro, comment):
    """Enumerators: the first argument of each row, with what `comment` makes of all arguments."""
    for row in rows(table, macro):
        name = row.split(",")[0].strip()
        yield name, after(f"{name},", comment(row))


def async_kinds(table):
    """Their comments are behind the rows."""
    for name, unit, about in re.findall(r"^ASYNC_KIND\((\w+), \w+, (\w+)\)(?:\s*// (.*))?$", table, re.MULTILINE):
        yield name, after(f"{name},", f"{plain(about)}: of the unit `{unit}`" if about else "")


def instructions(table):
    """all.inc names the tables of rows."""
    for path in re.findall(r'#include "(.*)"', table):
        yield from named((INCLUDE / path).read_text(), "INSTR", lambda row: plain(text_of(re.search(r"\.doc\s*=\s*((?:" + STRING + r"\s*)+)", row)[1])))


def arch_figures(table):
    """The figures of a machine: a struct for each section."""
    table = without_comments(table)
    for m in re.finditer(r"\b(ARCH_SECTION|ARCH_VALUE|ARCH_END)\(", table):
        kind, row = m[1], next(rows(table[m.start():], m[1]))
        words = [w.strip() for w in row.split(",")]
        if kind == "ARCH_SECTION":
            yield None, f"  /// {plain(text_of(row))}\n  struct {{"
        elif kind == "ARCH_END":
            yield words[0], f"  }} {words[0]};"
        else:
            unit, about = (plain(text_of(f'"{s}"')) for s in re.findall(STRING, row)[:2])
            yield words[1], "  " + after(f"{words[2]} {words[1]}{{}};", about + (f", in {unit}" if unit and about else ""))


# ---- the functions of Typed

def tokens():
    """PTX's text of each modifier."""
    table = (INCLUDE / "drywell/isa/table/mods.inc").read_text()
    return {name: text for name, text in re.findall(rf"MOD\((\w+), {STRING}\)", table)}


MODS = tokens()


def code(words):
    return ", ".join(f"`.{MODS.get(w, w)}`" for w in words)


def field(kind, mods, name):
    words = re.findall(r"Mod::(\w+)", mods)
    if kind == "Flag":
        return f"{code(words)}, if true"
    return f"{'One' if kind == 'OneOf' else 'None, or one'} of {code(words)}"


def fields(body):
    return re.findall(r"(Flag|OneOf|Maybe)<([^>]*)> (\w+)(?: = \{\})?;", body)


def typed_structs(forms):
    for name, body in re.findall(r"^struct (\w+) \{ (.*) \};$", forms, re.MULTILINE):
        lines = [f"/// Modifiers of Typed::{name.removesuffix('_form')}.", f"struct {name} {{"]
        for kind, mods, f in fields(body):
            lines.append(after(f"{kind}<{mods}> {f}{'' if kind == 'OneOf' else ' = {}'};", field(kind, mods, f)))
        yield name, "\n".join(lines + ["};"])


def opcode(mnemonic, parts, form):
    """As PTX's manual writes it: "add{.sat}.type"."""
    kinds = {name: (kind, re.findall(r"Mod::(\w+)", mods)) for kind, mods, name in fields(form)}
    text = mnemonic
    for part in filter(None, (p.strip() for p in parts.split(","))):
        if part.startswith("Mod::"):
            text += "." + MODS.get(part[5:], part[5:])
            continue
        kind, mods = kinds[part[2:]]
        one = "." + (MODS.get(mods[0], mods[0]) if kind == "Flag" else part[2:])
        text += one if kind == "OneOf" else "{" + one + "}"
    return text


METHOD = re.compile(r'^  (?:Reg|void) (\w+)\((.*)\) \{ (return def|emit)\("([^"]*)", \{(.*?)\}, \{(.*?)\}, w\); \}$')


def typed_methods(methods, forms):
    bodies = dict(re.findall(r"^struct (\w+)_form \{ (.*) \};$", forms, re.MULTILINE))
    about = row = ""  # a row has one or two functions: NAME, NAME_to
    for line in methods.splitlines():
        if line.startswith("  /// "):
            about, row = line[6:], ""
            continue
        m = METHOD.match(line)
        if m is None:
            yield None, line
            continue
        name, declared, how, mnemonic, parts, operands = m.groups()
        about = about if name.startswith(row) else ""
        row = name
        form = re.search(r"typed::(\w+)_form", declared)
        text = opcode(mnemonic, parts, bodies[form[1]] if form else "")
        result = " Returns its destination, a new register." if how == "return def" else ""
        yield name, (f"  /// `{text}{' ' if operands or result else ''}{'d, ' if result and operands else 'd' if result else ''}{operands};`: {plain(about)}.{result}\n" if about else "") + line


def typed_forms(table, first):
    """The table has two parts (drywell/isa/typed.h)."""
    forms, methods = re.search(r"#ifdef DRYWELL_TYPED_FORMS\n(.*)#else\n(.*)#endif", table, re.DOTALL).groups()
    return typed_structs(forms) if first else typed_methods(methods, forms)


TABLES = {
    "mods.inc": lambda t, _: named(t, "MOD", lambda row: f"`.{text_of(row)}`"),
    "codes.inc": lambda t, _: named(t, "CODE", lambda row: plain(text_of(re.search(STRING, row)[0]))),
    "timing_classes.inc": lambda t, _: named(t, "TIMING_CLASS", lambda row: f"class `{row.split(',')[0]}` of the files of architectures"),
    "special_regs.inc": lambda t, _: named(t, "SREG", lambda row: f"`{text_of(row)}`"),
    "async_kinds.inc": lambda t, _: async_kinds(t),
    "arch_keys.inc": lambda t, _: arch_figures(t),
    "all.inc": lambda t, _: instructions(t),
    "typed_forms.inc": typed_forms,
}
WITHOUT_MEMBERS = {"opcode_grammar.inc"}  # constants of one function


def sed(header):
    """The lines that comments.sed makes of the header, each with the number of the line that it was made of."""
    script = ["sed", "-E", "-f", HERE / "comments.sed", "-e", "=", header]  # "=" prints the number before what a line became
    number, lines = 0, []
    for line in subprocess.run(script, text=True, capture_output=True, check=True).stdout.splitlines():
        if line.isdecimal():
            number = int(line)
        else:
            lines.append((number, line))
    return lines


def table_of(header, include):
    """The file of an #include in the header: of include/, or beside it."""
    file = INCLUDE / include
    return file if file.exists() else pathlib.Path(header).parent / include


def expanded(header):
    """The header's lines for Doxygen, the members of its tables as (name, table), and of each line the number of the header's line."""
    out, members, origins, seen = [], [], [], set()
    row_types = False  # `struct OP_;` for each row: names without members
    for number, line in sed(header):
        row_types = line.startswith("namespace row") or (row_types and not line.startswith("}"))
        include = re.match(r'\s*#include "(.*/(\w+\.inc))"', line)
        if include is not None and include[2] not in TABLES.keys() | WITHOUT_MEMBERS:
            raise SystemExit(f"{header}:{number}: tools/site/filter.py does not know the table {include[2]}")
        if include is None or include[2] in WITHOUT_MEMBERS or row_types:
            made = [(None, line)]
        else:
            made = list(TABLES[include[2]](table_of(header, include[1]).read_text(), include[2] not in seen))
            seen.add(include[2])
        for name, text in made:
            out.append(text)
            origins += [number] * (text.count("\n") + 1)
            members += [(name, include[1])] if name else []
    return "\n".join(out) + "\n", members, origins


if __name__ == "__main__":
    sys.stdout.write(expanded(sys.argv[1])[0])
