"""``benchmarks/gpu.py`` in the simulator: its parts, its checks, and all ways to end early."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import gpu
import gpu_steps
import gpu_sweep
import numpy as np
import pytest
import searching
from click.testing import CliRunner, Result
from machine import RESULTS, recorded

from gpusudoku.counting import count
from gpusudoku.engines.cuda.device import SIMULATED, Gpu
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.prices import MEASURED, SUM_SECONDS, Prices, prices_of
from gpusudoku.engines.cuda.search import DeviceSearch
from gpusudoku.errors import MismatchError
from gpusudoku.kernels.search.shape import shape_of
from gpusudoku.search.frontier import node_seconds
from tests.boards import puzzle, spoilt
from tests.engines.cuda.simulator import ON_SIMULATOR

pytestmark = ON_SIMULATOR
MINUTES = 10_000
"""So many are no end; a process can still be waited for that long."""
SPARSE = np.stack([puzzle("3x3", 60, seed).cells for seed in range(2)])
Rehearse = Callable[..., tuple[Result, dict[str, Any]]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gpu.json"


@pytest.fixture
def rehearse(path: Path, monkeypatch: pytest.MonkeyPatch) -> Rehearse:
    """Run the script with tiny boards; return how it ended, and what is in its file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(path.parent))
    monkeypatch.setattr(gpu, "STEP_SECONDS", 60.0 * MINUTES)

    def run(*options: str) -> tuple[Result, dict[str, Any]]:
        words = ["--rehearse", "--output", str(path), "--minutes", str(MINUTES), *options]
        done = CliRunner().invoke(gpu.main, words)
        return done, json.loads(path.read_text()) if path.exists() else {}

    return run


def replaced_steps(patch: pytest.MonkeyPatch, *functions: Callable[[Any], Any]) -> None:
    """Let these be all that is done."""
    steps = [("kernel", f"step {number}", each) for number, each in enumerate(functions)]
    patch.setattr(gpu_steps, "steps", lambda *_: steps)
    patch.setattr(gpu, "show_kernel", lambda *_: None)


def line_of(done: Result) -> str:
    """Find the one line in which the script says why it ended."""
    [line] = [line for line in done.stderr.splitlines() if line.startswith("gpu.py: ")]
    assert "Traceback" not in done.output
    return line


def test_everything(rehearse: Rehearse, path: Path) -> None:
    """Every part but new processes, which take long."""
    parts = [part for part in gpu.PARTS if part != "start-up"]
    done, results = rehearse(*(f"--part={part}" for part in parts))
    assert done.exit_code == 0, done.output
    assert (results["failed"], results["left out"]) == ([], {})
    assert all(results[part] for part in parts)
    assert {run["device"] for run in results["search"]} == set(gpu_steps.DEVICES)
    assert "| from board to count | GPU | all cores | half of the cores | one core |" in done.stdout
    assert "A rehearsal: the figures mean nothing." in done.stdout
    assert f"{len(results['correctness'])} checks, and all counts right." in done.stdout
    assert len({run["check"] for run in results["correctness"]}) > 20
    assert "Prices: simulator does the work of" in done.stdout
    assert not (path.parent / "gpusudoku/gpus.json").exists(), "its prices mean nothing"
    profile = json.loads((path.parent / "gpu-profile.json").read_text())
    assert profile["search"]["launches"][-1]["boards"] == 0
    assert profile["search"]["threads"] == np.prod(
        [profile["kernels"][0][name] for name in ("blocks at once", "threads of a block")]
    )
    again = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
    assert again.stdout == done.stdout


def test_a_sweep(rehearse: Rehearse, path: Path) -> None:
    """Every candidate is tried and recorded, for every shape the fastest twice; nothing else is."""
    done, results = rehearse("--sweep")
    assert done.exit_code == 0, done.output
    assert (results["failed"], results["left out"]) == ([], {})
    assert not set(results) & set(gpu.PARTS)
    for shape in ("9x9", "4x4"):
        *runs, winner = [run for run in results["sweep"] if run["shape"] == shape]
        settings = {(run["memory"], run["limit"]) for run in runs}
        assert len(runs) == len(settings) == 4
        assert winner == max(runs, key=lambda run: run["rate"]) | {"winner": True}
        assert (winner["gpu"], winner["capability"]) == ("simulator", "0.0")
        fastest = f"Fastest for {shape} on simulator, compute capability 0.0: {winner['memory']}"
        assert fastest in done.stdout
    again = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
    assert again.stdout == done.stdout


def test_a_candidate_that_cannot_run(rehearse: Rehearse, monkeypatch: pytest.MonkeyPatch) -> None:
    steady = gpu_sweep.steady

    def limited(bench: Any, board: Any, seconds: float) -> Any:
        if board.n == 9:
            raise RuntimeError("too many resources requested for launch")
        return steady(bench, board, seconds)

    monkeypatch.setattr(gpu_sweep, "steady", limited)
    done, results = rehearse("--sweep")
    assert done.exit_code == 0, done.output
    failed = {run["shape"]: run.get("failed") for run in results["sweep"]}
    assert failed == {"9x9": "too many resources requested for launch", "4x4": None}


