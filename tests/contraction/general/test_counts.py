"""Counts of the general contraction: against the reference implementation and the search.

The kernels are compiled once for all shapes.
"""

from __future__ import annotations

import tracemalloc
from math import factorial
from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import join as module
from gpusudoku.contraction.general.join import Join
from gpusudoku.errors import TooExpensive
from gpusudoku.kernels.contraction.general.join import join as join_kernel
from gpusudoku.kernels.contraction.general.join import probe
from tests import naive
from tests.boards import puzzle, with_wrong_clue
from tests.contraction.general.boards import RUNNING, clues_only, count, empty, join_of, summed

CLUES = {
    "1x1": (0, 1), "1x2": (0, 3), "1x3": (0, 6), "1x4": (0, 9), "1x5": (6, 20), "1x6": (15, 30),
    "1x7": (25, 40), "1x8": (38, 55), "1x9": (52, 70), "2x2": (0, 12), "2x3": (9, 28),
    "2x4": (30, 50), "3x3": (36, 60),
}  # fmt: skip
"""The fewest and the most clues of boards that the reference implementation counts, by shape."""

TOTALS = {"1x1": 1, "1x2": 2, "1x3": 12, "1x4": 576, "1x5": 161280, "2x2": 288, "2x3": 28200960,
          "2x4": 29136487207403520}  # fmt: skip
"""The published numbers of solutions of empty boards."""


