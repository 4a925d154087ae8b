"""Frontiers: their boards partition the solutions, and limits are respected."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.formats import parse
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.shape import FEWEST_CANDIDATES, FIRST_CELL, SearchSettings
from gpusudoku.search import frontier as frontier_module
from gpusudoku.search.frontier import Cutoff, Frontier
from tests import naive
from tests.boards import CLUES, full_grid, puzzle, run_uncompiled, with_wrong_clue
from tests.techniques import Candidates, digits_of, reference

DEFAULT = SearchSettings()
SIX = Geometry(2, 3)


def space(size: float) -> Cutoff:
    return Cutoff(size, by_empty=False)


def candidates_of(frontier: Frontier) -> list[Candidates]:
    """Return the candidates of every board."""
    n = frontier.shape.n
    return [[digits_of(mask, n) for mask in board] for board in frontier.candidates.tolist()]


def solutions_of(
    frontier: Frontier, settings: SearchSettings = DEFAULT
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Search every board of a frontier separately; return the counts and all solutions."""
    solutions: list[tuple[int, ...]] = []
    hand_over = lambda block, _: solutions.extend(map(tuple, block.tolist()))  # noqa: E731
    job = Job(len(frontier), on_solutions=hand_over, dtype=np.uint64)
    separate_roots = Frontier(frontier.shape, frontier.boards, np.arange(len(frontier)))
    CpuEngine(jobs=1).explore(separate_roots, settings, job)
    return job.counts, sorted(solutions)


def test_roots_are_packed_in_order() -> None:
    """They have all candidates that clues leave; a board with conflicts has none."""
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([0, 9, 36])]
    roots = Frontier.of([*boards, with_wrong_clue(boards[2], 0)])
    assert roots.roots.tolist() == [0, 1, 2, 3]
    candidates_of_boards = candidates_of(roots)
    for board, cells in zip(boards, candidates_of_boards[:3], strict=True):
        for clue, mask, digits in zip(board.cells, board.candidates.tolist(), cells, strict=True):
            assert digits == ({int(clue)} if clue else digits_of(mask, 6))
    assert not any(candidates_of_boards[3])


