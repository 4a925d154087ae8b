"""Virtual cores: the clock, the bounds that no run can beat, and what was recorded."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import simulated
import simulated_figures
from virtual_search import Costs
from virtual_search import simulated as simulate

from gpusudoku import Board, Geometry, collection
from gpusudoku.engines import cpu as cpu_engine
from tests import naive

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
COSTS = Costs(call=5e-6, report=2e-5, take=1e-6, task=2e-6, share=1e-4, worker=1e-5,
              thread=5e-5, wake=1e-5, round=2e-5, split=5e-7)  # fmt: skip
NODE = 1e-3
"""Seconds: so long that the search is nearly all of a run."""


@pytest.fixture(scope="module")
def board() -> Board:
    """One with a few hundred solutions."""
    return Board.empty(Geometry(2, 2))


class TestSearch:
    @pytest.fixture(autouse=True)
    def short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Calls of few nodes, so that there is something left to share after the first."""
        for name in ("SHORTEST_SECONDS", "PYTHON_SECONDS"):
            monkeypatch.setattr(cpu_engine, name, 1e-6)

    def test_one_worker_takes_the_sum_of_all_costs(self, board: Board) -> None:
        found, world = simulate(board, 1, COSTS, NODE)
        assert found.count == naive.count(board) == 288
        assert found.stats.seconds == pytest.approx(sum(world.spent.values()))
        nodes = found.stats.nodes
        searched = world.spent["search"] / NODE
        assert 0 < searched < nodes + 1
        assert world.trace[-1][2] == pytest.approx(found.stats.seconds)

    @pytest.mark.parametrize("workers", [3, 32])
    @pytest.mark.parametrize("sharing", [True, False])
    def test_no_run_beats_work_and_longest_chain(
        self, board: Board, workers: int, sharing: bool
    ) -> None:
        found, world = simulate(board, workers, COSTS, NODE, sharing=sharing)
        seconds = found.stats.seconds
        assert found.count == 288
        assert seconds >= sum(world.spent.values()) / workers
        python = sum(spent for what, spent in world.spent.items() if what != "search")
        assert seconds >= python  # one at a time
        longest = max(end - start for what, start, end in world.trace if what == "search")
        assert seconds >= found.stats.expansion_seconds + longest
        assert max(found.stats.utilisation) <= 1 + 1e-9

    def test_a_run_is_the_same_every_time(
        self, board: Board, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = simulate(board, 5, COSTS, NODE)[1].trace
        # Not even if the machine's own clock stands still.
        monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
        assert simulate(board, 5, COSTS, NODE)[1].trace == first

    def test_those_who_wait_are_given_boards(self) -> None:
        board = collection.load("1c")
        shared, kept = (
            simulate(board, 8, COSTS, 1e-6, sharing=sharing, cutoff=1e38)
            for sharing in (True, False)
        )
        assert shared[0].count == kept[0].count == 132_271
        assert shared[0].stats.seconds < kept[0].stats.seconds
        assert (shared[1].spent["sharing"] > 0, "sharing" in kept[1].spent) == (True, False)


@pytest.fixture(scope="module")
def results() -> SimpleNamespace:
    """What was recorded."""
    read = json.loads((RESULTS / "simulated.json").read_text())
    return SimpleNamespace(**read, seconds=simulated_figures.plain(read["runs"]))


class TestRecorded:
    """The recorded runs keep the bounds, and agree with what was measured on real cores."""

    LONG = 0.01
    """Seconds on one core from which on measurements are compared."""
    TOLERANCE = 0.2

    def test_bounds(self, results: SimpleNamespace) -> None:
        for run in results.runs:
            assert run["seconds"] >= sum(run["spent"].values()) / run["workers"] * (1 - 1e-9)
        for line in results.seconds.values():
            assert all(line[1] / seconds <= n for n, seconds in line.items())

    def test_one_core_is_the_sum_of_its_costs(self, results: SimpleNamespace) -> None:
        ones = [run for run in results.runs if run["workers"] == 1]
        assert len(ones) == len(simulated.SERIES)
        for run in ones:
            assert run["seconds"] == pytest.approx(sum(run["spent"].values()))

    def test_two_cores_are_as_measured(self, results: SimpleNamespace) -> None:
        measured = simulated_figures.measured_speed_ups(RESULTS / "bench.json")
        compared = 0
        for name, line in results.seconds.items():
            if line[1] >= self.LONG and name in measured:
                ratio = line[1] / line[2] / measured[name]
                assert abs(ratio - 1) <= self.TOLERANCE, name
                compared += 1
        assert compared >= 8

    def test_real_threads_take_the_processor_time_that_is_charged(
        self, results: SimpleNamespace
    ) -> None:
        """Of as many threads as there are virtual cores, on however few real ones.

        On few cores a search takes longer, so more threads start than on many: it is charged less.
        """
        for name, line in results.machine["processor_seconds"].items():
            virtual = simulated.charged(results.runs, name)
            for number in simulated.CHECKED_THREADS[1:]:
                real = line[str(number)] / line["1"]
                assert real == pytest.approx(virtual[number] / virtual[1], rel=0.25), name
        assert len(results.machine["processor_seconds"]) == 3

    def test_one_core_is_as_measured(self, results: SimpleNamespace) -> None:
        """Machines differ in their clock: what must agree is how many times longer boards take."""
        points = simulated_figures.measured_points(RESULTS / "bench.json", 2)
        ratios = [
            line[1] / points[name]["alone"]
            for name, line in results.seconds.items()
            if line[1] >= self.LONG and name in points
        ]
        assert len(ratios) >= 8
        assert max(ratios) / min(ratios) < 1.7
