"""``benchmarks/gpu.py`` in the simulator: its parts, its checks, and all ways to end early."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
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
from click.testing import CliRunner, Result

from gpusudoku import collection
from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.errors import MismatchError
from tests.benchmarks.conftest import Rehearse
from tests.boards import puzzle
from tests.engines.cuda.simulator import ON_SIMULATOR

pytestmark = ON_SIMULATOR


@pytest.fixture
def bench(tiny: Any) -> gpu_bench.Bench:
    return gpu_bench.Bench(gpu_bench.Clock(1e9), tiny, gpu_bench.own_puzzles())


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
    assert [run["case"] for run in results["tuning"]][1:] == ["boards_per_thread 2"]
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
    cases = [run["case"].split(", ")[1] for run in results["start-up"]]
    assert cases == ["first process", "second process"]


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


class TestWrong:
    def test_a_count(
        self, rehearse: Rehearse, path: Path, tiny: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The script stops there, names the board, and keeps what was right before."""
        again = Launch.again

        def miscounted(self: Launch) -> None:
            again(self)
            if self.found.counts[0] and self.search.contiguous:  # only boards of 9x9 cells
                self.found.counts[0] += 1

        monkeypatch.setattr(Launch, "again", miscounted)
        sizes = replace(tiny, first=("box2x2-empty", "1a", "no-place"))
        monkeypatch.setattr(gpu, "REHEARSAL", sizes)
        done, results = rehearse()
        assert done.exit_code == 1
        assert "search of @1a: 1a: 2 solutions counted, 1 are right" in line_of(done)
        assert [run["check"] for run in results["correctness"]] == ["search of @box2x2-empty"]
        assert (len(results["failed"]), results["kernel"]) == (1, [])
        shown = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
        assert "WRONG after 1 checks: search of @1a" in shown.stdout

    def test_every_check_finds_a_gpu_out_that_finds_nothing(
        self, bench: gpu_bench.Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def all_done(launch: Launch) -> None:
            launch.work.cursor[0] = launch.boards
            launch.stacks.state[...] = -1

        monkeypatch.setattr(Launch, "again", all_done)
        for step in gpu_checks.steps(bench):
            if not step.name.startswith(("contraction", "search of @no-place", "a board of")):
                with pytest.raises(MismatchError):
                    list(step.run())


class TestEndsEarly:
    def test_no_time_at_all(self, rehearse: Rehearse) -> None:
        done, results = rehearse("--minutes", "1e-9")
        assert (done.exit_code, results["correctness"]) == (0, [])
        assert {"search of @box2x2-empty", "start-up"} <= set(results["left out"])
        assert "No count was checked." in done.stdout
        assert "Left out: search of @box2x2-empty; " in done.stdout

    @pytest.mark.parametrize("counting", [False, True])
    def test_ctrl_c(
        self, rehearse: Rehearse, path: Path, monkeypatch: pytest.MonkeyPatch, counting: bool
    ) -> None:
        """What was found is kept, whether or not something was being counted."""

        def interrupted() -> Iterator[dict[str, int]]:
            yield {"number": 1}
            raise KeyboardInterrupt

        def look(self: gpu_bench.Clock, progress: object = None) -> None:
            if progress is not None:
                raise KeyboardInterrupt

        if counting:
            monkeypatch.setattr(gpu_bench.Clock, "look", look)
        else:
            replaced_steps(monkeypatch, interrupted, lambda: [{"number": 2}])
        done, results = rehearse(*(["--part=correctness"] if counting else []))
        assert done.exit_code == 1
        assert f"interrupted; what was found is in {path}" in line_of(done)
        assert results["failed"] == []
        assert results.get("kernel") == (None if counting else [{"number": 1}])

    def test_a_step_that_fails(self, rehearse: Rehearse, monkeypatch: pytest.MonkeyPatch) -> None:
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
        ("puzzles", "reason"),
        [("no-such-file.txt", "No such file"), (".", ".: Is a directory"), (__file__, ":1:")],
    )
    def test_bad_input_loses_nothing(
        self, puzzles: str, reason: str, rehearse: Rehearse, path: Path
    ) -> None:
        path.write_text("{}")
        done, after = rehearse("--puzzles", puzzles)
        assert (done.exit_code, after) == (2, {})
        assert reason in line_of(done)
        assert done.stderr.count("\n") == 1

    def test_a_rehearsal_is_not_taken_for_results(self) -> None:
        done = CliRunner().invoke(gpu.main, ["--rehearse"])
        assert done.exit_code == 2
        assert "--rehearse needs --output" in line_of(done)

    def test_without_a_gpu(self, path: Path) -> None:
        done = CliRunner().invoke(gpu.main, ["--output", str(path)])
        assert done.exit_code == 1
        assert "only the simulator is there" in line_of(done)
        assert done.stderr.count("\n") == 1

    @pytest.mark.slow
    def test_a_gpu_that_does_not_answer_is_given_up(self, path: Path) -> None:
        folder = Path(gpu.__file__).parent
        program = (
            f"import sys; sys.path[:0] = {[str(folder), str(folder.parent)]}; import gpu, time"
        )
        program += f"; gpu.give_up(0.1, {str(path)!r}); time.sleep(500)"
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 1
        assert f"the GPU does not answer; what was found is in {path}" in done.stderr


class TestARealRun:
    def test_its_boards_and_puzzles_are_there(self) -> None:
        sizes = gpu_bench.Sizes()
        names = [*sizes.first, *sizes.last, sizes.nine, sizes.small, *sizes.contracted, sizes.start]
        boards = [collection.entry(name) for name in names]
        assert {str(each.box) for each in boards} >= {"2x2", "2x3", "3x3", "3x4", "4x4", "8x8"}
        assert all(each.searchable for each in boards[: len(sizes.first) + len(sizes.last) + 2])
        for name, *clues in [*sizes.long, *sizes.steady, sizes.tuned]:
            assert collection.entry(name).clues > max(clues)
        name, cells = gpu_bench.own_puzzles()
        assert (name, cells.shape[0] > 5) == ("the program's own", True)
        assert (np.count_nonzero(cells, axis=1) < 81).all()

    def test_the_computed_bound_is_that_of_this_gpu(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
        assert gpu_tables.bound({"case": "@16x16-many"}, facts) is None
        assert gpu_tables.bound({"case": "@1f"}, {"multiprocessors": 66}) is None
