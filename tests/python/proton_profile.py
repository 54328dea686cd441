"""Proton, Triton's profiler: its file has scopes, launches and kernels, with predicted times under the driver that has a clock."""

import json
import os
import tempfile

import numpy as np
import triton
import triton.language as tl
import triton.profiler as proton
from device_array import Array, zeros

timed = "driver=timed" in os.environ["DRYWELL_EXEC"]
os.chdir(tempfile.mkdtemp())


def described(grid, kernel, args):
    return {"name": f"double_{args['n']}", "flops32": args["n"], "bytes": 8 * args["n"]}


@triton.jit(launch_metadata=described)
def double(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


values = np.arange(1000, dtype=np.float32)
x, out = Array(values), zeros(1000)


def child(node, *names):
    for name in names:
        (node,) = [c for c in node["children"] if c["frame"]["name"] == name]
    return node


def check_time(metrics, launches):
    assert metrics["count"] == launches, metrics
    # A launch of a few CTAs takes microseconds.
    assert 0.2e3 * launches < metrics["time (ns)"] < 1e5 * launches if timed else "time (ns)" not in metrics, metrics


session = proton.start("tree", hook="triton")
proton.deactivate(session)
copy[(4,)](x, out, 1000, 256)  # not recorded
proton.activate(session)
with proton.scope("outer", {"tokens": 3}):
    for _ in range(2):
        double[(4,)](x, out, 1000, 256)
    with proton.scope("inner"):
        copy[(4,)](x, out, 1000, 256)
copy[(4,)](x, out, 1000, 256)
assert proton.data.get(session)[0]["frame"]["name"] == "ROOT"
proton.finalize()
copy[(4,)](x, out, 1000, 256)  # not recorded
with open("tree.hatchet") as file:
    tree, devices = json.load(file)
assert [c["frame"]["name"] for c in tree["children"]] == ["outer", "copy"]
assert child(tree, "outer")["metrics"] == {"tokens": 3}
# The scope that Proton's own hook makes of a launch has the launch's figures, the kernel in it the time.
assert child(tree, "outer", "double_1000")["metrics"] == {"flops32": 2000.0, "bytes": 16000}
check_time(child(tree, "outer", "double_1000", "double")["metrics"], 2)
check_time(child(tree, "outer", "inner", "copy", "copy")["metrics"], 1)
check_time(child(tree, "copy", "copy")["metrics"], 1)
assert devices["CUDA"]["0"]["arch"] == "100" and devices["CUDA"]["0"]["num_sms"] == 148, devices

proton.start("calls", context="python", data="trace")
copy[(4,)](x, out, 1000, 256)
proton.finalize()
with open("calls.chrome_trace") as file:
    events = json.load(file)["traceEvents"]
assert [e["name"] for e in events] == (["copy"] if timed else [])
assert all(any(f.startswith(__file__) for f in e["args"]["call_stack"]) for e in events)
assert (out.numpy() == values).all()