def test_a_wrong_count_ends_a_sweep(rehearse: Rehearse, monkeypatch: pytest.MonkeyPatch) -> None:
    swept = {"swept": (("1a", 0, "1c"),)}
    monkeypatch.setattr(gpu_steps, "REHEARSAL", gpu_steps.REHEARSAL | swept)

    def wrong(*_: Any) -> int:
        raise MismatchError("1c: 2 solutions counted, 1 are right")

    monkeypatch.setattr(gpu_sweep, "known", wrong)
    done, results = rehearse("--sweep")
    assert done.exit_code == 1
    assert "sweep of @1a: 1c: 2 solutions counted" in line_of(done)
    assert results["sweep"] == []


def test_a_part_keeps_the_others_but_not_those_of_other_gpus(
    rehearse: Rehearse, path: Path, tmp_path: Path
) -> None:
    puzzles = tmp_path / "some.txt"
    puzzles.write_text(f"{puzzle('3x3', 60, 1)}\n{puzzle('3x3', 60, 2)}\n")
    _, before = rehearse("--part=few clues")
    _, results = rehearse("--part=puzzles", "--puzzles", str(puzzles))
    assert results["few clues"] == before["few clues"]
    assert results["puzzles"][0]["case"] == "some.txt puzzles, at most 2 solutions"
    results["machine"]["gpus"] = ["another"]
    path.write_text(json.dumps(results))
    done, after = rehearse("--part=few clues")
    assert done.exit_code == 2
    assert "recorded with gpus ['another'], not ['simulator']; give --output" in line_of(done)
    assert after == results


