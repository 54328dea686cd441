"""`drywell mcp`: its tools through a client, by standard input and output."""

import asyncio
import json
import os
import sys

import pytest

pytest.importorskip("mcp")
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

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
    assert set(tools) == {"run", "check", "compare", "explain", "layout", "fragments", "trace"}
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


def test_explain_and_layout(tmp_path):
    assert "deadlock" in call(tmp_path, "explain", code="F3601")
    assert call(tmp_path, "layout", expression="composition(20:2, (5,4):(4,1))")["value"] == "(5,4):(8,2)"
