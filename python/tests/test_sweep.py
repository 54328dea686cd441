"""dw.sweep: tables, failures, resuming, the cache, executors."""

import functools
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import drywell as dw
import ptx
from drywell.sweeping import keys_of


def launch(block, n=256):
    x, y = np.ones(n, np.float32), np.zeros(n, np.float32)
    return dw.Kernel.from_ptx(ptx.AXPY)[n // block](x, y, 2.0, n, block=block, driver="timed")


def fails_at_two(x):
    if x == 2:
        raise ValueError("two is not good")
    return {"square": x * x}


def counted(x, folder):
    with open(os.path.join(folder, "calls"), "a") as f:
        f.write(f"{x}\n")
    return x * x


@pytest.mark.parametrize("executor", [None, "serial", ThreadPoolExecutor(2)])
def test_a_table_of_launches(executor):
    s = dw.sweep(launch, {"block": [32, 64, 128], "n": [128, 256]}, executor)
    assert len(s) == 6 and s.ran == 6 and not s.failures
    assert [(r["block"], r["n"]) for r in s] == [(b, n) for b in (32, 64, 128) for n in (128, 256)]
    direct = launch(64, 128)
    assert next(r for r in s if (r["block"], r["n"]) == (64, 128))["cycles"] == direct.cycles
    assert s.best()["cycles"] == min(r["cycles"] for r in s)


def test_failures_stand_beside_results():
    s = dw.sweep(fails_at_two, {"x": [1, 2, 3]}, "serial")
    assert [r.get("square") for r in s] == [1, None, 9]
    assert [r["x"] for r in s.failures] == [2] and "ValueError: two is not good" in s.failures[0]["error"]
    assert s.to_csv().splitlines()[0] == "x,square,error"


def test_a_list_of_points_and_equal_points():
    s = dw.sweep(fails_at_two, [{"x": 1}, {"x": 5}, {"x": 1}], "serial")
    assert [r["square"] for r in s] == [1, 25, 1] and s.ran == 2


def test_a_journal_continues_and_drops_a_cut_line(tmp_path):
    path, folder = tmp_path / "sweep.jsonl", str(tmp_path)
    dw.sweep(counted, [{"x": x, "folder": folder} for x in (1, 2)], "serial", path=path)
    with path.open("a") as f:
        f.write('{"key": "cut sho')
    s = dw.sweep(counted, [{"x": x, "folder": folder} for x in (1, 2, 3)], "serial", path=path)
    assert (s.ran, s.reused) == (1, 2) and [r["value"] for r in s] == [1, 4, 9]
    assert (tmp_path / "calls").read_text().split() == ["1", "2", "3"]
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 3


def test_failures_are_retried_on_request(tmp_path):
    path = tmp_path / "sweep.jsonl"
    assert dw.sweep(fails_at_two, {"x": [1, 2]}, "serial", path=path).ran == 2
    assert dw.sweep(fails_at_two, {"x": [1, 2]}, "serial", path=path).ran == 0
    assert dw.sweep(fails_at_two, {"x": [1, 2]}, "serial", path=path, retry_failures=True).ran == 1


def test_the_cache_is_shared_and_addressed_by_content(tmp_path):
    space = [{"x": x, "folder": str(tmp_path)} for x in (1, 2)]
    assert dw.sweep(counted, space, "serial", cache=tmp_path / "cache").ran == 2
    assert dw.sweep(counted, space, "serial", cache=tmp_path / "cache").ran == 0
    assert dw.sweep(counted, space, "serial", cache=tmp_path / "cache", salt="other inputs").ran == 2


KILLED = """
import sys, time
import drywell as dw
def slow(x):
    open(sys.argv[1] + "/calls", "a").write(f"{x}\\n")
    time.sleep(0.05)
    return x
s = dw.sweep(slow, {"x": list(range(20))}, "serial", path=sys.argv[1] + "/sweep.jsonl")
print(s.ran, s.reused)
"""


def test_a_killed_sweep_loses_nothing(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(KILLED))
    command = [sys.executable, str(script), str(tmp_path)]
    first = subprocess.Popen(command)
    while not (tmp_path / "sweep.jsonl").exists() or (tmp_path / "sweep.jsonl").read_text().count("\n") < 5:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    first.wait()
    ran, reused = map(int, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    assert ran + reused == 20 and reused >= 5
    calls = (tmp_path / "calls").read_text().split()
    assert set(calls) == {str(x) for x in range(20)}
    assert len(calls) <= 21  # the point that the kill cut short may have started twice, none that was complete


class Together:
    """An executor of two workers whose results all come at once, when as many points are in flight as it is told."""

    num_workers = 2

    def __init__(self, together):
        self.together, self.waiting, self.most = together, [], 0

    def submit(self, fn, *args):
        self.waiting.append((Future(), fn, args))
        self.most = max(self.most, len(self.waiting))
        last = self.waiting[-1][0]
        if len(self.waiting) == self.together:
            for future, f, given in self.waiting:
                future.set_result(f(*given))
            self.waiting = []
        return last


@pytest.mark.parametrize("given, expected", [(None, 4), (6, 6)])
def test_twice_the_workers_are_in_flight_and_results_are_written_together(tmp_path, monkeypatch, given, expected):
    visits, executor = [], Together(expected)
    monkeypatch.setattr(os, "fsync", visits.append)
    s = dw.sweep(fails_at_two, {"x": list(range(3, 27))}, executor, path=tmp_path / "sweep.jsonl", in_flight=given)
    assert len(s) == 24 and not s.failures and executor.most == expected
    assert len(visits) == 24 // expected
    assert len((tmp_path / "sweep.jsonl").read_text().splitlines()) == 24


@pytest.mark.parametrize("executor", [None, "serial"])
def test_tasks_of_several_points(executor):
    s = dw.sweep(fails_at_two, {"x": [1, 2, 3, 4, 5]}, executor, task=2)
    assert [r.get("square") for r in s] == [1, None, 9, 16, 25] and len(s.failures) == 1
    with pytest.raises(ValueError, match="at least 1"):
        dw.sweep(fails_at_two, {"x": [1]}, executor, task=0)


def test_a_task_whose_worker_dies_is_a_failure_of_its_points():
    class Dead:
        def submit(self, fn, *args):
            gone = Future()
            gone.set_exception(RuntimeError("the worker died"))
            return gone

    s = dw.sweep(fails_at_two, {"x": [1, 3, 4]}, Dead(), task=2)
    assert [r["error"] for r in s] == ["RuntimeError: the worker died"] * 3 and s.ran == 3


def test_results_of_the_cache_are_written_to_the_journal_together(tmp_path, monkeypatch):
    dw.sweep(fails_at_two, {"x": [1, 3, 4]}, "serial", cache=tmp_path / "cache")
    visits = []
    monkeypatch.setattr(os, "fsync", visits.append)
    assert dw.sweep(fails_at_two, {"x": [1, 3, 4]}, "serial", cache=tmp_path / "cache", path=tmp_path / "sweep.jsonl").reused == 3
    assert len(visits) == 1 and len((tmp_path / "sweep.jsonl").read_text().splitlines()) == 3


def test_tables_for_pandas_and_arrow():
    s = dw.sweep(fails_at_two, {"x": [1, 2]}, "serial")
    try:
        assert list(s.to_pandas().columns) == ["x", "square", "error"]
    except ImportError:
        pytest.skip("pandas is not installed")


def test_dask():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        assert dw.sweeping._workers(client.get_executor()) == 2
        s = dw.sweep(fails_at_two, {"x": [1, 2, 3]}, client.get_executor())
    assert [r.get("square") for r in s] == [1, None, 9]


def test_ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}})
    try:
        s = dw.sweep(fails_at_two, {"x": [1, 2, 3]}, dw.sweeping.RayExecutor())
    finally:
        ray.shutdown()
    assert [r.get("square") for r in s] == [1, None, 9]


