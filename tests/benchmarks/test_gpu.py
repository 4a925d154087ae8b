"""``benchmarks/gpu.py`` in the simulator: its parts, its checks, and its early ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gpu
import gpu_figures
import gpu_steps
import gpu_sweep
import numpy as np
import pytest
from click.testing import CliRunner, Result
from gpu_steps import Bench, Sizes, Step
from machine import RESULTS, read_results

import gpusudoku
from gpusudoku.engines.cuda.device import SIMULATED
from gpusudoku.engines.cuda.prices import MEASURED, SUM_SECONDS, Prices, prices_of
from gpusudoku.engines.cuda.search import DeviceSearch
from gpusudoku.errors import MismatchError
from gpusudoku.kernels.search.shape import shape_of
from gpusudoku.search.frontier import node_seconds
from tests.benchmarks.tiny import TINY
from tests.engines.cuda.simulator import ON_SIMULATOR

pytestmark = ON_SIMULATOR
MINUTES = 10_000
"""Long enough for every test, and short enough for the timeout of a process."""
Run = Callable[..., tuple[Result, dict[str, Any]]]


def no_process(_: Bench) -> Iterator[dict[str, Any]]:
    """Replace the start of the program, which takes long."""
    yield {"case": "@box2x2-few, first process", "device": "cuda", "seconds": 1.0}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "gpu.json"


@pytest.fixture
def run(path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the script with tiny boards; return its result and the content of its file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(path.parent))
    monkeypatch.setattr(gpu, "STEP_SECONDS", 60.0 * MINUTES)
    monkeypatch.setattr(gpu, "SIZES", TINY)
    usable = SimpleNamespace(simulated=lambda: False, unusable_because=lambda: None)
    monkeypatch.setattr(gpu, "availability", usable)
    monkeypatch.setattr(gpu_figures, "time_start", no_process)

    def run(*options: str) -> tuple[Result, dict[str, Any]]:
        arguments = ["--output", str(path), "--minutes", str(MINUTES), *options]
        result = CliRunner().invoke(gpu.main, arguments)
        return result, json.loads(path.read_text()) if path.exists() else {}

    return run


def replace_steps(
    patch: pytest.MonkeyPatch, *functions: Callable[[Bench], Iterator[dict[str, Any]]]
) -> None:
    """Replace all steps of the script."""

    def steps(bench: Bench, _: dict[str, Any]) -> list[Step]:
        numbered = enumerate(functions)
        return [Step("start-up", f"step {i}", lambda f=f: f(bench)) for i, f in numbered]

    patch.setattr(gpu, "all_steps", steps)


def step_of(number: int) -> Callable[[Bench], Iterator[dict[str, Any]]]:
    return lambda _: iter([{"case": f"{number}", "device": "cuda", "seconds": 1.0}])


def line_of(result: Result) -> str:
    """Return the one line in which the script reports its error."""
    [line] = [line for line in result.stderr.splitlines() if line.startswith("gpu.py: ")]
    assert "Traceback" not in result.output
    return line


def test_everything(run: Run, path: Path) -> None:
    result, results = run()
    assert result.exit_code == 0, result.output
    assert (results["failed"], results["left out"]) == ([], [])
    for part in ("correctness", "kernel", "search", "puzzles", "contraction", "start-up", "prices"):
        assert results[part], part
    for part in ("search", "puzzles", "contraction"):
        assert {run["device"] for run in results[part]} == set(gpu_steps.DEVICES)
    assert (
        "| from board to count | GPU | all cores | half of the cores | one core |" in result.stdout
    )
    check_count = len({check["check"] for check in results["correctness"]})
    assert f"{check_count} checks, and all counts right." in result.stdout
    assert check_count > 15
    assert "Prices: simulator does the work of" in result.stdout
    assert prices_of(SIMULATED).nine == results["prices"][0]["nine"]
    shown = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
    assert shown.stdout == result.stdout


def test_a_sweep(run: Run, path: Path) -> None:
    """All candidates are tried and recorded, and nothing else."""
    result, results = run("--sweep")
    assert result.exit_code == 0, result.output
    assert set(results) == {"machine", "sweep", "left out", "failed", "seconds"}
    for shape in ("9x9", "4x4"):
        runs = [run for run in results["sweep"] if run["shape"] == shape]
        assert [run["limit"] for run in runs] == [None, 64]
        assert all(run["nodes"] > 0 for run in runs)
    assert result.stdout.count("\n| @box2x2-empty | local | 32 | ") == 2
    shown = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
    assert shown.stdout == result.stdout


def test_a_candidate_that_cannot_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    measure_rate = gpu_sweep.measure_rate

    def fail_on_nine(bench: Bench, board: Any, seconds: float) -> Any:
        if board.n == 9:
            raise RuntimeError("too many resources requested for launch")
        return measure_rate(bench, board, seconds)

    monkeypatch.setattr(gpu_sweep, "measure_rate", fail_on_nine)
    result, results = run("--sweep")
    assert result.exit_code == 0, result.output
    errors = {run["shape"]: run.get("failed") for run in results["sweep"]}
    assert errors == {"9x9": "too many resources requested for launch", "4x4": None}


def test_a_wrong_count_ends_a_sweep(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: Any) -> int:
        raise MismatchError("1a: counted 2 solutions, expected 1")

    monkeypatch.setattr(gpu_sweep, "count_known", wrong)
    result, results = run("--sweep")
    assert result.exit_code == 1
    assert "sweep of @1a: 1a: counted 2 solutions" in line_of(result)
    assert results["sweep"] == []


def test_a_wrong_count_ends_the_run_and_keeps_earlier_results(
    run: Run, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = DeviceSearch.launch

    def miscount(self: DeviceSearch) -> bool:
        has_boards = launch(self)
        if has_boards and self.shape.n == 9:  # only 9x9 boards
            self.results.counts[0] += 1
        return has_boards

    monkeypatch.setattr(DeviceSearch, "launch", miscount)
    first_checks = ("search of @box2x2-empty", "search of @1a")
    sizes = replace(TINY, first=first_checks, searched=("box2x2-empty", "1a"))
    monkeypatch.setattr(gpu, "SIZES", sizes)
    result, results = run()
    assert result.exit_code == 1
    assert "search of @1a: 1a: counted 2 solutions, expected 1" in line_of(result)
    assert [run["check"] for run in results["correctness"]] == ["search of @box2x2-empty"]
    assert (len(results["failed"]), results["kernel"]) == (1, [])
    assert "start-up" in results["left out"]
    assert "search of @1a" not in results["left out"]
    shown = CliRunner().invoke(gpu.main, ["--show", "--output", str(path)])
    assert "WRONG after 1 checks: search of @1a" in shown.stdout


def test_every_check_detects_a_gpu_that_finds_no_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    def end_search(search: DeviceSearch) -> bool:
        search._taken = search._given
        search._busy = 0
        return False

    monkeypatch.setattr(DeviceSearch, "launch", end_search)
    bench = Bench(TINY)
    bench.deadline = float("inf")
    for step in gpu_steps.checks(bench):
        if not step.name.startswith(("contraction", "search of @no-place")):
            with pytest.raises(MismatchError):
                list(step.runs())


def test_no_time(run: Run) -> None:
    result, results = run("--minutes", "1e-9")
    assert (result.exit_code, results["correctness"]) == (0, [])
    assert {"search of @box2x2-empty", "start-up", "prices"} <= set(results["left out"])
    assert "No count was checked." in result.stdout
    assert f"{len(results['left out'])} steps not done" in result.stdout


def test_figures_come_before_the_other_checks() -> None:
    bench = Bench(Sizes())
    steps = gpu.all_steps(bench, {})
    assert len({step.name for step in steps}) == len(steps), "left out steps are recorded by name"
    parts = [part for part, _ in groupby(steps, key=attrgetter("part"))]
    figures = ["kernel", "search", "puzzles", "contraction", "start-up", "prices"]
    assert parts == ["correctness", *figures, "correctness"]
    assert {step.name for step in steps[:3]} == set(bench.sizes.first)


def test_a_step_that_takes_too_long(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def exceed_deadline(bench: Bench) -> Any:
        bench.deadline = 0.0
        bench.check_deadline()

    replace_steps(monkeypatch, exceed_deadline, step_of(1))
    result, results = run()
    assert result.exit_code == 0
    assert results["left out"] == ["step 0"]
    assert "step 0: left out for lack of time" in result.stderr
    assert "1 step not done" in result.stdout
    assert [run["case"] for run in results["start-up"]] == ["1"]


def test_ctrl_c_keeps_the_results(run: Run, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(bench: Bench) -> Iterator[dict[str, Any]]:
        yield from step_of(1)(bench)
        raise KeyboardInterrupt

    replace_steps(monkeypatch, interrupted, step_of(2))
    result, results = run()
    assert result.exit_code == 1
    assert f"interrupted; the results so far are in {path}" in line_of(result)
    assert results["left out"] == ["step 0", "step 1"]
    assert [run["case"] for run in results["start-up"]] == ["1"]


def test_a_step_that_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other steps are still done, and the script ends with an error."""

    def fails(_: Bench) -> Any:
        raise RuntimeError("cudaErrorMemoryAllocation:\n out of memory")

    replace_steps(monkeypatch, fails, step_of(1))
    result, results = run()
    assert result.exit_code == 1
    assert "1 of 2 steps failed, the first is step 0: cudaErr" in line_of(result)
    assert results["failed"] == ["step 0: cudaErrorMemoryAllocation: out of memory"]
    assert [run["case"] for run in results["start-up"]] == ["1"]


