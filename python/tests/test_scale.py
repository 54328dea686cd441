"""The simulation of a sweep's queue (examples/python/sweep_scale.py), and the page with its table."""

import importlib.util
import math
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FREE = {"submit": 0.0, "receive": 0.0, "point": 0.0, "write": 0.0, "latency": 0.0}


def load():
    spec = importlib.util.spec_from_file_location("sweep_scale", ROOT / "examples/python/sweep_scale.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["sweep_scale"] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


scale = load()


def outcome(costs=FREE, **plan):
    return scale.simulate(scale.Plan(**{"spread": 0.0, "launch": 1.0, **plan}), scale.Costs(**{**FREE, **costs}))


@pytest.mark.parametrize("points, workers, in_flight", [(10, 3, 6), (12, 4, 4), (5, 8, 16), (20, 8, 3)])
def test_without_costs_the_workers_or_the_room_are_the_limit(points, workers, in_flight):
    o = outcome(points=points, workers=workers, in_flight=in_flight)
    assert o.seconds == pytest.approx(math.ceil(points / min(workers, in_flight)))
    assert o.runs == points


def test_a_slow_coordinator_is_the_limit():
    o = outcome({"submit": 0.5, "receive": 0.25}, points=100, workers=1000, in_flight=2000)
    assert o.seconds == pytest.approx(100 * 0.75 + 1, abs=1)
    assert o.coordinator_share > 0.95 and o.worker_share < 0.01


def test_results_that_wait_are_written_in_one_visit():
    assert outcome({"write": 10.0}, points=100, workers=50, in_flight=100).visits < 10
    assert outcome({"write": 0.1}, points=6, workers=1, in_flight=2).visits == 6


def test_lost_points_run_again():
    o = outcome(points=1000, workers=10, in_flight=20, lost=0.1)
    assert 1050 < o.runs < 1200  # 1000 / 0.9, with a fixed seed
    assert o.seconds >= o.runs / 10


def test_the_mean_of_the_times_is_what_was_asked_for():
    o = outcome(points=20000, workers=1, in_flight=1, launch=3.0, spread=0.5)
    assert o.seconds == pytest.approx(60000, rel=0.02)


def test_tasks_spare_the_coordinator():
    alone, together = (outcome({"submit": 0.1, "receive": 0.1}, points=1000, workers=100, in_flight=200, task=n) for n in (1, 10))
    assert together.runs == 100 and together.seconds < alone.seconds / 5


def test_impossible_plans():
    with pytest.raises(ValueError, match="at least 1"):
        outcome(points=10, workers=0, in_flight=1)


def test_the_table_of_the_page():
    page = (ROOT / "docs/scale.md").read_text()
    assert scale.HEAD in page
    shown = [line for line in page.splitlines() if line.startswith("| 1")]
    small = [p for p in scale.PLANS if p.points <= 100_000]
    assert len(shown) == len(scale.PLANS) and len(small) >= 3
    for plan in small:
        assert scale.row(plan) in shown