def test_a_store_of_fsspec():
    pytest.importorskip("fsspec")
    assert dw.sweep(fails_at_two, {"x": [1]}, "serial", cache="memory://drywell-test").ran == 1
    assert dw.sweep(fails_at_two, {"x": [1]}, "serial", cache="memory://drywell-test").ran == 0


ROWS = [
    {"bn": 64, "group": 1, "ring": 2, "cycles": 12000, "error": None},
    {"bn": 128, "group": 1, "ring": 2, "cycles": 8000.0, "error": None},
    {"bn": 64, "group": 2, "ring": 2, "cycles": 9000, "error": None},
    {"bn": 128, "group": 2, "ring": 2, "error": "ValueError: too large"},
]


def test_a_map_has_a_cell_per_point_and_frames_the_best():
    from drywell.heat_map import heat_map

    p = heat_map(ROWS, "bn", ("group", "ring"), title="a < b")
    assert [line.split() for line in p.text.splitlines()] == [["64", "128"], ["group", "1,", "ring", "2", "12,000", "8,000*"], ["group", "2,", "ring", "2", "9,000", "failed"]]
    assert p.svg.count("<rect") == 5 and p.svg.count('class="best"') == 1 and "a &lt; b" in p.svg
    # The least is the darkest, the most the lightest; the frame is that of the least.
    assert "#deebf7" in p.svg
    import xml.etree.ElementTree as tree

    rects = [e for e in tree.fromstring(p.svg) if e.tag.endswith("rect")]
    best = next(e for e in rects if e.get("class") == "best")
    assert [(e.get("x"), e.get("y")) for e in rects if e.get("fill") == "#084594"] == [(best.get("x"), best.get("y"))]


