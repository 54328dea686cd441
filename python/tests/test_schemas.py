"""Every JSON report that a test can make follows its schema in docs/schemas, and the schemas refuse what they do not have."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

jsonschema = pytest.importorskip("jsonschema")
referencing = pytest.importorskip("referencing")

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = {p.stem: json.loads(p.read_text()) for p in (ROOT / "docs/schemas").glob("*.json")}
BINARY = os.environ.get("DRYWELL_BINARY", "")
REGISTRY = referencing.Registry().with_resources((s["$id"], referencing.Resource.from_contents(s)) for s in SCHEMAS.values())

needs_binary = pytest.mark.skipif(not BINARY, reason="no drywell program (DRYWELL_BINARY)")


def check(document, name):
    jsonschema.Draft202012Validator(SCHEMAS[name], registry=REGISTRY).validate(document)


def run(words, file, statuses=(0,)):
    ran = subprocess.run([BINARY, *words], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode in statuses, ran.stderr
    return json.loads(file.read_text())


COPY = ["run", "tma-copy", "--rows=64", "--columns=64"]
# schema, words, exit statuses, keys that the report must have because of its options
REPORTS = {
    "timed and checked": ("run", [*COPY, "--driver=timed", "--check", "--verify"], (0,), ["hazards", "limits", "lines"]),
    "functional": ("run", [*COPY, "--check=off"], (0,), ["params"]),
    "with hazards": ("run", ["run", "fused-rht", "--m=128", "--n=128", "--fences=false", "--check"], (0, 1), ["notes"]),
    "explored": ("run", [*COPY, "--explore=2"], (0,), ["explored"]),
    "stopped by a fault": ("run", [*COPY, "--max-instructions=100"], (5,), ["fault"]),
    "a launch file": ("run-file", ["run", "examples/ptx/axpy.toml", "--driver=timed", "--check"], (0,), ["launches"]),
    "mutants": ("mutate", ["mutate", "tma-copy", "--sms=1"], (0, 1), ["mutants"]),
    "conformance": ("conformance", ["conformance", "--filter=^dp4a"], (0,), []),
    "microbenchmarks": ("bench-hw", ["bench-hw", "--from=traces/hw/h200-2026-11-22-microbench.txt", "--filter=^mbarrier"], (0,), []),
    "traces": ("trace-check", ["trace", "check", "traces/golden/tma-copy.trace"], (0,), ["traces"]),
}


@needs_binary
@pytest.mark.parametrize("what", REPORTS)
def test_a_report_follows_its_schema(tmp_path, what):
    schema, words, statuses, keys = REPORTS[what]
    report = run([*words, f"--json={tmp_path / 'report.json'}"], tmp_path / "report.json", statuses)
    assert report and all(report[k] is not None for k in keys)
    check(report, schema)


@needs_binary
def test_a_comparison_follows_its_schema(tmp_path):
    files = [tmp_path / "before.json", tmp_path / "after.json"]
    for file, rows in zip(files, (64, 128)):
        run(["run", "tma-copy", f"--rows={rows}", "--columns=64", "--driver=timed", f"--json={file}"], file)
    check(run(["compare", *map(str, files), f"--json={tmp_path / 'c.json'}"], tmp_path / "c.json", (0, 1)), "compare")


LAUNCHES = """
module = "{module}"
[buffers]
x = "f32[1000]:random"
y = "f32[1000]:zeros"
[[launch]]
name = "axpy"
grid = 4
block = 256
args = ["@x", "@y", "f32:2.5", "u32:1000"]
"""


@needs_binary
def test_times_beside_a_record_follow_their_schema(tmp_path):
    (tmp_path / "axpy.toml").write_text(LAUNCHES.format(module=ROOT / "examples/ptx/axpy.ptx"))
    (tmp_path / "record.csv").write_text("file,launch,warm_ns,cold_ns,GHz\naxpy.toml,axpy,1000,2000,1.9\n")
    words = ["device", "time", str(tmp_path / "axpy.toml"), f"--from={tmp_path / 'record.csv'}", f"--json={tmp_path / 't.json'}"]
    report = run(words, tmp_path / "t.json")
    assert report[0]["warm_us"] == 1.0
    check(report, "device-time")


PROGRAM = """
import ctypes, sys
d, c = ctypes.CDLL("libcuda.so.1"), ctypes
text = open(sys.argv[1], "rb").read()
module, kernel, p, n = c.c_void_p(), c.c_void_p(), c.c_uint64(), c.c_uint32(64)
assert d.cuInit(0) == 0 and d.cuModuleLoadData(c.byref(module), text) == 0
assert d.cuModuleGetFunction(c.byref(kernel), module, sys.argv[2].encode()) == 0
assert d.cuMemAlloc_v2(c.byref(p), 1024) == 0 and d.cuMemsetD8_v2(p, 0, c.c_size_t(1024)) == 0
a = c.c_float(2)
arguments = (c.c_void_p * 4)(*[c.cast(c.byref(x), c.c_void_p) for x in (p, p, a, n)])
sys.exit(d.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, arguments, None))
"""


@needs_binary
@pytest.mark.parametrize("options", [["--driver=timed", "--check"], []])
def test_a_report_of_exec_follows_its_schema(tmp_path, options):
    import ptx

    (tmp_path / "axpy.ptx").write_text(ptx.AXPY)
    entry = ptx.AXPY.partition(".entry ")[2].partition("(")[0].strip()
    (tmp_path / "program.py").write_text(PROGRAM)
    words = ["exec", f"--report={tmp_path / 'r.json'}", *options, "--", sys.executable, tmp_path / "program.py", tmp_path / "axpy.ptx", entry]
    report = run([str(w) for w in words], tmp_path / "r.json")
    assert [launch["kernel"] for launch in report["launches"]] == [entry]
    check(report, "exec")


def closed(schema):
    """The objects of a schema that name their properties."""
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from closed(part)
    if isinstance(schema, dict) and isinstance(schema.get("properties"), dict) and "$ref" not in schema:
        yield schema


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_and_lets_no_unknown_key_pass(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    for part in closed(SCHEMAS[name]):
        assert part["additionalProperties"] is not True and set(part["required"]) <= set(part["properties"])


def test_a_wrong_report_is_refused():
    good = [{"program": "add", "family": "bits", "passed": True, "compared": 4, "mismatches": 0, "detail": ""}]
    check(good, "conformance")
    for bad in ({"compared": -1}, {"passed": "yes"}, {"another": 1}):
        with pytest.raises(jsonschema.ValidationError):
            check([{**good[0], **bad}], "conformance")
