"""How long a sweep takes on many workers: a simulation of the queue between one coordinator (`dw.sweep`) and its workers.

The coordinator hands out tasks of one or more points, keeps a fixed number of them in flight, and writes what comes back into its journal, all
results that have arrived in one go. Costs are measured ones (docs/scale.md says how); times of launches are drawn from a log-normal distribution with a fixed
seed, so that every run prints the same table.

    python3 examples/python/sweep_scale.py            # the table of docs/scale.md
    python3 examples/python/sweep_scale.py --points 1e5 --workers 64 --in-flight 128 --task 10 --launch 0.2
"""

from __future__ import annotations

import argparse
import heapq
import random
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Costs:
    """Seconds. ``submit`` and ``receive`` are the coordinator's time per task, ``point`` per point, ``write`` its time per visit to the
    journal's disk."""

    submit: float = 3e-3
    receive: float = 3e-3
    point: float = 60e-6
    write: float = 5e-3
    latency: float = 1e-3


@dataclass(frozen=True)
class Plan:
    """A sweep: ``task`` points travel together, ``launch`` is the mean time of a point in seconds, ``spread`` the standard deviation of
    its logarithm, ``lost`` the share of tasks whose worker dies, so that they run once more. ``in_flight`` counts tasks."""

    points: int = 1_000_000
    workers: int = 1000
    in_flight: int = 2000
    task: int = 1
    launch: float = 2.0
    spread: float = 0.5
    lost: float = 0.0


@dataclass(frozen=True)
class Outcome:
    seconds: float          # from the first submission to the last written result
    worker_share: float     # of the workers' time that was spent on launches
    coordinator_share: float
    visits: int             # to the journal's disk
    runs: int               # tasks, with those that were repeated


class _Queue:
    """The coordinator is one server, the workers are ``plan.workers`` servers with one queue. Events in order of time."""

    def __init__(self, plan: Plan, costs: Costs) -> None:
        self.plan, self.costs = plan, costs
        self.random = random.Random(1)
        self.tasks = -(-plan.points // plan.task)
        self.free = [0.0] * min(plan.workers, self.tasks)   # when each worker is free next
        self.arrivals: list[tuple[float, bool]] = []         # when results reach the coordinator, and whether they are results
        self.now = 0.0
        self.busy = self.launching = 0.0
        self.runs = self.visits = 0

    def _time(self) -> float:
        s = self.plan.spread
        return self.plan.launch * sum(self.random.lognormvariate(-s * s / 2, s) if s else 1.0 for _ in range(self.plan.task))

    def _spend(self, seconds: float) -> None:
        self.now += seconds
        self.busy += seconds

    def _submit(self) -> None:
        self._spend(self.costs.submit)
        start = max(heapq.heappop(self.free), self.now + self.costs.latency)
        length = self._time()
        dies = self.plan.lost > 0 and self.random.random() < self.plan.lost
        heapq.heappush(self.free, start + length)
        heapq.heappush(self.arrivals, (start + length + self.costs.latency, not dies))
        self.launching += length
        self.runs += 1

    def _receive(self) -> int:
        """Waits for a result and takes all that have come; returns how many tasks have to run again."""
        self.now = max(self.now, self.arrivals[0][0])
        again = 0
        while self.arrivals and self.arrivals[0][0] <= self.now:
            again += not heapq.heappop(self.arrivals)[1]
            self._spend(self.costs.receive + self.plan.task * self.costs.point)
        self._spend(self.costs.write)
        self.visits += 1
        return again

    def run(self) -> Outcome:
        left = self.tasks
        while left or self.arrivals:
            while left and len(self.arrivals) < self.plan.in_flight:
                self._submit()
                left -= 1
            left += self._receive()
        return Outcome(self.now, self.launching / (self.now * self.plan.workers), self.busy / self.now, self.visits, self.runs)


def simulate(plan: Plan, costs: Costs = Costs()) -> Outcome:
    """The sweep's course. ValueError for a plan without points, workers or room."""
    if min(plan.points, plan.workers, plan.in_flight, plan.task) < 1:
        raise ValueError("points, workers, in_flight and task must be at least 1")
    return _Queue(plan, costs).run()


def row(plan: Plan, costs: Costs = Costs()) -> str:
    o = simulate(plan, costs)
    return (f"| {plan.points:,} | {plan.workers:,} | {plan.in_flight:,} | {plan.task} | {plan.launch:g} s | {o.seconds / 3600:.2f} h | {o.worker_share:.0%} | "
            f"{o.coordinator_share:.0%} | {o.visits:,} |")


HEAD = ("| points | workers | in flight | task | a launch | the sweep | workers at work | coordinator at work | visits to the disk |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")


BASE = Plan()
SMALL = replace(BASE, workers=100, in_flight=200, points=100_000)
PLANS = (BASE, replace(BASE, task=10), replace(BASE, task=10, in_flight=1000), replace(BASE, task=10, lost=0.01), replace(BASE, task=100, launch=0.2),
         replace(BASE, points=100_000, launch=20.0), SMALL, replace(SMALL, in_flight=8), replace(SMALL, task=10), replace(SMALL, launch=0.2, task=10))


def table() -> str:
    """The rows of docs/scale.md."""
    return "\n".join([HEAD, *map(row, PLANS)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, kind in (("points", float), ("workers", float), ("in-flight", float), ("task", float), ("launch", float), ("spread", float), ("lost", float)):
        parser.add_argument(f"--{name}", type=kind)
    given = {k: v if k in ("launch", "spread", "lost") else int(v) for k, v in vars(parser.parse_args()).items() if v is not None}
    print(f"{HEAD}\n{row(replace(Plan(), **given))}" if given else table())


if __name__ == "__main__":
    main()
