"""The scripts that measure GPUs, in the simulator: they run to the end, and count correctly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.counting import count
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.device import SIMULATED, Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.tuning import Tuning
from gpusudoku.errors import MismatchError
from tests.boards import puzzle, spoilt

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"

pytestmark = pytest.mark.skipif(not availability.simulated(), reason="a GPU is there")


@pytest.fixture
def searching(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(FOLDER)
    return import_module("searching")


def run(script: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    search = os.pathsep.join(filter(None, [str(FOLDER.parent), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, str(FOLDER / script), *options],
        env={**os.environ, "PYTHONPATH": search, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_tuning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured, shown, recorded and saved; the engine then takes it."""
    output, saved = tmp_path / "record.json", tmp_path / "tuning.json"
    monkeypatch.setenv("GPUSUDOKU_CUDA_TUNING", str(saved))
    monkeypatch.syspath_prepend(FOLDER)
    command = import_module("tune_gpu").main
    # In this process, where threads of the simulator get along with each other; see conftest.
    options = ["--board", "@box2x2-empty", "--quick", "--save", "--output", str(output)]
    done = CliRunner().invoke(command, options)
    assert done.exit_code == 0, done.output
    assert "288 solutions" in done.stdout
    recorded = json.loads(output.read_text())
    assert len(recorded["runs"]) >= 4
    assert {run["tuning"]["stacks"] for run in recorded["runs"]} == {"interleaved", "contiguous"}
    assert min(run["seconds"] for run in recorded["runs"]) > 0
    assert json.loads(saved.read_text()) == {"simulator": recorded["best"]}
    assert CudaEngine().gpus[0].tuning == Tuning(**recorded["best"])
    again = CliRunner().invoke(command, ["--show", str(output)])
    assert again.stdout in done.stdout
    assert "The best: " in again.stdout


@pytest.mark.parametrize(("script", "options"), [("tune_gpu.py", []), ("gpu.py", [])])
def test_without_a_gpu(script: str, options: list[str]) -> None:
    done = run(script, *options, NUMBA_ENABLE_CUDASIM="0")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "nothing is measured" in done.stderr


def test_a_broken_tuning_file(tmp_path: Path) -> None:
    path = tmp_path / "tuning.json"
    path.write_text("{")
    done = run("tune_gpu.py", "--board", "@box2x2-empty", GPUSUDOKU_CUDA_TUNING=str(path))
    assert done.returncode == 2
    assert str(path) in done.stderr
    assert done.stderr.count("\n") == 1


def test_boards_without_clues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    thinned = import_module("generated").thinned
    assert len(np.flatnonzero(thinned("2f", 3).cells)) == 12
    assert not thinned("box2x2-empty", 3).cells.any()


def test_relabelled(searching: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many solutions as the puzzle that it was made from, and mostly another puzzle."""
    monkeypatch.setattr(searching, "BLOCK", 7)
    given = np.stack([puzzle("3x3", 40, seed).cells.ravel() for seed in range(3)]).astype(np.uint8)
    made = np.concatenate(list(searching.relabelled(given, 20)))
    assert made.shape == (20, 81)
    assert len(np.unique(made, axis=0)) == 20
    for index, cells in enumerate(made):
        board, of = Board(cells), given[index % 3]
        assert not board.conflicts
        bands, were = cells.reshape(3, 27), of.reshape(3, 27)
        assert (np.count_nonzero(bands, axis=1) == np.count_nonzero(were, axis=1)).all()
        assert sorted(np.bincount(cells, minlength=10)) == sorted(np.bincount(of, minlength=10))


def test_a_batch(searching: ModuleType, tmp_path: Path) -> None:
    boards = [puzzle("3x3", 40, 1), puzzle("3x3", 34, 2), spoilt(puzzle("3x3", 40, 3), 0)]
    path = tmp_path / "puzzles.txt"
    path.write_text("".join(f"{board}\n" for board in boards))
    engine = CudaEngine(tuning=SIMULATED)
    cuda, cpu = searching.batch("some", searching.puzzles(path), 20, engine)
    assert (cuda["number"], cpu["number"]) == (20, 3)
    assert cuda["case"] == cpu["case"] == "some puzzles, at most 2 solutions"
    assert min(cuda["seconds"], cuda["transfer"], cpu["seconds"]) > 0


def test_a_wrong_count_in_a_batch(searching: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    count_on_gpu = searching.count_on_gpu

    def miscounted(*arguments: Any) -> Any:
        counts, times = count_on_gpu(*arguments)
        counts[4] += 1
        return counts, times

    monkeypatch.setattr(searching, "count_on_gpu", miscounted)
    given = np.stack([puzzle("3x3", 60, seed).cells for seed in range(2)])
    with pytest.raises(
        MismatchError, match=f"puzzle 4 of 6, made from {puzzle('3x3', 60, 0)}"[:99]
    ):
        searching.batch("some", given, 6, CudaEngine(tuning=SIMULATED))


def test_a_batch_fits_into_memory(searching: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gpu, "free_bytes", lambda self: 5 * searching.PUZZLE_BYTES)
    given = np.stack([puzzle("3x3", 60, seed).cells for seed in range(2)])
    cuda, _ = searching.batch("some", given, 100, CudaEngine(tuning=SIMULATED))
    assert cuda["number"] == 5


def test_launches(searching: ModuleType) -> None:
    """All solutions are found in some of them, and they are not counted twice."""
    board = puzzle("3x3", 32, 4)
    launched = list(searching.launches(board, CudaEngine(tuning=SIMULATED)))
    assert sum(each.solutions for each in launched) == count(board, device="cpu").count
    assert launched[-1].busy == 0
    assert all(each.nodes > 0 and each.seconds > 0 for each in launched)


@pytest.mark.parametrize(("name", "swept"), [("2f", False), ("box2x3-many", True)])
def test_ways_of_stacks_are_swept_where_they_differ(
    name: str, swept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search of 9x9 boards has its stacks in one way, whatever the settings say."""
    monkeypatch.syspath_prepend(FOLDER)
    tune_gpu = import_module("tune_gpu")
    tuner = tune_gpu.Tuner(collection.load(name), 0, 1)
    tried = []

    def seconds(tuning: Tuning) -> float:
        tried.append(tuning)
        return 1.0

    monkeypatch.setattr(tuner, "seconds", seconds)
    tuner.descend(tune_gpu.VALUES)
    assert {tuning.stacks for tuning in tried} == (
        {"interleaved", "contiguous"} if swept else {"interleaved"}
    )
    assert {tuning.boards_per_thread for tuning in tried} >= {1, 32}
