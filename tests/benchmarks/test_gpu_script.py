"""``benchmarks/gpu.py`` in the simulator, with tiny boards: its parts, its checks and tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gpu
import gpu_bench
import gpu_checks
import gpu_figures
import gpu_tables
import numpy as np
import pytest
from click.testing import CliRunner

from gpusudoku import collection
from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.errors import MismatchError
from tests.benchmarks.conftest import Rehearse
from tests.boards import puzzle
from tests.engines.cuda.simulator import ON_SIMULATOR

pytestmark = ON_SIMULATOR


@pytest.fixture
def bench(tiny: Any) -> gpu_bench.Bench:
    return gpu_bench.Bench(gpu_bench.Clock(1e9), tiny, gpu_bench.own_puzzles())


def test_everything(rehearse: Rehearse, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part but new processes, which take long."""
    monkeypatch.setattr(gpu_figures, "TUNED", {"boards_per_thread": [2, 3]})
    parts = [part for part in gpu.PARTS if part != "start-up"]
    done, results = rehearse(*(f"--part={part}" for part in parts))
    assert done.exit_code == 0, done.output
    assert (results["failed"], results["left out"]) == ([], [])
    assert all(results[part] for part in parts)
    assert [run["case"] for run in results["tuning"]][1:] == [
        "boards_per_thread 2",
        "boards_per_thread 3",
    ]
    assert "A rehearsal: the figures mean nothing." in done.stdout
    assert f"{len(results['correctness'])} checks, and all counts right." in done.stdout
    names = [run["check"] for run in results["correctness"]]
    assert len(set(names)) == len(names) > 20
    again = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
    assert again.stdout == done.stdout


@pytest.mark.slow
def test_new_processes(rehearse: Rehearse) -> None:
    done, results = rehearse("--part=start-up")
    assert done.exit_code == 0, done.output
    assert [run["case"].split(", ")[1] for run in results["start-up"]] == [
        "first process",
        "second process",
    ]


def test_a_part_keeps_the_others(rehearse: Rehearse) -> None:
    _, before = rehearse("--part=search")
    _, after = rehearse("--part=contraction")
    assert after["search"] == before["search"]
    assert after["contraction"]


def test_every_check_can_fail(bench: gpu_bench.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that never finds anything is found out by each of them."""
    monkeypatch.setattr(Launch, "again", lambda self: _all_done(self))
    for step in gpu_checks.steps(bench):
        if step.name.startswith(("contraction", "search of @no-place", "a board of")):
            continue
        with pytest.raises(MismatchError):
            list(step.run())


def _all_done(launch: Launch) -> None:
    launch.work.cursor[0] = launch.boards
    launch.stacks.state[...] = -1


def test_puzzles_of_a_file(rehearse: Rehearse, tmp_path: Path) -> None:
    puzzles = tmp_path / "some.txt"
    puzzles.write_text(f"{puzzle('3x3', 60, 1)}\n{puzzle('3x3', 60, 2)}\n")
    done, results = rehearse("--part=puzzles", "--puzzles", str(puzzles))
    assert done.exit_code == 0, done.output
    assert results["puzzles"][0]["case"] == "some.txt puzzles, at most 2 solutions"


def test_each_of_several_gpus(bench: gpu_bench.Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def engine(numbers: list[int], *_: Any) -> CudaEngine:
        asked.extend(numbers)
        return CudaEngine()

    monkeypatch.setattr(gpu_checks, "CudaEngine", engine)
    bench.gpus.append(Gpu(1))
    for step in gpu_checks._several_gpus(bench):
        if step.name.startswith("search"):
            list(step.run())
    assert asked == [0, 1]


def test_boards_of_a_real_run_are_there() -> None:
    sizes = gpu_bench.Sizes()
    names = [*sizes.first, *sizes.last, sizes.nine, sizes.small, *sizes.contracted, sizes.start]
    boards = [collection.entry(name) for name in names]
    assert {str(each.box) for each in boards} >= {"2x2", "2x3", "3x3", "3x4", "4x4", "5x5", "8x8"}
    assert all(each.searchable for each in boards[: len(sizes.first) + len(sizes.last) + 2])
    for name, *clues in [*sizes.long, *sizes.steady, sizes.tuned]:
        assert collection.entry(name).clues > max(clues)


def test_puzzles_of_the_program() -> None:
    name, cells = gpu_bench.own_puzzles()
    assert name == "the program's own"
    assert cells.shape[0] > 5
    assert (np.count_nonzero(cells, axis=1) < 81).all()


def test_the_computed_bound_is_that_of_this_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its multiprocessors and its clock rate, from cycles of a multiprocessor."""
    monkeypatch.setattr(gpu_tables, "RESULTS", tmp_path)
    monkeypatch.setitem(sys.modules, "warp", SimpleNamespace(cycles=lambda run: run["cycles"]))
    facts = {"multiprocessors": 66, "clocks.max.sm": "2000 MHz"}
    run = {"case": "@1f without 5 clues", "clocks.sm": "1500 MHz"}
    assert gpu_tables.bound(run, facts) is None
    runs = [
        {"board": "@1f", "start": "frontier", "cycles": {"issuing": 100}},
        {"board": "@1f", "start": "deep", "cycles": {"issuing": 40, "products": 50}},
    ]
    (tmp_path / "warp.json").write_text(json.dumps({"machine": {}, "runs": runs}))
    assert gpu_tables.bound(run, facts) == pytest.approx(66 * 1.5e9 / 50)
    assert gpu_tables.bound({"case": "@1f"}, facts) == pytest.approx(66 * 2e9 / 50)
    assert gpu_tables.bound({"case": "@1f, solutions"}, facts) == pytest.approx(66 * 2e9 / 50)
    assert gpu_tables.bound({"case": "@16x16-many"}, facts) is None
    assert gpu_tables.bound({"case": "@1f"}, {"multiprocessors": 66}) is None


def test_what_is_asked_beside_stops_nothing(bench: gpu_bench.Bench) -> None:
    assert gpu_bench.asked(bench.gpus[0], gpu_bench.FACTS) == {}
