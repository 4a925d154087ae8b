"""``benchmarks/gpu.py`` in the simulator: its parts, its checks, and all ways to end early."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gpu
import gpu_bench
import gpu_checks
import gpu_figures
import gpu_tables
import pytest
from click.testing import CliRunner, Result

from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.errors import MismatchError
from tests.boards import puzzle
from tests.engines.cuda.simulator import ON_SIMULATOR

pytestmark = ON_SIMULATOR
MINUTES = 10_000
"""So many are no end; a process can still be waited for that long."""
TINY = replace(
    gpu_bench.REHEARSAL, nine="box2x2-few", small="box2x2-many", techniques=("none",), clues=(),
    many=1, batch=2,
)  # fmt: skip
"""Sizes at which the simulator takes a few seconds."""
Rehearse = Callable[..., tuple[Result, dict[str, Any]]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gpu.json"


@pytest.fixture
def rehearse(path: Path, monkeypatch: pytest.MonkeyPatch) -> Rehearse:
    """Run the script with such boards: how it ended, and what is in its file."""
    monkeypatch.setattr(gpu, "REHEARSAL", TINY)
    for name in ("MOST_OF_A_STEP", "GRACE"):
        monkeypatch.setattr(gpu, name, 60.0 * MINUTES)

    def run(*options: str) -> tuple[Result, dict[str, Any]]:
        words = ["--rehearse", "--output", str(path), "--minutes", str(MINUTES), *options]
        done = CliRunner().invoke(gpu.main, words)
        return done, json.loads(path.read_text()) if path.exists() else {}

    return run


def replaced_steps(patch: pytest.MonkeyPatch, *runs: Callable[[], Any]) -> None:
    """Let these be all that is done."""
    steps = [gpu_bench.Step("kernel", f"step {number}", run) for number, run in enumerate(runs)]
    patch.setattr(gpu_checks, "steps", lambda bench: [])
    patch.setattr(gpu_figures, "steps", lambda bench: steps)
    patch.setattr(gpu_tables, "show_kernel", lambda runs, gpu: None)


def line_of(done: Result) -> str:
    """Find the one line in which the script says why it ended."""
    [line] = [line for line in done.stderr.splitlines() if line.startswith("gpu.py: ")]
    assert "Traceback" not in done.output
    return line


def test_everything(rehearse: Rehearse, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part but new processes, which take long."""
    monkeypatch.setattr(gpu_figures, "TUNED", {"boards_per_thread": [2]})
    parts = [part for part in gpu.PARTS if part != "start-up"]
    done, results = rehearse(*(f"--part={part}" for part in parts))
    assert done.exit_code == 0, done.output
    assert (results["failed"], results["left out"]) == ([], [])
    assert all(results[part] for part in parts)
    assert "A rehearsal: the figures mean nothing." in done.stdout
    assert f"{len(results['correctness'])} checks, and all counts right." in done.stdout
    assert len({run["check"] for run in results["correctness"]}) > 20
    again = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
    assert again.stdout == done.stdout


def test_a_part_keeps_the_others_but_not_those_of_other_gpus(
    rehearse: Rehearse, path: Path, tmp_path: Path
) -> None:
    puzzles = tmp_path / "some.txt"
    puzzles.write_text(f"{puzzle('3x3', 60, 1)}\n{puzzle('3x3', 60, 2)}\n")
    _, before = rehearse("--part=contraction")
    _, results = rehearse("--part=puzzles", "--puzzles", str(puzzles))
    assert results["contraction"] == before["contraction"]
    assert results["puzzles"][0]["case"] == "some.txt puzzles, at most 2 solutions"
    results["machine"]["gpus"] = ["another"]
    path.write_text(json.dumps(results))
    done, after = rehearse("--part=contraction")
    assert done.exit_code == 2
    assert "recorded on other GPUs; give --output" in line_of(done)
    assert after == results


