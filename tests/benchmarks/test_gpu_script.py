"""``benchmarks/gpu.py`` in the simulator, with tiny boards: all parts, and ways to end early."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
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
from gpusudoku.engines.cuda.device import Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.errors import DeviceError, MismatchError
from tests.boards import puzzle
from tests.engines.cuda.simulator import ON_SIMULATOR

pytestmark = ON_SIMULATOR

TINY = replace(
    gpu_bench.REHEARSAL,
    nine="box2x2-few",
    small="box2x2-many",
    techniques=("none",),
    clues=(),
    many=1,
    batch=2,
    boards=1,
)
Rehearse = Callable[..., tuple[Result, dict[str, Any]]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gpu.json"


@pytest.fixture
def rehearse(path: Path, monkeypatch: pytest.MonkeyPatch) -> Rehearse:
    """Run the script with tiny boards: how it ended, and what is in its file."""
    monkeypatch.setattr(gpu, "REHEARSAL", TINY)

    def run(*options: str) -> tuple[Result, dict[str, Any]]:
        done = CliRunner().invoke(gpu.main, ["--rehearse", "--output", str(path), *options])
        return done, json.loads(path.read_text()) if path.exists() else {}

    return run


@pytest.fixture
def bench() -> gpu_bench.Bench:
    return gpu_bench.Bench(gpu_bench.Clock(1e9), TINY, gpu_bench.own_puzzles())


def replaced_steps(patch: pytest.MonkeyPatch, *runs: Callable[[], Any]) -> None:
    """Let these be all that is done."""
    steps = [gpu_bench.Step("kernel", f"step {number}", run) for number, run in enumerate(runs)]
    patch.setattr(gpu_checks, "steps", lambda bench: [])
    patch.setattr(gpu_figures, "steps", lambda bench: steps)
    patch.setattr(gpu_tables, "show_kernel", lambda runs, gpu: None)


def line_of(done: Result) -> str:
    """The one line in which the script says why it ended."""
    [line] = [line for line in done.stderr.splitlines() if line.startswith("gpu.py: ")]
    assert "Traceback" not in done.output
    return line


def test_everything(rehearse: Rehearse, path: Path) -> None:
    """Every part but new processes, which take long."""
    parts = [part for part in gpu.PARTS if part != "start-up"]
    done, results = rehearse(*(f"--part={part}" for part in parts))
    assert done.exit_code == 0, done.output
    assert (results["failed"], results["left out"]) == ([], [])
    assert all(results[part] for part in parts)
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


def test_results_of_another_machine_stay(rehearse: Rehearse, path: Path) -> None:
    _, results = rehearse("--part=search")
    results["machine"]["gpus"] = ["another"]
    path.write_text(json.dumps(results))
    done, after = rehearse("--part=contraction")
    assert done.exit_code == 2
    assert "recorded with another gpus" in line_of(done)
    assert after == results


def test_a_wrong_count(rehearse: Rehearse, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script stops there, names the board, and keeps what was right before."""
    again = Launch.again

    def miscounted(self: Launch) -> None:
        again(self)
        if self.found.counts[0] and self.search.contiguous:  # only boards of 9x9 cells
            self.found.counts[0] += 1

    monkeypatch.setattr(Launch, "again", miscounted)
    monkeypatch.setattr(gpu, "REHEARSAL", replace(TINY, first=("box2x2-empty", "1a", "no-place")))
    done, results = rehearse()
    assert done.exit_code == 1
    assert "search of @1a: 1a: 2 solutions counted, 1 are right" in line_of(done)
    assert [run["check"] for run in results["correctness"]] == ["search of @box2x2-empty"]
    assert len(results["failed"]) == 1
    assert results["kernel"] == []
    shown = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
    assert "WRONG after 1 checks: search of @1a" in shown.stdout


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


def test_no_time_at_all(rehearse: Rehearse) -> None:
    done, results = rehearse("--minutes", "1e-9")
    assert done.exit_code == 0
    assert results["correctness"] == []
    assert {"search of @box2x2-empty", "start-up"} <= set(results["left out"])
    assert "No count was checked." in done.stdout
    assert "Left out: search of @box2x2-empty; " in done.stdout