def test_a_map_refuses_two_points_in_one_cell_and_a_value_that_no_point_has():
    from drywell.heat_map import heat_map

    with pytest.raises(ValueError, match="two points at bn 64, ring 2"):
        heat_map(ROWS, "bn", "ring")
    with pytest.raises(ValueError, match="no point has a value 'seconds'"):
        heat_map(ROWS, "bn", "group", "seconds")


@pytest.mark.skipif(not os.environ.get("DRYWELL_BINARY"), reason="no drywell program (DRYWELL_BINARY)")
def test_the_example_draws_the_tiles_of_a_shipped_gemm(tmp_path):
    example = Path(__file__).resolve().parents[2] / "examples/python/best_tile.py"
    words = [sys.executable, example, "gemm-blockscaled", "256", "256", "256"]
    said = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    rows = [json.loads(line) for line in (tmp_path / "gemm-blockscaled-256x256x256.jsonl").read_text().splitlines()]
    good = [r for r in rows if not r["error"]]
    assert len(rows) == 24 and len(good) >= 12
    least = min(good, key=lambda r: r["result"]["cycles"])
    assert f"{least['result']['cycles']} cycles" in said.splitlines()[-1]
    assert (tmp_path / "gemm-blockscaled-256x256x256.svg").read_text().count('class="best"') >= 1
    # Without values the time is the same.
    p = least["point"]
    whole = dw.kernels.gemm_blockscaled(m=256, n=256, k=256, bn=p["bn"], cta_group=p["cta_group"], cluster_n=p["cluster_n"], driver="timed")
    assert whole.cycles == least["result"]["cycles"]


def total(values):
    return float(np.sum(values))


FACTOR = 2


def helped(x):
    return helper(x) * FACTOR


def helper(x):
    return x + 1


def multiplied(factor):
    return lambda x: x * factor


def test_long_arrays_are_told_apart(tmp_path):
    """Their texts leave out the middle."""
    a, b = np.zeros(5000), np.zeros(5000)
    b[2500] = 1
    s = dw.sweep(total, [{"values": a}, {"values": b}], "serial", cache=tmp_path / "cache")
    assert s.ran == 2 and [row["value"] for row in s] == [0, 1]
    assert dw.sweep(functools.partial(total, b), [{}], "serial", cache=tmp_path / "cache").ran == 1


def test_what_a_function_names_is_its_content(tmp_path, monkeypatch):
    run = lambda fn: dw.sweep(fn, {"x": [3]}, "serial", cache=tmp_path / "cache")
    assert (run(helped).ran, run(helped).ran) == (1, 0)
    monkeypatch.setitem(globals(), "FACTOR", 5)
    assert run(helped).ran == 1
    monkeypatch.setitem(globals(), "helper", fails_at_two)
    assert run(helped).ran == 1
    assert [run(multiplied(f)).table()[0]["value"] for f in (2, 3, 2)] == [6, 9, 6] and run(multiplied(3)).ran == 0


