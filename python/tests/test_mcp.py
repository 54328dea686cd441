"""`drywell mcp`: its tools through a client, by standard input and output."""

import asyncio
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import drywell.mcp_server
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


def run_mcp(folder, words):
    """`drywell mcp` with these words and nothing on standard input."""
    command = "import sys; sys.argv = ['drywell', *sys.argv[1:]]; import drywell_command; drywell_command.main()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.run([sys.executable, "-c", command, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def test_help_ends_with_two_examples_that_run(tmp_path):
    lines = run_mcp(tmp_path, ["mcp", "--help"]).stdout.rstrip().splitlines()
    examples = lines[lines.index("Examples:") + 1:]
    assert len(examples) == 2
    (tmp_path / "kernels").mkdir()
    for line in examples:
        program, *words = shlex.split(line)
        ran = run_mcp(tmp_path, words)
        assert program == "drywell" and ran.returncode == 0, ran.stderr


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
    assert not answer["ok"] and answer["code"] == "F3605"
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
    assert call(tmp_path, "explain", code=" f3601\n") == call(tmp_path, "explain", code="F3601")
    assert "Fix" in call(tmp_path, "explain", code="H7401") or "fix" in call(tmp_path, "explain", code="H7401")
    assert call(tmp_path, "layout", expression="composition(20:2, (5,4):(4,1))")["value"] == "(5,4):(8,2)"


@pytest.mark.parametrize("arch", ["/etc/passwd", "../secret.toml", "link.toml"])
def test_architecture_files_are_confined(tmp_path, arch):
    (tmp_path / "root").mkdir()
    (tmp_path / "secret.toml").write_text("the secret line\n")
    (tmp_path / "root/link.toml").symlink_to("../secret.toml")
    answer = call(tmp_path / "root", "run", ptx=ptx.SPIN, grid=[1], arch=arch)
    assert not answer["ok"] and "outside" in answer["error"]


def test_a_text_is_never_a_path(tmp_path):
    secret = tmp_path / "secret.ptx"
    secret.write_text(ptx.SPIN)
    for tool, more in (("run", {}), ("check", {}), ("step", {"commands": ["where"]}), ("trace", {})):
        answer = call(tmp_path / "..", tool, ptx=str(secret), grid=[1], seconds=0.5, **more)
        assert "error E" in (answer if isinstance(answer, str) else answer["error"]), answer
    answer = call(tmp_path / "..", "compare", ptx_a=str(secret), ptx_b=ptx.SPIN, grid=[1], seconds=0.5)
    assert "error E" in answer["a"]["error"] and answer["equal"] is None


def test_a_pipe_is_no_file_and_no_limit_is_the_greatest(tmp_path):
    os.mkfifo(tmp_path / "pipe.ptx")
    assert "no file" in call(tmp_path, "run", file="pipe.ptx", grid=[1])["error"]
    assert [drywell.mcp_server.bounded(s) for s in (0, -1, float("nan"), 1e9, 5)] == [60, 60, 60, 60, 5]


def test_arrays_are_bounded_together(tmp_path):
    arrays = {f"a{i}": {"shape": [1 << 24], "dtype": "float64", "fill": "zeros"} for i in range(3)}
    assert "bytes" in call(tmp_path, "run", ptx=ptx.SPIN, grid=[1], arrays=arrays)["error"]


def test_compare_looks_at_every_element(tmp_path):
    arrays = {"x": {"shape": [256], "fill": "iota"}, "y": {"shape": [256], "fill": "zeros"}}
    other = ptx.AXPY.replace("DONE:", "setp.ne.u32 %p1, %r5, 100; @%p1 bra DONE; st.global.f32 [%rd5], %f1;\nDONE:")
    for b, equal, found in ((ptx.AXPY, True, {}), (other, False, {"y": {"elements": 1, "first": [100], "a": 200.0, "b": 2.0}}), ("nonsense", None, {})):
        answer = call(tmp_path, "compare", ptx_a=ptx.AXPY, ptx_b=b, grid=[4], block=[64], args=["x", "y", 2.0, 256], arrays=arrays)
        assert answer["equal"] is equal and answer["differences"] == found


@pytest.mark.parametrize("tool, arguments, text", [("layout", {"expression": "((("}, "E18"), ("fragments", {"instruction": "foo"}, "E4306"),
                                                   ("trace", {"ptx": "nonsense", "grid": [1]}, "error E"), ("step", {"commands": [], "grid": [1]}, "give ptx")])
def test_what_goes_wrong_is_told(tmp_path, tool, arguments, text):
    """The package mcp hides the text of exceptions that it does not know from the assistant."""
    assert text in call(tmp_path, tool, **arguments)


def test_a_trace_ends_at_the_fault(tmp_path):
    text = call(tmp_path, "trace", ptx=ptx.AXPY, grid=[1], block=[64], args=["x", "x", 2.0, 256], arrays={"x": {"shape": [8]}})
    assert "# trace" in text and "F3001" in text
