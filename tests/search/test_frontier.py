"""Widening: the boards of a frontier share no solution and lose none, and caps are kept to."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.formats import parse
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.settings import (
    FIRST,
    HIDDEN_SINGLE,
    MIN,
    NAKED_SINGLE,
    SearchSettings,
)
from gpusudoku.search import frontier as frontier_module
from gpusudoku.search.frontier import Cutoff, Frontier
from tests import naive
from tests.boards import (
    CLUES,
    full_grid,
    layout_of,
    puzzle,
    run_uncompiled,
    search_space,
    spoilt,
    unpacked,
)
from tests.techniques import reference

DEFAULT = SearchSettings()
ALL_SETTINGS = [
    SearchSettings(NAKED_SINGLE | HIDDEN_SINGLE, MIN),
    SearchSettings(0, MIN),
    SearchSettings(0, FIRST),
]


def space(size: float) -> Cutoff:
    return Cutoff(size, by_empty=False)


def counts_of(frontier: Frontier, settings: SearchSettings = DEFAULT) -> list[int]:
    """The count of every frontier board for itself."""
    job = Job(len(frontier))
    apart = Frontier(frontier.layout, frontier.boards, np.arange(len(frontier)))
    CpuEngine(jobs=1).explore(apart, settings, job)
    return job.counts


def solutions_of(frontier: Frontier, settings: SearchSettings = DEFAULT) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []
    job = Job(len(frontier), on_solutions=lambda block, _: found.extend(map(tuple, block.tolist())))
    apart = Frontier(frontier.layout, frontier.boards, np.arange(len(frontier)))
    CpuEngine(jobs=1).explore(apart, settings, job)
    return found


def test_roots_are_packed_in_order() -> None:
    boards = [puzzle("2x3", clues, seed) for seed, clues in enumerate([0, 9, 36])]
    roots = Frontier.of(boards)
    assert roots.roots.tolist() == [0, 1, 2]
    for board, packed in zip(boards, roots.boards, strict=True):
        cells = unpacked(roots.layout, packed)
        for cell, candidates in enumerate(cells):
            mask, clue = int(board.candidates[cell]), int(board.cells[cell])
            left = {d for d in range(1, 7) if mask >> d - 1 & 1}
            assert candidates == ({clue} if clue else left)


def test_a_root_with_conflicts_has_no_candidates() -> None:
    board = spoilt(Board(full_grid(Geometry(2, 3), 0), Geometry(2, 3)), 0)
    roots = Frontier.of([board])
    assert not any(unpacked(roots.layout, roots.boards[0]))


@pytest.mark.parametrize("settings", ALL_SETTINGS)
@pytest.mark.parametrize("width", [1, 2, 10, 100])
def test_the_boards_partition_the_solutions(settings: SearchSettings, width: int) -> None:
    for seed in range(4):
        board = puzzle("2x3", CLUES["2x3"], seed)
        expected = list(naive.solutions(board))
        frontier = Frontier.of([board]).expanded(settings, width)
        found = solutions_of(frontier, settings)
        assert sorted(found) == expected
        assert sum(counts_of(frontier, settings)) == len(expected)


@pytest.mark.parametrize("cutoff", [1, 2, 50, 10**9])
@pytest.mark.parametrize("shape", ["2x2", "2x3", "3x3"])
def test_the_cutoff_is_kept_to(shape: str, cutoff: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if shape == "2x2":  # compiled for one shape only
        run_uncompiled(monkeypatch)
    board = puzzle(shape, CLUES[shape], 3)
    for settings in ALL_SETTINGS[: 1 if shape == "3x3" else 3]:
        root = Frontier.of([board])
        frontier = root.expanded(settings, width=1, cutoff=space(cutoff))
        assert not frontier.capped
        assert len(frontier)
        for packed in frontier.boards:
            assert 1 <= search_space(frontier.layout, packed) <= cutoff
        assert sum(counts_of(frontier, settings)) == naive.count(board)


@pytest.mark.parametrize("shape", ["2x3", "3x3"])
def test_the_techniques_have_nothing_left_to_find(shape: str) -> None:
    """After a guess they find all that follows from it."""
    board = puzzle(shape, CLUES[shape] - 8, 4)
    frontier = Frontier.of([board]).expanded(DEFAULT, 1, space(10**6))
    assert len(frontier) > 10
    for packed in frontier.boards[:200]:
        cells = unpacked(frontier.layout, packed)
        assert reference(cells, board.geometry, "naked-single,hidden-single") == cells


def test_a_higher_cutoff_leaves_fewer_boards() -> None:
    root = Frontier.of([puzzle("2x3", 6, 1)])
    sizes = [len(root.expanded(DEFAULT, 1, space(size))) for size in [1, 10, 100, 10**4, 1e300]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[2] > sizes[-1] == 1


@pytest.mark.usefixtures("uncompiled")
def test_a_cutoff_just_met_splits_nothing() -> None:
    """A board of one cell too many candidates is split, one of exactly as many is not."""
    board = Board.empty(Geometry(2, 2))
    settings = SearchSettings(0, MIN)
    root = Frontier.of([board])
    assert len(root.expanded(settings, 1, space(4.0**16))) == 1
    assert len(root.expanded(settings, 1, space(4.0**16 - 1000))) > 1


@pytest.mark.parametrize("width", [1, 5, 64, 1000])
def test_the_width_is_reached(width: int) -> None:
    board = Board.empty(Geometry(2, 3))
    frontier = Frontier.of([board]).expanded(DEFAULT, width)
    assert width <= len(frontier) < 2 * width
    assert not frontier.capped
    assert frontier.nodes >= width - 1


def test_the_width_cannot_be_reached_by_a_small_tree() -> None:
    board = puzzle("2x2", CLUES["2x2"], 0)
    frontier = Frontier.of([board]).expanded(DEFAULT, 10**6)
    assert len(frontier) == naive.count(board)
    assert counts_of(frontier) == [1] * len(frontier)
    assert not frontier.capped


def test_owners_are_right_and_dead_roots_vanish() -> None:
    full = Board(full_grid(Geometry(2, 3), 7), Geometry(2, 3))
    boards = [puzzle("2x3", 9, 0), spoilt(full, 1), full, puzzle("2x3", 8, 2)]
    # Without conflicts, but r1c5 and r1c6 can both be only 5.
    boards.append(parse("1234.. ...... ....6. ...... .....6 ......".replace(" ", "")))
    assert not boards[4].conflicts
    expected = [naive.count(board) for board in boards]
    assert expected[1] == expected[4] == 0 < min(expected[0], expected[2], expected[3])
    for width in [1, 40, 1000]:
        roots = Frontier.of(boards)
        frontier = roots.expanded(DEFAULT, width, space(10) if width == 40 else None)
        found = [0] * len(boards)
        for root, number in zip(frontier.roots.tolist(), counts_of(frontier), strict=True):
            found[root] += number
        assert found == expected
    assert set(roots.expanded(DEFAULT, 10**6).roots.tolist()) == {0, 2, 3}


def test_boards_are_split_slice_by_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    boards = [puzzle("2x3", 9, seed) for seed in range(7)]
    whole = Frontier.of(boards).expanded(DEFAULT, 200)
    monkeypatch.setattr(frontier_module, "CALL_BYTES", 3 * 8 * whole.layout.words)
    parts = Frontier.of(boards).expanded(DEFAULT, 200)
    assert parts.nodes == whole.nodes

    def as_set(frontier: Frontier) -> set[tuple[int, ...]]:
        columns = np.column_stack([frontier.roots.astype(np.uint64), frontier.boards])
        return set(map(tuple, columns.tolist()))

    assert as_set(parts) == as_set(whole)


@pytest.mark.parametrize("cutoff", [None, 1])
def test_memory_is_capped(cutoff: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    board = puzzle("2x3", 8, 6)
    layout = layout_of(board.geometry)
    monkeypatch.setattr(frontier_module, "FRONTIER_BYTES", 8 * layout.words * 20)
    frontier = Frontier.of([board]).expanded(DEFAULT, 10**6, cutoff and space(cutoff))
    assert 1 < len(frontier) <= 20
    assert frontier.capped is (cutoff is not None)
    assert sum(counts_of(frontier)) == naive.count(board)
    result = count(board, device="cpu", method="search", jobs=2, cutoff=cutoff)
    assert result.count == naive.count(board)
    assert result.stats.cutoff_reached is (cutoff is None)
    assert result.stats.frontier_boards <= 20


def test_nothing_is_widened_where_no_memory_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier_module, "FRONTIER_BYTES", 0)
    board = puzzle("2x3", 8, 6)
    result = count(board, device="cpu", method="search", jobs=2, cutoff=1)
    assert (result.count, result.stats.frontier_boards) == (naive.count(board), 1)


def test_compiled_and_plain_code_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    boards = [puzzle("2x3", 9, seed) for seed in range(3)]
    compiled = Frontier.of(boards).expanded(DEFAULT, 30, space(20))
    run_uncompiled(monkeypatch)
    plain = Frontier.of(boards).expanded(DEFAULT, 30, space(20))
    assert (plain.boards == compiled.boards).all()
    assert (plain.roots == compiled.roots).all()
    assert plain.nodes == compiled.nodes
