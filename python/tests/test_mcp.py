"""`drywell mcp`: its tools through a client, by standard input and output."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import drywell
import ptx


def talk(folder, use):
    """Starts the server in a folder and calls `use(session)`."""
    command = "import sys; sys.argv = ['drywell', 'mcp', '--root', sys.argv[1]]; import drywell_command; drywell_command.main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}

    async def session():
        server = StdioServerParameters(command=sys.executable, args=["-c", command, str(folder)], env=environment)
        async with stdio_client(server) as (read, write), ClientSession(read, write) as s:
            await s.initialize()
            return await use(s)

    return asyncio.run(asyncio.wait_for(session(), 120))


def call(folder, tool, **arguments):
    async def use(s):
        answer = await s.call_tool(tool, arguments)
        text = "".join(c.text for c in answer.content)
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return text

    return talk(folder, use)


def test_tools_have_schemas(tmp_path):
    async def use(s):
        return (await s.list_tools()).tools

    tools = {t.name: t for t in talk(tmp_path, use)}
    assert set(tools) == {"run", "check", "compare", "explain", "layout", "fragments", "step", "trace"}
    for t in tools.values():
        schema = getattr(t, "inputSchema", None) or t.input_schema
        assert t.description and schema["type"] == "object" and schema["properties"]


def test_run_gives_cycles_and_values(tmp_path):
    (tmp_path / "axpy.ptx").write_text(ptx.AXPY)
    answer = call(tmp_path, "run", file="axpy.ptx", grid=[4], block=[64], args=["x", "y", 2.0, 256],
                  arrays={"x": {"shape": [256], "fill": "iota"}, "y": {"shape": [256], "fill": "zeros"}})
    assert answer["ok"] and answer["cycles"] > 100
    assert answer["arrays"]["y"]["first"] == [0, 2, 4, 6, 8, 10, 12, 14] and answer["arrays"]["y"]["max"] == 510


def test_check_gives_hazards(tmp_path):
    answer = call(tmp_path, "check", ptx=ptx.neighbours(False), grid=[1], args=["y"], arrays={"y": {"shape": [64], "dtype": "int32", "fill": "poison"}})
    assert not answer["ok"] and "H7401" in answer["hazards"] and "PTX ISA" in answer["hazard_texts"][0]


def test_runs_are_bounded_and_paths_confined(tmp_path):
    answer = call(tmp_path, "run", ptx=ptx.SPIN, grid=[1], seconds=0.5)
    assert not answer["ok"] and answer["code"] == "F3603"
    answer = call(tmp_path, "run", file="../secret.ptx", grid=[1])
    assert not answer["ok"] and "outside" in answer["error"]


needs_command = pytest.mark.skipif(not os.environ.get("DRYWELL_BINARY") and not (Path(drywell.__file__).parent / "bin/drywell").exists(), reason="no drywell program")


@needs_command
def test_step_debugs_a_launch(tmp_path):
    text = call(tmp_path, "step", commands=["step 3", "reverse-step", "where", "print %r1"], ptx=ptx.AXPY, grid=[4], block=[64],
                args=["x", "y", 2.0, 256], arrays={"x": {"shape": [256]}, "y": {"shape": [256]}})
    assert "(drywell) step 3" in text and "(drywell) print %r1" in text and "=> pc:" in text


@needs_command
def test_the_debugger_shows_no_source_outside_the_folder(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "secret.cu").write_text("the secret line\n")
    (tmp_path / "root/own.cu").write_text("the own line\n")
    head, brace, body = ptx.AXPY.partition("{")
    for name, shown in [(str(tmp_path / "secret.cu"), False), ("../secret.cu", False), ("own.cu", True)]:
        for gap in (" ", " /* a gap */ "):
            text = head.replace(".address_size 64", f'.address_size 64\n.file 1{gap}"{name}"') + brace + "\n.loc 1 1 0\n" + body
            assert ".file" in text
            out = call(tmp_path / "root", "step", commands=["step 2", "list"], ptx=text, grid=[1], block=[64], args=["x", "y", 2.0, 64],
                       arrays={"x": {"shape": [64]}, "y": {"shape": [64]}})
            assert "secret line" not in out and ("own line" in out) == shown, out


def test_explain_and_layout(tmp_path):
    assert "deadlock" in call(tmp_path, "explain", code="F3601")
    assert "Fix" in call(tmp_path, "explain", code="H7401") or "fix" in call(tmp_path, "explain", code="H7401")
    assert call(tmp_path, "layout", expression="composition(20:2, (5,4):(4,1))")["value"] == "(5,4):(8,2)"
