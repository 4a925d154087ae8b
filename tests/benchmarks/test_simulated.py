"""Virtual cores: the bounds that no run can beat, and what was recorded."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import simulated
import simulated_figures
from machine import RESULTS
from virtual_search import Costs
from virtual_search import simulated as simulate

from gpusudoku import Board, Geometry
from gpusudoku.engines import cpu as cpu_engine

BOARD = Board.empty(Geometry(2, 2))
COSTS = Costs(call=5e-6, report=2e-5, take=1e-6, task=2e-6, share=1e-4, worker=1e-5,
              thread=5e-5, wake=1e-5, round=2e-5, split=5e-7)  # fmt: skip
NODE = 1e-3
"""Seconds: so long that the search is nearly all of a run."""


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls of few nodes, so that there is something left to share after the first."""
    for name in ("SHORTEST_SECONDS", "PYTHON_SECONDS"):
        monkeypatch.setattr(cpu_engine, name, 1e-6)


@pytest.mark.parametrize("workers", [1, 3, 32])
@pytest.mark.parametrize("sharing", [True, False])
def test_no_run_beats_work_and_longest_chain(short: None, workers: int, sharing: bool) -> None:
    found, world = simulate(BOARD, workers, COSTS, NODE, sharing=sharing)
    seconds, spent = found.stats.seconds, sum(world.spent.values())
    assert found.count == 288
    assert seconds >= spent / workers * (1 - 1e-9)
    assert workers > 1 or seconds == pytest.approx(spent)
    assert seconds >= spent - world.spent["search"]  # Python: one at a time
    longest = max(end - start for what, start, end in world.trace if what == "search")
    assert seconds >= found.stats.expansion_seconds + longest
    assert max(found.stats.utilisation) <= 1 + 1e-9


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
    measured = simulated_figures.measured_speed_ups(RESULTS / "bench.json")
    compared = {name: line for name, line in results.long.items() if name in measured}
    assert len(compared) >= 8
    for name, line in compared.items():
        assert line[1] / line[2] == pytest.approx(measured[name], rel=0.2), name


def test_real_threads_take_the_processor_time_that_is_charged(results: SimpleNamespace) -> None:
    """On few cores a search takes longer, so more threads start than on many."""
    for name, line in results.machine["processor_seconds"].items():
        virtual = simulated.charged(results.runs, name)
        for number in simulated.CHECKED_THREADS[1:]:
            real = line[str(number)] / line["1"]
            assert real == pytest.approx(virtual[number] / virtual[1], rel=0.25), name
    assert len(results.machine["processor_seconds"]) == 3


def test_one_core_is_as_measured(results: SimpleNamespace) -> None:
    """Machines differ in their clock: what must agree is how many times longer boards take."""
    points = simulated_figures.measured_points(RESULTS / "bench.json", 2)
    ratios = [
        line[1] / points[name]["alone"] for name, line in results.long.items() if name in points
    ]
    assert len(ratios) >= 8
    assert max(ratios) / min(ratios) < 1.7