def test_a_wrong_count_ends_it_and_what_was_right_before_is_kept(
    rehearse: Rehearse, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = DeviceSearch.launch

    def miscounted(self: DeviceSearch) -> bool:
        goes_on = launch(self)
        if goes_on and self.shape.n == 9:  # only boards of 9x9 cells
            self.found.counts[0] += 1
        return goes_on

    monkeypatch.setattr(DeviceSearch, "launch", miscounted)
    sizes = {
        "quick": ("search of @box2x2-empty", "search of @1a"),
        "searched": ("box2x2-empty", "1a"),
    }
    monkeypatch.setattr(gpu_steps, "REHEARSAL", gpu_steps.REHEARSAL | sizes)
    done, results = rehearse()
    assert done.exit_code == 1
    assert "search of @1a: 1a: 2 solutions counted, 1 are right" in line_of(done)
    assert [run["check"] for run in results["correctness"]] == ["search of @box2x2-empty"]
    assert (len(results["failed"]), results["kernel"]) == (1, [])
    assert results["left out"]["start-up"] == "because the run ended early"
    assert "search of @1a" not in results["left out"]
    shown = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
    assert "WRONG after 1 checks: search of @1a" in shown.stdout


def test_every_check_finds_a_gpu_out_that_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_done(search: DeviceSearch) -> bool:
        search._taken, search._busy = search._filled, 0
        return False

    monkeypatch.setattr(DeviceSearch, "launch", all_done)
    bench = gpu_steps.Bench(gpu_steps.REHEARSAL, None)
    bench.end = float("inf")
    for _, name, function, *arguments in gpu_steps.checks(bench):
        if not name.startswith(("contraction", "search of @no-place", "a board of")):
            with pytest.raises(MismatchError):
                function(bench, *arguments)


def test_no_time_at_all(rehearse: Rehearse) -> None:
    done, results = rehearse("--minutes", "1e-9")
    assert (done.exit_code, results["correctness"]) == (0, [])
    assert {"search of @box2x2-empty", "start-up", "prices"} <= set(results["left out"])
    assert "No count was checked." in done.stdout
    number = len(results["left out"])
    assert f"{number} steps left out for lack of time: run with more --minutes." in done.stdout


def test_two_minutes_give_all_figures_and_the_other_checks_come_last() -> None:
    bench = gpu_steps.Bench(gpu_steps.FULL, None)
    steps = gpu_steps.steps(bench, {}, Path())
    assert len({name for _, name, *_ in steps}) == len(steps), "they are left out by name"
    parts = [part for part, _ in groupby(steps, key=itemgetter(0))]
    assert parts == [*gpu.PARTS[:-1], "correctness", "profile"]
    assert {name for part, name, *_ in steps[:3]} == set(bench.sizes.quick)


def test_a_step_that_takes_too_long(rehearse: Rehearse, monkeypatch: pytest.MonkeyPatch) -> None:
    def takes_long(bench: gpu_steps.Bench) -> list[Any]:
        bench.end = 0.0
        bench.look()
        return []

    replaced_steps(monkeypatch, takes_long, lambda _: [{"number": 1}])
    done, results = rehearse()
    assert done.exit_code == 0
    assert results["left out"] == {"step 0": "after 10 s, the limit of a step"}
    assert "1 step left out after 10 s, the limit of a step." in done.stdout
    assert results["kernel"] == [{"number": 1}]


def test_ctrl_c_keeps_what_was_found(
    rehearse: Rehearse, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: Any) -> Iterator[dict[str, int]]:
        yield {"number": 1}
        raise KeyboardInterrupt

    replaced_steps(monkeypatch, interrupted, lambda _: [{"number": 2}])
    done, results = rehearse()
    assert done.exit_code == 1
    assert f"interrupted; what was found is in {path}" in line_of(done)
    assert (results["failed"], results["kernel"]) == ([], [{"number": 1}])


def test_a_step_that_fails(rehearse: Rehearse, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are done all the same; the script says so in the end."""

    def fails(_: Any) -> list[Any]:
        raise RuntimeError("cudaErrorMemoryAllocation:\n out of memory")

    replaced_steps(monkeypatch, fails, lambda _: [{"number": 1}])
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


def test_prices_are_computed_and_saved(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the kernels the slowest counts, and of the contractions the biggest."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(path.parent))
    nodes = {box: 100 / node_seconds(shape_of(box, box)) for box in (3, 4)}
    kernel = [{"box": "3x3", "nodes": factor * nodes[3]} for factor in (1.5, 2.0)]
    contraction = [
        {"device": device, "estimate": estimate, "seconds": SUM_SECONDS + seconds}
        for device, estimate, seconds in [("cuda", 1.0, 1.0), ("cuda", 4.0, 0.5), ("cpu", 9.0, 1.0)]
    ]
    results = {"kernel": kernel, "contraction": contraction}
    with pytest.raises(gpu_steps.OutOfTime, match="no kernel on 9x9 or larger boards"):
        gpu_steps.prices_of_figures(results)
    kernel.append({"box": "4x4", "nodes": nodes[4]})
    bench = gpu_steps.Bench(gpu_steps.FULL, None)
    [run] = gpu_steps.price(bench, results)
    assert run == pytest.approx({"gpu": "simulator", "nine": 150.0, "larger": 100.0, "sums": 8.0})
    assert prices_of(SIMULATED) == Prices(run["nine"], run["larger"], run["sums"])
    contraction[1]["seconds"] = 100.0
    assert gpu_steps.prices_of_figures(results).sums == 1.0


def test_usual_prices_are_of_the_recorded_run() -> None:
    """But that of sums, which the run left out."""
    results = recorded(RESULTS / "gpu.json")
    sums = [{"device": "cuda", "estimate": 1.0, "seconds": 1.0}]
    prices = gpu_steps.prices_of_figures({"kernel": results["kernel"], "contraction": sums})
    usual = Prices()
    assert (prices.nine, prices.larger) == pytest.approx((usual.nine, usual.larger), rel=0.01)
    assert results["machine"]["gpus"] == [MEASURED.name]


def test_batches_are_counted_on_both_and_fit_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boards = [puzzle("3x3", 40, 1), puzzle("3x3", 34, 2), spoilt(puzzle("3x3", 40, 3), 0)]
    path = tmp_path / "puzzles.txt"
    path.write_text("".join(f"{board}\n" for board in boards))
    cuda, cpu, core = searching.batch("some", searching.puzzles(path), 6, CudaEngine())
    assert [run["number"] for run in (cuda, cpu, core)] == [6, 3, 1]
    assert min(cuda["seconds"], cuda["transfer"], cpu["seconds"], core["seconds"]) > 0
    monkeypatch.setattr(Gpu, "free_bytes", lambda self: 5 * searching.PUZZLE_BYTES)
    assert next(searching.batch("some", SPARSE, 100, CudaEngine()))["number"] == 5


def test_a_wrong_count_of_a_batch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    count_on_gpu = searching.count_on_gpu

    def miscounted(*arguments: Any) -> Any:
        counts, times = count_on_gpu(*arguments)
        counts[4] += 1
        return counts, times

    monkeypatch.setattr(searching, "count_on_gpu", miscounted)
    message = f"puzzle 4 of 6, made from {puzzle('3x3', 60, 0)}"[:99]
    with pytest.raises(MismatchError, match=message):
        list(searching.batch("some", SPARSE, 6, CudaEngine()))


def test_launches() -> None:
    """All solutions are found in some of them, and they are not counted twice."""
    board = puzzle("3x3", 32, 4)
    with searching.search_of(board, CudaEngine()) as search:
        launches = list(searching.launches(search))
    assert sum(each.solutions for each in launches) == count(board, device="cpu").count
    assert (launches[-1].boards, launches[-1].busy) == (0, 0.0)