def test_kernels_are_their_ptx():
    from drywell.content import address

    k = [dw.Kernel.from_ptx(text) for text in (ptx.AXPY, ptx.AXPY.replace("fma.rn", "fma.rz"), ptx.AXPY)]
    assert repr(k[0]) == repr(k[1]) and address(k[0]) == address(k[2]) != address(k[1])
    assert address({"b", "a"}) == address({"a", "b"}) and "0x" not in address(object())


def breaks(x):
    raise ValueError("of no use")


def test_what_went_wrong_is_told_where_nothing_went_right():
    s = dw.sweep(breaks, {"x": [1, 2]}, "serial")
    assert repr(s) == "<drywell.Sweep 2 points: 2 ran, 0 reused, 2 failed>"
    with pytest.raises(ValueError, match="no point has a value 'cycles'; 2 of 2 failed, the first with: ValueError: of no use"):
        s.best()


@pytest.mark.parametrize("space, text", [
    ({"driver": "eager"}, "space['driver']='eager': a sequence of values; one alone is ['eager']"),
    ({"x": 3}, "space['x']=3: a sequence of values; one alone is [3]"),
    ([1], "a mapping for each point"),
    ("x", "a mapping for each point"),
    (None, "a mapping for each point"),
])
def test_a_space_that_is_none_is_told(space, text):
    with pytest.raises(TypeError, match=re.escape(text)):
        dw.sweep(abs, space, "serial")


@pytest.mark.parametrize("options, text", [(dict(executor="threads"), "executor='threads': None (processes), 'serial'"), (dict(salt=3), "salt=3: a word is expected")])
def test_options_that_are_none_are_told(options, text):
    with pytest.raises(TypeError, match=re.escape(text)):
        dw.sweep(abs, {"x": [1]}, **options)


def abs_of(x):
    return abs(x)


def leave(x):
    sys.exit("no such tile")


def test_a_point_that_leaves_the_program_is_a_failure():
    assert [r["error"] for r in dw.sweep(leave, {"x": [1, 2]}, "serial")] == ["SystemExit: no such tile"] * 2


def test_not_a_number_is_never_the_best():
    s = dw.sweep(lambda x: {"y": x and float(x)} if x != 2 else {"y": float("nan")}, {"x": [2, 3, 1]}, "serial")
    assert s.best("y")["x"] == 1 and "failed" in str(s.picture("x", "x", "y"))
    with pytest.raises(ValueError, match="no point has a name 'z': x, y"):
        s.picture("z", "x", "y")


def test_a_result_named_error_is_told():
    assert "give it another" in dw.sweep(lambda x: {"error": 0.5}, {"x": [1]}, "serial").failures[0]["error"]


@pytest.mark.parametrize("line", [b"hello", b"[]", b'{"a": 1}', b"\xff"])
def test_files_that_are_no_journal_are_told_and_broken_caches_are_none(tmp_path, line):
    journal = tmp_path / "notes.txt"
    journal.write_bytes(line + b"\n")
    with pytest.raises(ValueError, match="notes.txt:1: no row of a sweep"):
        dw.sweep(lambda x: x, {"x": [1]}, "serial", path=journal)
    assert journal.read_bytes() == line + b"\n"
    cache = tmp_path / "cache"
    assert dw.sweep(abs_of, {"x": [-3]}, "serial", cache=cache).ran == 1
    (kept,) = cache.glob("*/*.json")
    kept.write_bytes(line)
    again = dw.sweep(abs_of, {"x": [-3]}, "serial", cache=cache)
    assert again.ran == 1 and again.best("value")["value"] == 3


class Scaled:
    step = 1

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor

    def times(self, x):
        return x * self.factor


def stepped(x):
    return x + Scaled.step


def test_the_object_of_a_method_and_classes_are_content(monkeypatch):
    def key(fn):
        return next(keys_of(fn, [{"x": 1}]))

    objects = [Scaled(2), Scaled(3)]
    assert key(objects[0]) == key(Scaled(2)) and key(objects[0].times) == key(Scaled(2).times)
    assert key(objects[0]) != key(objects[1]) and key(objects[0].times) != key(objects[1].times)
    before = key(stepped)
    monkeypatch.setattr(Scaled, "step", 2)
    assert key(stepped) != before
