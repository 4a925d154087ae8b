"""Virtual cores: the bounds that no run can beat, and what was recorded."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import simulated_figures
import virtual
from machine import RESULTS
from virtual import Costs

from gpusudoku import collection

BOARD = "1c"
COSTS = Costs(node=1e-6, call=1e-5, search=1e-4, thread=5e-5, sleep=5e-5)
"""Seconds; a node takes so long that the search is nearly all of a run."""
ONE_BOARD = 1e60
"""A cutoff at which the frontier is the board itself."""


@pytest.mark.parametrize("threads", [1, 3, 32])
@pytest.mark.parametrize("sharing", [True, False])
@pytest.mark.parametrize("cutoff", [None, 1e20])
def test_no_run_beats_work_and_longest_chain(
    threads: int, sharing: bool, cutoff: float | None
) -> None:
    beginning = virtual.begin(collection.load(BOARD), cutoff)
    outcome = virtual.simulate(beginning, threads, COSTS, sharing=sharing)
    seconds, spent = outcome.seconds, sum(outcome.spent.values())
    assert outcome.count == collection.entry(BOARD).count
    assert seconds >= spent / threads * (1 - 1e-9)
    assert threads > 1 or seconds == pytest.approx(spent)
    assert seconds >= spent - outcome.spent["search"]  # one at a time does all else
    starts = [(start, 1) for _, start, _ in outcome.trace]
    ends = [(end - 1e-9, -1) for _, _, end in outcome.trace]
    at_work = most = 0
    for _, change in sorted(starts + ends):
        at_work += change
        most = max(most, at_work)
    assert most <= threads


def test_boards_are_handed_over() -> None:
    beginning = virtual.begin(collection.load(BOARD), ONE_BOARD)
    assert len(beginning.frontier) == 1
    alone = virtual.simulate(beginning, 1, COSTS).seconds
    assert virtual.simulate(beginning, 4, COSTS, sharing=False).seconds >= alone
    assert virtual.simulate(beginning, 4, COSTS).seconds < alone / 3.5


def test_what_is_over_before_threads_start_takes_the_same_on_any_number() -> None:
    beginning = virtual.begin(collection.load("1a"))
    one, many = (virtual.simulate(beginning, threads, COSTS) for threads in (1, 64))
    assert one == many
    assert one.count == 1


@pytest.fixture(scope="module")
def results() -> SimpleNamespace:
    """What was recorded; some runs took long on one core."""
    read = json.loads((RESULTS / "simulated.json").read_text())
    lines = simulated_figures.plain(read["runs"])
    long = {name: line for name, line in lines.items() if line[1] >= 0.01}
    return SimpleNamespace(**read, lines=lines, long=long)


def test_recorded_runs_keep_the_bounds(results: SimpleNamespace) -> None:
    for run in results.runs:
        least = sum(run["spent"].values()) / run["workers"]
        assert run["seconds"] >= least * (1 - 1e-9)
        assert run["workers"] > 1 or run["seconds"] == pytest.approx(least)
    for line in results.lines.values():
        assert all(line[1] / seconds <= n for n, seconds in line.items())


def test_two_cores_are_as_measured(results: SimpleNamespace) -> None:
    """Those of a version whose threads shared boards in Python win less."""
    measured = simulated_figures.measured_speed_ups(RESULTS / "bench.json")
    compared = {name: line for name, line in results.long.items() if name in measured}
    assert len(compared) >= 8
    for name, line in compared.items():
        assert line[1] / line[2] == pytest.approx(measured[name], rel=0.25), name


def test_one_core_is_as_measured(results: SimpleNamespace) -> None:
    """Machines differ in their clock: what must agree is how many times longer boards take."""
    points = simulated_figures.measured_points(RESULTS / "bench.json", 2)
    ratios = [
        line[1] / points[name]["alone"] for name, line in results.long.items() if name in points
    ]
    assert len(ratios) >= 8
    assert max(ratios) / min(ratios) < 1.7