@pytest.mark.parametrize(
    ("shape", "techniques", "strategy", "width"),
    [
        ("2x3", 3, FEWEST_CANDIDATES, 1),
        ("2x3", 3, FEWEST_CANDIDATES, 100),
        ("2x2", 0, FIRST_CELL, 2),
        ("2x2", 0, FEWEST_CANDIDATES, 10),
    ],
)
def test_the_boards_partition_the_solutions(
    shape: str, techniques: int, strategy: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shape == "2x2":
        run_uncompiled(monkeypatch)
    settings = SearchSettings(techniques, strategy)
    for seed in range(3):
        board = puzzle(shape, CLUES[shape], seed)
        expected = list(naive.solutions(board))
        frontier = Frontier.of([board]).expanded(settings, width)
        counts, found_solutions = solutions_of(frontier, settings)
        assert (sum(counts), found_solutions) == (len(expected), expected)


@pytest.mark.parametrize(
    ("shape", "cutoff"),
    [("2x2", space(50)), ("2x3", space(1)), ("2x3", Cutoff(8, by_empty=True)), ("3x3", space(1e9))],
)
def test_the_cutoff_is_kept_to(shape: str, cutoff: Cutoff, monkeypatch: pytest.MonkeyPatch) -> None:
    """It limits the search space or the empty cells, except for boards with two solutions."""
    settings = SearchSettings(0, FIRST_CELL) if shape == "2x2" else DEFAULT
    if shape == "2x2":
        run_uncompiled(monkeypatch)
    board = puzzle(shape, CLUES[shape] - 1, 3)
    frontier = Frontier.of([board]).expanded(settings, width=1, cutoff=cutoff)
    assert not frontier.capped
    empty = [sum(len(cell) > 1 for cell in cells) for cells in candidates_of(frontier)]
    spaces = [prod(map(len, cells)) for cells in candidates_of(frontier)]
    sizes = empty if cutoff.by_empty else spaces
    for row, size in enumerate(sizes):
        counts, _ = solutions_of(frontier.part(row, row + 1), settings)
        assert size <= cutoff.size or counts == [2]
    assert max(sizes) > 0
    assert min(spaces) > 0
    assert sum(solutions_of(frontier, settings)[0]) == naive.count(board)


def test_the_techniques_have_nothing_left_to_find() -> None:
    """They find all consequences of each guess."""
    board = puzzle("3x3", 29, 4)
    frontier = Frontier.of([board]).expanded(DEFAULT, 1, space(10**4))
    assert len(frontier) > 10
    for cells in candidates_of(frontier.part(0, 100)):
        assert reference(cells, board.geometry, "naked-single,hidden-single") == cells


def test_the_width_is_reached() -> None:
    root = Frontier.of([Board.empty(SIX)])
    for width in 1, 5, 1000:
        frontier = root.expanded(DEFAULT, width)
        assert width <= len(frontier) < 2 * width
        assert not frontier.capped
        assert frontier.nodes == frontier.guesses == len(frontier) - 1  # none is dead
    # A board whose space is a little too large is split, a little smaller it is not.
    assert len(root.expanded(DEFAULT, 1, space(6.0**36 * 1.001))) == 1
    assert len(root.expanded(DEFAULT, 1, space(6.0**36 * 0.999))) > 1


def test_owners_are_right_and_dead_roots_vanish() -> None:
    """A small tree has fewer boards than the width, with one or two solutions each."""
    full = Board(full_grid(SIX, 7), SIX)
    boards = [puzzle("2x3", 9, 0), with_wrong_clue(full, 1), full, puzzle("2x3", 8, 2)]
    # Without conflicts, but r1c5 and r1c6 can both be only 5.
    boards.append(parse("1234.. ...... ....6. ...... .....6 ......".replace(" ", "")))
    expected = [naive.count(board) for board in boards]
    assert expected[1] == expected[4] == 0 < min(expected[0], expected[2], expected[3])
    for width, cutoff in (1, None), (40, space(10)), (10**6, None):
        frontier = Frontier.of(boards).expanded(DEFAULT, width, cutoff)
        solution_counts = np.zeros(len(boards), int)
        np.add.at(solution_counts, frontier.roots, solutions_of(frontier)[0])
        assert solution_counts.tolist() == expected
    assert set(frontier.roots.tolist()) == {0, 2, 3}
    with_two = np.count_nonzero(frontier.candidates_left > SIX.cells)
    assert len(frontier) + with_two == sum(expected)


def as_set(frontier: Frontier) -> set[tuple[int, ...]]:
    columns = np.column_stack([frontier.roots.astype(np.uint64), frontier.boards])
    return set(map(tuple, columns.tolist()))


def test_boards_are_split_slice_by_slice_and_by_plain_code_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    roots = Frontier.of([puzzle("2x3", 9, seed) for seed in range(4)])
    whole = roots.expanded(DEFAULT, 60, space(20))
    monkeypatch.setattr(frontier_module, "CALL_BYTES", 3 * whole.shape.row_bytes)
    for _ in "compiled", "plain":
        parts = roots.expanded(DEFAULT, 60, space(20))
        assert (parts.nodes, as_set(parts)) == (whole.nodes, as_set(whole))
        run_uncompiled(monkeypatch)


@pytest.mark.parametrize(("boards", "cutoff"), [(20, None), (20, 1), (0, 1)])
def test_memory_is_capped(
    boards: int, cutoff: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = puzzle("2x3", 8, 6)
    root = Frontier.of([board])
    monkeypatch.setattr(frontier_module, "MAX_FRONTIER_BYTES", root.boards.nbytes * boards)
    frontier = root.expanded(DEFAULT, 10**6, cutoff and space(cutoff))
    assert (boards > 0) < len(frontier) <= max(1, boards)
    assert frontier.capped is (cutoff is not None)
    result = count(board, device="cpu", method="search", jobs=2, cutoff=cutoff)
    assert result.count == sum(solutions_of(frontier)[0]) == naive.count(board)
    assert result.stats.cutoff_reached is (cutoff is None)
    assert result.stats.frontier_boards <= max(1, boards)
