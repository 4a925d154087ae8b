"""What else measures GPUs, in the simulator: tuning, batches of puzzles, launches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import searching
import tune_gpu
from click.testing import CliRunner

from gpusudoku.counting import count
from gpusudoku.engines.cuda.device import SIMULATED, Gpu, Tuning
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import MismatchError
from tests.boards import puzzle, spoilt
from tests.engines.cuda.simulator import ON_SIMULATOR

pytestmark = ON_SIMULATOR
SPARSE = np.stack([puzzle("3x3", 60, seed).cells for seed in range(2)])


def test_a_tuning_is_measured_shown_recorded_and_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved, output = tmp_path / "tuning.json", tmp_path / "record.json"
    monkeypatch.setenv("GPUSUDOKU_CUDA_TUNING", str(saved))
    options = ["--board", "@box2x2-empty", "--quick", "--save", "--output", str(output)]
    done = CliRunner().invoke(tune_gpu.main, options)
    assert done.exit_code == 0, done.output
    assert "288 solutions" in done.stdout
    recorded = json.loads(output.read_text())
    tried = {run["tuning"]["boards_per_thread"] for run in recorded["runs"]}
    assert tried >= {1, 8}
    assert json.loads(saved.read_text()) == {"simulator": recorded["best"]}
    assert CudaEngine().gpus[0].tuning == Tuning(**recorded["best"])
    again = CliRunner().invoke(tune_gpu.main, ["--show", str(output)])
    assert again.stdout in done.stdout


def test_batches_are_counted_on_both_and_fit_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boards = [puzzle("3x3", 40, 1), puzzle("3x3", 34, 2), spoilt(puzzle("3x3", 40, 3), 0)]
    path = tmp_path / "puzzles.txt"
    path.write_text("".join(f"{board}\n" for board in boards))
    engine = CudaEngine(tuning=SIMULATED)
    cuda, cpu = searching.batch("some", searching.puzzles(path), 6, engine)
    assert (cuda["number"], cpu["number"]) == (6, 3)
    assert cuda["case"] == cpu["case"] == "some puzzles, at most 2 solutions"
    assert min(cuda["seconds"], cuda["transfer"], cpu["seconds"]) > 0
    monkeypatch.setattr(Gpu, "free_bytes", lambda self: 5 * searching.PUZZLE_BYTES)
    assert searching.batch("some", SPARSE, 100, engine)[0]["number"] == 5


def test_a_wrong_count_of_a_batch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    count_on_gpu = searching.count_on_gpu

    def miscounted(*arguments: Any) -> Any:
        counts, times = count_on_gpu(*arguments)
        counts[4] += 1
        return counts, times

    monkeypatch.setattr(searching, "count_on_gpu", miscounted)
    message = f"puzzle 4 of 6, made from {puzzle('3x3', 60, 0)}"[:99]
    with pytest.raises(MismatchError, match=message):
        searching.batch("some", SPARSE, 6, CudaEngine(tuning=SIMULATED))


def test_launches() -> None:
    """All solutions are found in some of them, and they are not counted twice."""
    board = puzzle("3x3", 32, 4)
    launched = list(searching.launches(board, CudaEngine(tuning=SIMULATED)))
    assert sum(each.solutions for each in launched) == count(board, device="cpu").count
    assert launched[-1].busy == 0