@pytest.mark.parametrize("shape", CLUES)
def test_counts_equal_the_reference_implementation(shape: str) -> None:
    """Also of the transposed board; some boards have no solution."""
    low, high = CLUES[shape]
    for seed in range(6):
        board = puzzle(shape, low + (high - low) * seed // 6, seed)
        if seed % 3 == 2 and board.clues:
            board = with_wrong_clue(board, seed)
        expected = naive.count(board)
        for orientation in board, board.transposed():
            assert count(orientation) == expected
            assert count(orientation, wide=True) == expected
            assert count(orientation, symmetric=False) == expected


@pytest.mark.parametrize("shape", TOTALS)
def test_empty_boards(shape: str) -> None:
    board = empty(shape)
    assert count(board) == count(board.transposed()) == TOTALS[shape]
    assert count(board, wide=True) == TOTALS[shape]
    if shape != "2x4":
        assert count(board, symmetric=False) == TOTALS[shape]


@pytest.mark.parametrize("shape", ["1x6", "3x3", "4x3", "4x4", "5x5", "8x8"])
def test_full_boards(shape: str) -> None:
    board = puzzle(shape, Geometry.parse(shape).cells, 1)
    assert count(board) == 1
    assert count(with_wrong_clue(board, 2)) == 0


@pytest.mark.parametrize(
    ("shape", "clues", "expected"),
    [
        ("2x5", 36, None),
        ("4x4", 115, None),
        ("3x4", 52, 59265),
        ("2x6", 56, 3131),
        ("5x5", 330, 180),
    ],
)
def test_larger_boards_equal_the_search(shape: str, clues: int, expected: int | None) -> None:
    """Where the search takes long to compile, its count is given."""
    board = puzzle(shape, clues, 7)
    if expected is None:
        expected = gpusudoku.count(board, device="cpu", method="search", jobs=1).count
    assert 1 < expected < 2_000_000
    for wide in False, True:
        assert summed(join_of(board, wide=wide)) == expected
    assert summed(join_of(board.transposed())) == expected


@pytest.mark.parametrize("name", ["1d", "1f", "2c", "2f", "decomposition-16x16"])
def test_boards_of_the_collection(name: str) -> None:
    """Removing candidates by techniques does not change the count."""
    board = collection.load(name)
    total = collection.entry(name).count
    assert summed(join_of(board)) == total
    if name == "1d":
        for techniques in "none", "all":
            candidates = gpusudoku.simplify(board, techniques).candidates
            assert summed(Join(candidates, board.geometry)) == total


@pytest.mark.parametrize(("shape", "clues"), [("3x3", 23), ("2x4", 12), ("4x3", 50)])
def test_equivalent_boards(shape: str, clues: int) -> None:
    """The board transposed, relabelled, and with rows, bands and stacks exchanged."""
    board = puzzle(shape, clues, 3)
    geometry = board.geometry
    expected = summed(join_of(board))
    rng = np.random.default_rng(4)
    height = geometry.box_rows
    width = geometry.box_columns
    n = geometry.n
    bands = board.grid.reshape(width, height, n)
    stacks = board.grid.reshape(n, height, width)
    for equivalent in (
        board.transposed(),
        board.relabelled(1 + rng.permutation(n)),
        Board(bands[rng.permutation(width)], geometry),
        Board(stacks[:, rng.permutation(height)], geometry),
        Board(bands[:, rng.permutation(height)], geometry),
    ):
        assert summed(join_of(equivalent)) == expected


@pytest.mark.parametrize("shape", ["1x5", "2x3", "3x2", "2x4"])
def test_boards_with_a_full_first_row(shape: str) -> None:
    """A swap of digits exchanges columns, too: the total is divided by the number of orders."""
    board = empty(shape)
    cells = board.cells.copy()
    cells[: board.n] = np.arange(1, board.n + 1)
    assert count(Board(cells, board.geometry)) * factorial(board.n) == count(board)


def test_candidates_may_be_redundant_or_contradictory() -> None:
    board = puzzle("2x3", 12, 5)
    geometry = Geometry(2, 3)
    redundant = np.where(board.cells > 0, clues_only(board), np.uint64(63))
    assert summed(Join(redundant, geometry)) == naive.count(board)
    for peers in (0, 1), (0, 5), (0, 30), (0, 8):
        contradictory = np.full(36, 63, np.uint64)
        contradictory[[*peers]] = 8
        assert summed(Join(contradictory, geometry)) == 0
    for shape in "1x1", "2x2", "3x3":
        candidates = clues_only(empty(shape)).copy()
        candidates[-1] = 0
        join = Join(candidates, Geometry.parse(shape))
        assert (join.steps, join.seconds, join.tasks, summed(join)) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("shape", "clues", "symmetric"), [("2x4", 0, True), ("3x3", 18, False), ("2x4", 9, True)]
)
def test_tasks_add_up(
    monkeypatch: pytest.MonkeyPatch, shape: str, clues: int, symmetric: bool
) -> None:
    """The size of tasks, the tasks of a call and the number of threads do not matter."""
    board = puzzle(shape, clues, 3)
    expected = summed(join_of(board))
    for min_steps in (1 << 12, 1 << 14) if clues else (1 << 14,):
        monkeypatch.setattr(module, "MIN_STEPS", min_steps)
        join = join_of(board, symmetric=symmetric)
        same_join = join_of(board, symmetric=symmetric)
        join.prepare(1)
        same_join.prepare(7)
        assert join.tasks == same_join.tasks > 1
        scratch = join.scratch()
        tasks = range(join.tasks)
        sums = [join.sum(range(task, task + 1), scratch, RUNNING)[0] for task in tasks]
        assert sum(sums) * join.factor == expected
        for half in tasks[: join.tasks // 2], tasks[join.tasks // 2 :]:
            half_sum, _ = same_join.sum(half, same_join.scratch(), RUNNING)
            assert half_sum == sum(sums[half.start : half.stop])


def test_steps_are_a_good_estimate_and_a_sum_stops() -> None:
    """Every term takes at least one step."""
    join = join_of(collection.load("1f"))
    tasks = range(join.tasks)
    _, terms = join.sum(tasks, join.scratch(), RUNNING)
    assert terms < join.steps < 1000 * terms
    assert join.steps == join_of(collection.load("1f")).steps
    assert join.sum(tasks, join.scratch(), np.ones(1, np.int64)) == (0, 0)


@pytest.mark.parametrize("wide", [False, True])
def test_kernels_as_plain_python(monkeypatch: pytest.MonkeyPatch, wide: bool) -> None:
    """The sum and its estimate give the same numbers without compiling."""
    board = puzzle("2x2", 3, 1)
    steps = join_of(board, wide=wide).steps
    monkeypatch.setattr(module, "join", join_kernel.python)
    monkeypatch.setattr(module, "probe", probe.python)
    with np.errstate(over="ignore"):  # random numbers and unused products wrap
        join = join_of(board, wide=wide)
        assert join.steps == steps
        assert summed(join) == naive.count(board) > 0


@pytest.mark.parametrize("shape", ["4x4", "8x8", "1x64", "64x1", "3x4", "1x9"])
def test_too_expensive(shape: str) -> None:
    """The error comes quickly and takes little memory."""
    count(empty("1x1"))  # compiles
    tracemalloc.start()
    try:
        with pytest.raises(
            TooExpensive, match=r"^too expensive to contract: (stack|band) 1 has [\d,]+ "
        ):
            count(empty(shape))
        assert tracemalloc.get_traced_memory()[1] < 1 << 29
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("board", "bounds", "message"),
    [
        ("1f", {"max_maps": 1000}, r"(stack|band) \d has [\d,]+ maps, more than 1,000"),
        ("1f", {"memory": 300_000}, r"(stack|band) \d has [\d,]+ maps, and not the memory to list"),
        ("1f", {"memory": 100}, r"(stack|band) \d needs a graph of more than 100 bytes"),
        ("2x4", {"memory": 150_000_000}, r"[\d,]+ bytes of memory, more than"),
    ],
)
def test_bounds(board: str, bounds: dict[str, Any], message: str) -> None:
    with pytest.raises(TooExpensive, match=f"^too expensive to contract: {message}"):
        join_of(empty(board) if "x" in board else collection.load(board), **bounds)
