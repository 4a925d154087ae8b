"""Counts and lists on a real GPU, against the CPU and known counts."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.checking import cross_check
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cuda import availability
from gpusudoku.errors import Interrupted
from gpusudoku.formats import parse
from gpusudoku.jobs.job import Progress
from gpusudoku.options import Options
from gpusudoku.results import Count
from gpusudoku.solving import solve
from tests import naive
from tests.boards import CLUES, full_grid, puzzle, searched, spoilt, streamed

pytestmark = pytest.mark.gpu

LINE_2C = "..9.....1.6...8...4.....2.....4....9..3.5.7..1....6.....6.....8....1..3.2.....4.."
LINE_2D = "..9.....1.6...8...4.....2..........9..3...7..1....6.....6.....8....1..3.2.....4.."


def search(board: Board, **options: Any) -> Count:
    """A search on the GPU; the method auto would contract many of these boards."""
    options = {"device": "cuda"} | options
    result = count(board, method="search", **options)
    assert (result.device, result.method) == ("cuda", "search")
    return result


@pytest.fixture(scope="module")
def engine() -> Any:
    from gpusudoku.engines.cuda.engine import CudaEngine

    return CudaEngine()


@pytest.mark.parametrize(("line", "total"), [(LINE_2C, 32128), (LINE_2D, 1014785)])
def test_known_counts(line: str, total: int, engine: Any) -> None:
    board = parse(line)
    result = search(board, engine=engine)
    assert (result.count, result.exact) == (total, True)
    assert count(board, device="cpu").count == total
    assert all(0 <= share <= 1.05 for share in result.stats.utilisation)


@pytest.mark.parametrize("shape", list(CLUES))
def test_counts_equal_the_oracle(shape: str, engine: Any) -> None:
    for seed in range(3):
        board = puzzle(shape, CLUES[shape], seed)
        assert search(board, engine=engine).count == naive.count(board)


@pytest.mark.parametrize("strategy", ["first", "min"])
@pytest.mark.parametrize("propagate", ["none", "singles", "locked", "all"])
def test_strategies_and_techniques(propagate: str, strategy: str, engine: Any) -> None:
    board = puzzle("2x3", 8, 1)
    result = search(board, engine=engine, propagate=propagate, strategy=strategy)
    assert result.count == naive.count(board)


@pytest.mark.parametrize(("box", "total"), [("2x2", 288), ("2x3", 28200960), ("1x5", 161280)])
def test_published_totals(box: str, total: int, engine: Any) -> None:
    rows, columns = map(int, box.split("x"))
    assert search(Board.empty(Geometry(rows, columns)), engine=engine).count == total


@pytest.mark.parametrize("cutoff", [1, 1000, 1e30, 1e300])
def test_cutoffs(cutoff: float, engine: Any) -> None:
    assert search(parse(LINE_2C), engine=engine, cutoff=cutoff).count == 32128


def test_sixty_four_digits(engine: Any) -> None:
    grid = full_grid(Geometry(8, 8), 3)
    grid[grid == 64] = 0
    assert search(Board(grid, Geometry(8, 8)), engine=engine).count == 1


def test_no_solution(engine: Any) -> None:
    board = spoilt(Board(full_grid(Geometry(3, 3), 0), Geometry(3, 3)), 0)
    assert search(board, engine=engine).count == 0


@pytest.mark.parametrize("limit", [1, 1000, 32127, 32128, 32129])
def test_limits(limit: int, engine: Any) -> None:
    result = search(parse(LINE_2C), engine=engine, limit=limit)
    assert result.count == min(limit, 32128)
    assert result.exact == (limit > 32128)


def test_many_boards(engine: Any) -> None:
    boards = [puzzle("3x3", 32, seed) for seed in range(200)]
    boards.append(spoilt(boards[0], 0))
    found = [result.count for result in count_many(boards, engine=engine)]
    assert found == [result.count for result in count_many(boards, device="cpu")]


def test_listing() -> None:
    found = set(streamed(parse(LINE_2C), device="cuda"))
    on_cpu = streamed(parse(LINE_2C), device="cpu")
    assert found == set(on_cpu)
    assert len(on_cpu) == len(found) == 32128


def test_listing_out_of_room(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpusudoku.engines.cuda import launch

    monkeypatch.setattr(launch, "ROOM_BYTES", 81 * 300)  # launches a hundred times
    found = streamed(parse(LINE_2C), device="cuda")
    assert len(found) == len(set(found)) == 32128


def test_hardly_any_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from gpusudoku.engines.cuda.device import Gpu

    monkeypatch.setattr(Gpu, "free_bytes", lambda self: 1 << 20)
    assert search(parse(LINE_2C), cutoff=1e300).count == 32128


def test_solve() -> None:
    solution = solve(parse(LINE_2C), device="cuda")
    assert solution.unique is False
    assert solution.board is not None
    assert not solution.board.conflicts


def test_each_gpu_and_all() -> None:
    board, total = parse(LINE_2D), 1014785
    number = len(availability.gpu_names())
    for gpu in range(number):
        result = search(board, gpus=(gpu,))
        assert (result.count, result.jobs) == (total, 1)
    result = search(board)
    assert (result.count, result.jobs) == (total, number)
    assert len(result.stats.utilisation) == number


def test_cross_check(engine: Any) -> None:
    result = search(parse(LINE_2C), engine=engine)
    assert cross_check(result) == "device cpu, method contraction"
    result = count(parse(LINE_2C), device="cpu", method="contraction")
    assert cross_check(result) == "device cuda, method search"
    result = count(Board.empty(Geometry(3, 3)), engine=engine)
    assert cross_check(result) == "device cpu"


def test_several_boards_in_one_frontier(engine: Any) -> None:
    boards = [parse(LINE_2C), parse(LINE_2D)]
    for cutoff in [None, 1e300]:
        assert searched(boards, engine, Options(cutoff=cutoff)).counts == [32128, 1014785]


def test_an_interrupt(engine: Any) -> None:
    def progress(state: Progress) -> None:
        if state.count:
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(Interrupted) as caught:
        search(Board.empty(Geometry(3, 3)), engine=engine, progress=progress)
    assert caught.value.count > 0
    assert threading.active_count() <= before


def test_the_script_that_checks_and_measures(tmp_path: Path) -> None:
    """All of it, with tiny boards; it does more without ``--rehearse``."""
    folder, output = Path(__file__).resolve().parents[3], str(tmp_path / "gpu.json")
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        [sys.executable, str(folder / "benchmarks/gpu.py"), "--rehearse", "--output", output],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "and all counts right" in done.stdout


class TestContraction:
    """The sum of 9x9 boards by the CUDA kernel; the CPU makes the tensors."""

    def test_totals(self, engine: Any) -> None:
        for board, total in (
            (Board.empty(Geometry(3, 3)), 6670903752021072936960),
            (collection.load("top-band-cyclic"), 7802998272),
            (collection.load("2f"), 48794239),
        ):
            result = count(board, engine=engine, method="contraction")
            assert (result.count, result.device, result.method) == (total, "cuda", "contraction")

    @pytest.mark.parametrize("clues", [3, 6, 8, 10, 14, 20, 30])
    def test_random_boards(self, clues: int, engine: Any) -> None:
        board = puzzle("3x3", clues, clues)
        found = count(board, engine=engine, method="contraction").count
        assert found == count(board, device="cpu", method="contraction").count

    def test_dear_boards_of_a_batch(self, engine: Any) -> None:
        boards = [puzzle("3x3", clues, clues) for clues in (24, 7, 30)]
        found = [x.count for x in count_many(boards, engine=engine, method="contraction")]
        assert found == [count(x, device="cpu", method="contraction").count for x in boards]