def test_no_time_in_the_middle(
    rehearse: Rehearse, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a step, too: what it had found is kept, and a count does not go on."""
    board = collection.load("box2x2-empty")
    clocks = []
    init = gpu_bench.Bench.__init__

    def made(self: gpu_bench.Bench, *arguments: Any) -> None:
        init(self, *arguments)
        clocks.append(self)

    def ends() -> Iterator[dict[str, int]]:
        [bench] = clocks
        yield {"number": 1}
        bench.clock._end = bench.clock._step_end = time.perf_counter()
        bench.count(board, method="search")
        yield {"number": 2}

    monkeypatch.setattr(gpu_bench.Bench, "__init__", made)
    replaced_steps(monkeypatch, lambda: [{"number": 0}], ends, lambda: [{"number": 3}])
    done, results = rehearse()
    assert done.exit_code == 0, done.output
    assert results["kernel"] == [{"number": 0}, {"number": 1}]
    assert results["left out"] == ["step 1", "step 2"]


def test_checks_leave_time_for_figures() -> None:
    assert gpu.CHECKS_SHARE < 1
    clock = gpu_bench.Clock(1e9)
    with clock.step(10):
        assert 0 < clock.left <= 10
    with pytest.raises(gpu_bench.OutOfTime), clock.step(0):
        pass


def test_ctrl_c(rehearse: Rehearse, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found is kept, whether or not something was being counted."""

    def interrupted() -> Iterator[dict[str, int]]:
        yield {"number": 1}
        raise KeyboardInterrupt

    replaced_steps(monkeypatch, lambda: [{"number": 0}], interrupted, lambda: [{"number": 2}])
    done, results = rehearse()
    assert done.exit_code == 1
    assert f"interrupted; what was found is in {path}" in line_of(done)
    assert results["kernel"] == [{"number": 0}, {"number": 1}]


def test_ctrl_c_in_a_count(rehearse: Rehearse, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def look(self: gpu_bench.Clock, progress: object = None) -> None:
        if progress is not None:
            raise KeyboardInterrupt

    monkeypatch.setattr(gpu_bench.Clock, "look", look)
    done, results = rehearse("--part=correctness")
    assert done.exit_code == 1
    assert f"interrupted; what was found is in {path}" in line_of(done)
    assert results["failed"] == []


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
    ("options", "reason"),
    [
        (["--puzzles", "no-such-file.txt"], "no-such-file.txt: No such file"),
        (["--puzzles", "."], ".: Is a directory"),
        (["--puzzles", __file__], f"{__file__}:1:"),
    ],
)
def test_nothing_is_lost_by_bad_input(
    options: list[str], reason: str, rehearse: Rehearse, path: Path
) -> None:
    path.write_text("{}")
    done, after = rehearse(*options)
    assert done.exit_code == 2
    assert reason in line_of(done)
    assert done.stderr.count("\n") == 1
    assert after == {}


def test_a_rehearsal_is_not_taken_for_results() -> None:
    done = CliRunner().invoke(gpu.main, ["--rehearse"])
    assert done.exit_code == 2
    assert "--rehearse needs --output" in line_of(done)


def test_puzzles_of_a_file(rehearse: Rehearse, tmp_path: Path) -> None:
    puzzles = tmp_path / "some.txt"
    puzzles.write_text(f"{puzzle('3x3', 60, 1)}\n{puzzle('3x3', 60, 2)}\n")
    done, results = rehearse("--part=puzzles", "--puzzles", str(puzzles))
    assert done.exit_code == 0, done.output
    assert results["puzzles"][0]["case"] == "some.txt puzzles, at most 2 solutions"


def test_a_gpu_that_does_not_answer_is_given_up(path: Path) -> None:
    program = f"import gpu, time; gpu.give_up(0.1, {str(path)!r}); time.sleep(50)"
    folder = Path(gpu.__file__).parent
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path[:0] = {[str(folder), str(folder.parent)]}; {program}",
        ],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 1
    assert f"the GPU does not answer; what was found is in {path}" in done.stderr


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


def test_the_computed_bound_is_that_of_this_gpu() -> None:
    gpu_facts = {"multiprocessors": 66, "clocks.max.sm": "1980 MHz"}
    run = {"case": "@1f without 5 clues", "clocks.sm": "1750 MHz"}
    assert gpu_tables.bound(run, gpu_facts) == pytest.approx(5.56e9 / 2)
    assert gpu_tables.bound({"case": "@1f"}, gpu_facts) == pytest.approx(5.56e9 / 2 * 1980 / 1750)
    assert gpu_tables.bound({"case": "@16x16-many"}, gpu_facts) is None
    assert gpu_tables.bound({"case": "@1f"}, {"multiprocessors": 66}) is None


def test_what_is_asked_beside_stops_nothing(bench: gpu_bench.Bench) -> None:
    assert gpu_bench.asked(bench.gpus[0], gpu_bench.FACTS) == {}


def test_no_gpu(path: Path) -> None:
    with pytest.raises(DeviceError, match="only the simulator is there"):
        gpu.require_gpu()
