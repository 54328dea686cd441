#!/usr/bin/env python3
"""Fits an architecture file to a record of microbenchmarks.

    tools/fit_arch.py build/tools/drywell traces/hw/h200-2026-11-22-microbench.txt sim/arch/sm_90a.toml
    tools/fit_arch.py build/tools/drywell b200.survey sim/arch/sm_100a.toml

Runs `drywell bench-hw --from RECORD --arch FILE`, moves every figure below by what its microbenchmark is off, and repeats until
nothing moves by more than half a percent; a figure that got worse by it goes back and stays. Only microbenchmarks of the fitted half may appear in the table: the half held back
is what tells whether the fit is any good (docs/lab/calibration.md).
"""
import json
import os
import re
import subprocess
import sys
import tempfile

# figure: (section, key), microbenchmark, method: "add" the difference of cycles (times `weight`), "scale" by the ratio or "shrink"
# by its inverse, or "trip": add the difference of the round trip of the `weight` bytes in flight.
RULES = [
    (("class", "half.interval"), "rate.fma.f16x2", "scale", 1),
    (("class", "f64.interval"), "rate.fma.f64", "scale", 1),
    (("class", "mufu.latency"), "latency.ex2", "add", 1),
    (("class", "fdiv.latency"), "latency.div.rn.f32", "add", 1),
    (("class", "fdiv.interval"), "rate.div.rn.f32", "scale", 1),
    (("class", "frcp.latency"), "latency.rcp.rn.f32", "add", 1),
    (("class", "frcp.interval"), "rate.rcp.rn.f32", "scale", 1),
    (("class", "fsqrt.latency"), "latency.sqrt.rn.f32", "add", 1),
    (("class", "fsqrt.interval"), "rate.sqrt.rn.f32", "scale", 1),
    (("class", "idiv.latency"), "latency.div.u32", "add", 1),
    (("class", "bitcount.latency"), "latency.popc", "add", 1),
    (("class", "bitfield.latency"), "latency.bfe", "add", 2),
    (("class", "cvt_pack.interval"), "rate.cvt.f16x2.f32", "scale", 1),
    (("class", "cvt_int.latency"), "latency.cvt.f32.s32", "add", 1),
    (("class", "cvt_int.interval"), "rate.cvt.f32.s32", "scale", 1),
    (("class", "ld_global.latency"), "l1.latency", "add", 1),
    (("class", "atom_shared.latency"), "atom.shared.add.latency", "add", 1),
    (("class", "atom_shared.interval"), "red.shared.add.rate.warps-16", "scale", 1),
    (("class", "atom_global.latency"), "atom.global.add.latency.lines-16", "add", 1),
    (("class", "ldmatrix.latency"), "ldmatrix.latency", "add", 1),
    (("class", "ldmatrix.interval"), "ldmatrix.x4.rate.warps-16", "scale", 1),
    (("class", "stmatrix.interval"), "stmatrix.x4.rate.warps-16", "scale", 1),
    (("class", "fence_cta.latency"), "fence.cta", "add", 1),
    (("class", "fence_gpu.latency"), "fence.gpu", "add", 1),
    (("class", "fence_proxy.latency"), "fence.proxy.async.smem", "add", 1),
    (("class", "mbarrier_op.latency"), "mbarrier.arrive.issue", "add", 1),
    (("class", "mbarrier_wait.latency"), "mbarrier.try_wait.completed", "add", 1),
    (("class", "dsmem.latency"), "dsmem.latency", "add", 1),
    (("class", "tma_load.latency"), "tma.sixteen.512B", "add", 1),
    (("mbarrier", "wake"), "mbarrier.ping-pong", "add", 0.5),
    (("mbarrier", "remote_visible"), "mbarrier.remote-arrive-wait", "add", 1),
    (("barrier", "cta_base"), "bar.sync.warps-4", "add", 1),
    (("barrier", "cluster_relaxed"), "barrier.cluster.relaxed.ctas-4", "add", 1),
    (("barrier", "cluster_acquire"), "barrier.cluster.ctas-4", "add", 1),
    (("dsmem", "self_latency"), "dsmem.latency.self", "add", 1),
    (("dsmem", "load_bytes_per_clk"), "dsmem.read.warps-16", "scale", 1),
    (("dsmem", "store_bytes_per_clk"), "dsmem.write.warps-16", "scale", 1),
    (("l2", "latency"), "l2.latency.1MiB", "add", 1),
    (("l2", "load_bytes_per_clk"), "l2.read", "scale", 1),
    (("l2", "requests_per_clk"), "l2.read.pitch-128", "scale", 1),
    (("l2", "store_bytes_per_clk"), "l2.write", "scale", 1),
    (("l2", "shared_bytes_per_clk"), "l2.read.together-8", "scale", 1),
    (("l2", "tma_bytes_per_clk"), "tma.ring.8KiB.all", "scale", 1),
    (("l2", "duplex_share"), "l2.copy.warps-8", "shrink", 1),
    (("l1", "bytes_per_clk"), "l1.read", "scale", 1),
    (("l1", "store_slowdown"), "stg.lines-8.rate", "scale", 1),
    (("hbm", "latency"), "hbm.latency", "add", 1),
    (("hbm", "tail"), "tma.cold.8KiB.pitch-32768", "add", 0.2),
    (("hbm", "load_efficiency"), "hbm.read", "scale", 1),
    (("hbm", "write_efficiency"), "hbm.write", "scale", 1),
    (("hbm", "copy_efficiency"), "hbm.copy", "scale", 1),
    (("launch", "cta_replacement"), "launch.wave.threads-128.together-1.work-64", "add", 1),
    (("tma", "load_bytes_per_clk"), "tma.ring.16KiB", "scale", 1),
    (("tma", "l2_latency"), "tma.latency.4KiB", "add", 1),
    (("tma", "store_overhead"), "tma.store.4KiB", "add", 1),
    (("tma", "multicast_extra"), "tma.multicast.2KiB", "trip", 8192),
    (("tma", "reduce_slowdown"), "reduce.store.4KiB", "scale", 1),
    (("wgmma", "latency"), "wgmma.bf16.n64.waited", "add", 4),
    # tensor memory: machines of the sm_100 family
    (("umma", "array_per_column"), "tcgen05.mma.bf16.n256.batch-16", "scale", 1),
    (("umma", "fetch_bytes_per_clk"), "tcgen05.mma.bf16.n64.batch-16", "shrink", 1),
    (("umma", "latency"), "tcgen05.mma.bf16.n256.batch-1", "add", 1),
    (("class", "tcgen05_commit.latency"), "tcgen05.commit", "add", 1),
    (("class", "tmem_shift.latency"), "tcgen05.shift", "add", 1),
    (("class", "tmem_alloc.latency"), "tcgen05.alloc-dealloc", "add", 1),
    (("tmem", "service_32x32b"), "tcgen05.ld.32x32b.x32.batch-8", "shrink", 1),
    (("tmem", "service_16x64b"), "tcgen05.ld.16x64b.x32.batch-8", "shrink", 1),
    (("tmem", "service_16x128b"), "tcgen05.ld.16x128b.x16.batch-8", "shrink", 1),
    (("tmem", "service_16x256b"), "tcgen05.ld.16x256b.x8.batch-8", "shrink", 1),
    (("tmem", "cp_bytes_per_clk"), "tcgen05.cp.128x256b.batch-8", "scale", 1),
]
WANTED = {bench for _, bench, _, _ in RULES}