def test_without_a_gpu_recorded_results_are_kept(path: Path) -> None:
    path.write_text("{}")
    result = CliRunner().invoke(gpu.main, ["--output", str(path)])
    assert (result.exit_code, path.read_text(), result.stderr.count("\n")) == (1, "{}", 1)
    assert "there is only the simulator" in line_of(result)


def test_prices_are_computed_and_saved(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices are those of the slowest kernel and of the largest contraction."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(path.parent))
    nodes = {box: 100 / node_seconds(shape_of(box, box)) for box in (3, 4)}
    kernel = [{"box": "3x3", "nodes": factor * nodes[3]} for factor in (1.5, 2.0)]
    contraction = [
        {"device": device, "estimate": estimate, "seconds": SUM_SECONDS + seconds}
        for device, estimate, seconds in [("cuda", 1.0, 1.0), ("cuda", 4.0, 0.5), ("cpu", 9.0, 1.0)]
    ]
    results = {"kernel": kernel, "contraction": contraction}
    with pytest.raises(gpu_steps.OutOfTime):
        gpu_figures.prices_of_figures(results)
    kernel.append({"box": "4x4", "nodes": nodes[4]})
    [run] = gpu_figures.price(Bench(TINY), results)
    assert run == pytest.approx({"gpu": "simulator", "nine": 150.0, "larger": 100.0, "sums": 8.0})
    assert prices_of(SIMULATED) == Prices(run["nine"], run["larger"], run["sums"])
    contraction[1]["seconds"] = 100.0
    assert gpu_figures.prices_of_figures(results).sums == 1.0


def test_usual_prices_are_of_the_recorded_run() -> None:
    """Except the price of sums, which the run left out."""
    results = read_results(RESULTS / "gpu.json")
    sums = [{"device": "cuda", "estimate": 1.0, "seconds": 1.0}]
    prices = gpu_figures.prices_of_figures({"kernel": results["kernel"], "contraction": sums})
    usual = Prices()
    assert (prices.nine, prices.larger) == pytest.approx((usual.nine, usual.larger), rel=0.01)
    assert results["machine"]["gpus"] == [MEASURED.name]


def test_a_batch_is_of_proper_puzzles_and_a_wrong_count_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    puzzles = gpu_figures.own_puzzles()
    cells = gpu_figures.relabelled(puzzles, 2 * len(puzzles))
    assert len(np.unique(cells, axis=0)) == len(cells)
    assert set(gpusudoku.count_many(cells, device="cpu", limit=2).numbers().tolist()) == {1}
    bench = Bench(replace(TINY, batch=4))
    monkeypatch.setattr(gpu_figures, "own_puzzles", lambda: np.zeros((1, 81), np.uint8))
    with pytest.raises(MismatchError, match="on cuda: counted 2 solutions, expected 1"):
        list(gpu_figures.time_batch(bench))