def test_a_wrong_count_ends_it_and_what_was_right_before_is_kept(
    rehearse: Rehearse, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = Launch.again

    def miscounted(self: Launch) -> None:
        again(self)
        if self.found.counts[0] and self._frontier.shape.n == 9:  # only boards of 9x9 cells
            self.found.counts[0] += 1

    monkeypatch.setattr(Launch, "again", miscounted)
    sizes = replace(TINY, first=("box2x2-empty", "1a", "no-place"))
    monkeypatch.setattr(gpu, "REHEARSAL", sizes)
    done, results = rehearse()
    assert done.exit_code == 1
    assert "search of @1a: 1a: 2 solutions counted, 1 are right" in line_of(done)
    assert [run["check"] for run in results["correctness"]] == ["search of @box2x2-empty"]
    assert (len(results["failed"]), results["kernel"]) == (1, [])
    shown = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
    assert "WRONG after 1 checks: search of @1a" in shown.stdout


def test_every_check_finds_a_gpu_out_that_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_done(launch: Launch) -> None:
        launch.work.cursor[0] = launch.boards
        launch.stacks.state[...] = -1

    monkeypatch.setattr(Launch, "again", all_done)
    bench = gpu_bench.Bench(gpu_bench.Clock(1e9), TINY, gpu_bench.own_puzzles())
    for step in gpu_checks.steps(bench):
        if not step.name.startswith(("contraction", "search of @no-place", "a board of")):
            with pytest.raises(MismatchError):
                list(step.run())


def test_no_time_at_all(rehearse: Rehearse) -> None:
    done, results = rehearse("--minutes", "1e-9")
    assert (done.exit_code, results["correctness"]) == (0, [])
    assert {"search of @box2x2-empty", "start-up"} <= set(results["left out"])
    assert "No count was checked." in done.stdout


def test_ctrl_c_keeps_what_was_found(
    rehearse: Rehearse, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted() -> Iterator[dict[str, int]]:
        yield {"number": 1}
        raise KeyboardInterrupt

    replaced_steps(monkeypatch, interrupted, lambda: [{"number": 2}])
    done, results = rehearse()
    assert done.exit_code == 1
    assert f"interrupted; what was found is in {path}" in line_of(done)
    assert (results["failed"], results["kernel"]) == ([], [{"number": 1}])


def test_a_step_that_fails(rehearse: Rehearse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are done all the same; the script says so in the end."""

    def fails() -> list[Any]:
        raise RuntimeError("cudaErrorMemoryAllocation:\n out of memory")

    replaced_steps(monkeypatch, fails, lambda: [{"number": 1}])
    done, results = rehearse()
    assert done.exit_code == 1
    assert "1 of 2 steps failed, first of all step 0: cudaErr" in line_of(done)
    assert results["failed"] == ["step 0: cudaErrorMemoryAllocation: out of memory"]
    assert results["kernel"] == [{"number": 1}]


@pytest.mark.parametrize(
    ("options", "status", "reason"),
    [
        (["--rehearse", "--puzzles", "no-such-file.txt"], 2, "No such file"),
        (["--rehearse", "--puzzles", __file__], 2, ":1:"),
        ([], 1, "only the simulator is there"),
    ],
)
def test_what_cannot_be_done_loses_nothing(
    options: list[str], status: int, reason: str, path: Path
) -> None:
    path.write_text("{}")
    done = CliRunner().invoke(gpu.main, ["--output", str(path), *options])
    assert (done.exit_code, path.read_text(), done.stderr.count("\n")) == (status, "{}", 1)
    assert reason in line_of(done)


@pytest.mark.slow
def test_a_gpu_that_does_not_answer_is_given_up(path: Path) -> None:
    folder = Path(gpu.__file__).parent
    program = f"import sys; sys.path[:0] = {[str(folder), str(folder.parent)]}; import gpu, time"
    program += f"; gpu.give_up(0.1, {str(path)!r}); time.sleep(500)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 1
    assert f"the GPU does not answer; what was found is in {path}" in done.stderr