class Record:
    """The lines of a record of `drywell bench-hw`, or of a survey's part, that some figure is fitted to."""

    def __init__(self, path):
        with open(path) as f:
            lines = f.read().split("\n")
        if lines[0].startswith("# drywell survey"):
            start = lines.index("== microbench") + 1
            end = next((i for i in range(start, len(lines)) if lines[i].startswith("== ")), len(lines))
            lines = lines[start:end]
        self.text = "\n".join(line for line in lines if line.startswith("#") or line.split(" ")[0] in WANTED) + "\n"
        device = next((line for line in lines if line.startswith("# device: ")), "# device: a GPU")
        self.source = f"{device[len('# device: '):].split(',')[0]}, drywell bench-hw {{}}; {path}"


def simulate(drywell, record, arch):
    with tempfile.TemporaryDirectory() as folder:
        out, wanted = os.path.join(folder, "out.json"), os.path.join(folder, "record.txt")
        with open(wanted, "w") as f:
            f.write(record.text)
        subprocess.run([drywell, "bench-hw", "--from", wanted, "--arch", arch, "--json", out], check=True, stdout=subprocess.DEVNULL)
        with open(out) as f:
            return {x["name"]: x for x in json.load(f)}


def figure(text, section, key):
    """Match of the figure's line: groups value, unit and so on; None if the machine has no such unit."""
    start = text.find(f"\n[{section}]\n")
    if start < 0:
        return None
    line = re.compile(rf'^{re.escape(key)} = \{{ value = (?P<value>[^,]+), unit = "(?P<unit>[^"]*)", provenance = "\w+", source = "[^"]*" \}}$', re.M)
    return line.search(text, start)


def moved_value(old, x, how, weight, key):
    if how == "scale":
        new = old * x["measured"] / x["simulated"]
    elif how == "shrink":
        new = old * x["simulated"] / x["measured"]
    elif how == "trip":
        new = old + weight / x["measured"] - weight / x["simulated"]
    else:
        new = old + weight * (x["measured"] - x["simulated"])
    return min(max(0.0, new), 1.0 if key.endswith("_efficiency") else new)


def fit(text, results, best, source):
    """`source`: of a figure, with {} for the microbenchmark. `best`: by figure, the value with the least error so far, that error, and whether moving it on made things worse."""
    moved = 0.0
    for (section, key), bench, how, weight in RULES:
        x = results.get(bench)
        if x is None:
            continue
        if not x["fitted"]:
            sys.exit(f"{bench} is held back: nothing may be fitted to it")
        m = figure(text, section, key)
        if m is None:
            continue
        old = float(m["value"])
        error = abs(x["measured"] / x["simulated"] - 1)
        value, least, settled = best.get((section, key), (old, error, False))
        if settled:
            continue
        if error > least:  # cycles are whole numbers: there is no better value
            new, settled = value, True
        else:
            value, least = old, error
            new = old if error <= 0.005 else moved_value(old, x, how, weight, key)
        best[section, key] = (value, least, settled)
        if abs(new - old) > 0.005 * max(abs(old), 1.0):
            print(f"  {section}.{key}: {old:.4g} to {new:.4g}, {bench} is off by {100 * error:.1f} %")
        moved = max(moved, abs(new - old) / max(abs(old), 1.0))
        line = f'{key} = {{ value = {new:.4g}, unit = "{m["unit"]}", provenance = "measured", source = "{source.format(bench)}" }}'
        text = text[: m.start()] + line + text[m.end() :]
    return text, moved


def main():
    drywell, record, arch = sys.argv[1], Record(sys.argv[2]), sys.argv[3]
    best = {}
    for step in range(8):
        results = simulate(drywell, record, arch)
        with open(arch) as f:
            text = f.read()
        text, moved = fit(text, results, best, record.source)
        with open(arch, "w") as f:
            f.write(text)
        print(f"step {step}: figures moved by up to {100 * moved:.1f} %")
        if moved <= 0.005:
            break


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main()
