"""The ways in which ``benchmarks/gpu.py`` ends early, in the simulator: what it says and keeps."""

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
import pytest
from click.testing import CliRunner, Result

from gpusudoku import collection
from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.errors import DeviceError
from tests.benchmarks.conftest import Rehearse
from tests.engines.cuda.simulator import ON_SIMULATOR

pytestmark = ON_SIMULATOR


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


def test_results_of_another_machine_stay(rehearse: Rehearse, path: Path) -> None:
    _, results = rehearse("--part=search")
    results["machine"]["gpus"] = ["another"]
    path.write_text(json.dumps(results))
    done, after = rehearse("--part=contraction")
    assert done.exit_code == 2
    assert "recorded on other GPUs; give --output" in line_of(done)
    assert after == results


def test_a_wrong_count(
    rehearse: Rehearse, path: Path, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The script stops there, names the board, and keeps what was right before."""
    again = Launch.again

    def miscounted(self: Launch) -> None:
        again(self)
        if self.found.counts[0] and self.search.contiguous:  # only boards of 9x9 cells
            self.found.counts[0] += 1

    monkeypatch.setattr(Launch, "again", miscounted)
    monkeypatch.setattr(gpu, "REHEARSAL", replace(tiny, first=("box2x2-empty", "1a", "no-place")))
    done, results = rehearse()
    assert done.exit_code == 1
    assert "search of @1a: 1a: 2 solutions counted, 1 are right" in line_of(done)
    assert [run["check"] for run in results["correctness"]] == ["search of @box2x2-empty"]
    assert len(results["failed"]) == 1
    assert results["kernel"] == []
    shown = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
    assert "WRONG after 1 checks: search of @1a" in shown.stdout


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
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    assert f"the GPU does not answer; what was found is in {path}" in done.stderr


def test_no_gpu(path: Path) -> None:
    with pytest.raises(DeviceError, match="only the simulator is there"):
        gpu.require_gpu()
