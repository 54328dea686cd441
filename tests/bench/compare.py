#!/usr/bin/env python3
"""Compares results of the benchmarks (Google Benchmark JSON).

  tests/bench/compare.py ratios RESULT.json        rates of one run over its yardsticks: sgemm, native
  tests/bench/compare.py rates RESULT.json         corpus_bench: median and slowest, functional and timed
  tests/bench/compare.py diff OLD.json NEW.json    what changed; exit code 1 if anything is slower by more than --limit

Rates are per second of the process's CPU time, which other work on the machine disturbs least; ratios within one run
disturb each other least of all. Absolute figures of different machines are not comparable.
"""
import argparse
import json
import statistics
import sys


def load(path):
    with open(path) as f:
        runs = json.load(f)["benchmarks"]
    return {r["name"]: r for r in runs if r.get("run_type", "iteration") == "iteration" and not r.get("error_occurred")}


def cpu_rate(run, counter):
    """Counter per CPU second: Google Benchmark divides by real time where a benchmark asks for that."""
    by_real_time = "real_time" in run["name"] or "manual_time" in run["name"]
    return run[counter] * (run["real_time"] / run["cpu_time"] if by_real_time else 1)


def rate(run):
    for counter in ("mac", "elements", "warp_instr", "bytes_per_second"):
        if counter in run:
            return counter, cpu_rate(run, counter)
    return "1/time", 1 / run["cpu_time"]


def ratios(args):
    runs = load(args.result)
    for yardstick, counter in (("sgemm", "mac"), ("native", "elements")):
        base = next((r for name, r in runs.items() if name.startswith(yardstick)), None)
        if base is None:
            continue
        unit = cpu_rate(base, counter)
        print(f"{'':48} {counter:>12}/s  over {yardstick}")
        for name, run in runs.items():
            if counter in run:
                value = cpu_rate(run, counter)
                print(f"{name:48} {value:14.4g}  {value / unit:8.3f}")


def rates(args):
    runs = load(args.result)
    for driver in ("eager", "timed"):
        found = sorted((cpu_rate(run, "warp_instr") / 1e6, name) for name, run in runs.items() if f"/{driver}/" in name)
        if not found:
            continue
        values = [value for value, _ in found]
        print(f"{driver}: {len(found)} launches, median {statistics.median(values):.1f}, a tenth below {values[len(values) // 10]:.1f} M warp instructions per CPU second")
        for value, name in found[: args.slowest]:
            print(f"  {value:8.2f}  {name}")


def diff(args):
    old, new = load(args.old), load(args.new)
    slower = False
    for name in sorted(old.keys() & new.keys()):
        counter, before = rate(old[name])
        _, after = rate(new[name])
        change = after / before - 1
        slower |= change < -args.limit
        print(f"{name:60} {counter:>16} {before:12.4g} {after:12.4g} {change:+8.1%}")
    for name in sorted(old.keys() ^ new.keys()):
        print(f"{name:60} only in {args.old if name in old else args.new}")
    return 1 if slower else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("ratios")
    one.add_argument("result")
    one.set_defaults(run=ratios)
    three = commands.add_parser("rates")
    three.add_argument("result")
    three.add_argument("--slowest", type=int, default=5, help="launches to print of each driver (default 5)")
    three.set_defaults(run=rates)
    two = commands.add_parser("diff")
    two.add_argument("old")
    two.add_argument("new")
    two.add_argument("--limit", type=float, default=0.1, help="share of the rate that may be lost (default 0.1)")
    two.set_defaults(run=diff)
    args = parser.parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
