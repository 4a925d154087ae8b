"""How boards are packed: every cell has a bit of its own, and lanes fit the processor."""

from __future__ import annotations

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.kernels.kernel import MAX_PYTHON_BOARDS
from gpusudoku.kernels.search import cpu
from gpusudoku.kernels.search import shape as shape_module
from gpusudoku.kernels.search.shape import SearchSettings, Shape, has_avx512
from gpusudoku.search.frontier import Frontier
from tests.boards import puzzle, unpack_candidates, with_wrong_clue
from tests.techniques import given_clues


@pytest.mark.parametrize(
    "shape",
    [
        (1, 1),
        (2, 1),
        (1, 5),
        (2, 3),
        (3, 3),
        (6, 2),
        (4, 4),
        (2, 7),
        (5, 5),
        (6, 6),
        (9, 7),
        (8, 8),
    ],
    ids=str,
)
def test_every_cell_has_a_bit_of_its_own(shape: tuple[int, int]) -> None:
    geometry = Geometry(*shape)
    rng = np.random.default_rng(0)
    packing = Shape(*shape)
    all_digits = (1 << geometry.n) - 1
    masks = rng.integers(0, all_digits, (3, geometry.cells), np.uint64, endpoint=True)
    rows = packing.rows_of(masks)
    assert rows.shape == (3, packing.words)
    assert (packing.candidates_of(rows) == masks).all()
    assert np.bitwise_count(rows).sum() == np.bitwise_count(masks).sum()
    for row, mask in zip(rows, masks.tolist(), strict=True):
        expected = [{d + 1 for d in range(geometry.n) if bits >> d & 1} for bits in mask]
        assert unpack_candidates(packing, row) == expected


@pytest.mark.parametrize(
    ("features", "lanes"),
    [
        ("+avx,+avx2,+avx512f", [32, 32, 16, 8, 8, 4]),
        ("+avx,+avx2,-avx512f", [8, 8, 4, 4, 8, 4]),
        ("+neon", [8, 8, 4, 4, 8, 4]),
    ],
)
def test_lanes_follow_the_registers_of_the_processor(
    features: str, lanes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CPU_FEATURES", features)
    monkeypatch.setattr(shape_module, "has_avx512", has_avx512.__wrapped__)
    boxes = [(2, 3), (3, 3), (3, 4), (4, 4), (5, 5), (6, 6)]
    assert [Shape(*box).lanes for box in boxes] == lanes
    for box_rows, box_columns in np.ndindex(64, 64):
        shape = Shape(box_rows + 1, box_columns + 1)
        if shape.n <= 64:
            assert 2 <= shape.lanes <= 64  # a set of lanes is a word of 64 bits


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [("NUMBA_ENABLE_AVX", "0", 8), ("NUMBA_CPU_NAME", "generic", 8)],
)
def test_numba_settings_disable_wide_vectors(
    variable: str, value: str, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NUMBA_CPU_FEATURES", raising=False)
    monkeypatch.setenv(variable, value)
    monkeypatch.setattr(shape_module, "has_avx512", has_avx512.__wrapped__)
    assert Shape(3, 3).lanes == expected


@pytest.mark.parametrize("shape", ["1x1", "1x5", "2x3", "3x3", "4x4", "2x7", "5x5"])
def test_clues_leave_their_peers(shape: str) -> None:
    for seed in range(3):
        board = puzzle(shape, Geometry.parse(shape).cells // 3, seed)
        frontier = Frontier.of([board])
        assert unpack_candidates(frontier.shape, frontier.boards[0]) == given_clues(board)


@pytest.mark.parametrize("shape", ["1x1", "2x2", "1x5", "3x3", "5x2", "4x4", "1x17"])
def test_boards_are_packed_together_with_contradictory_ones(shape: str) -> None:
    """There are two blocks that fill all lanes, and one with a single board."""
    geometry = Geometry.parse(shape)
    puzzles = [puzzle(shape, geometry.cells // 3, seed) for seed in range(5)]
    if geometry.n > 1:
        clues = np.zeros(geometry.cells, np.int64)
        clues[[0, geometry.cells - geometry.n]] = 1  # in one column
        puzzles.append(Board(clues, geometry))
    lanes = Frontier.of(puzzles).shape.lanes
    boards = [puzzles[number % len(puzzles)] for number in range(2 * lanes + 1)]
    frontier = Frontier.of(boards)
    no_candidates = [set[int]()] * geometry.cells
    for board, packed in zip(boards, frontier.boards, strict=True):
        expected = no_candidates if board.conflicts else given_clues(board)
        assert unpack_candidates(frontier.shape, packed) == expected


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("shape", ["2x3", "3x3"])
def test_python_and_the_kernel_give_the_same_boards(shape: str) -> None:
    """The first boards of a process run in plain Python, more of them in a compiled kernel."""
    settings = SearchSettings()
    boards = [puzzle(shape, clues, clues) for clues in (0, 9, 20, 30)]
    boards.append(with_wrong_clue(boards[-1], 1))
    boards.append(Board([1, 1, *boards[0].cells[2:]], boards[0].geometry))
    for name in "pack", "expand":
        getattr(cpu, name).cache_clear()
    packed = Frontier.of(boards)
    simplified = packed.simplified(settings)
    packed_by_kernel = Frontier.of(boards * MAX_PYTHON_BOARDS)
    assert (packed_by_kernel.boards[: len(boards)] == packed.boards).all()
    simplified_by_kernel = packed_by_kernel.simplified(settings)
    assert 4 <= len(simplified) < len(boards)
    assert (simplified_by_kernel.boards[: len(simplified)] == simplified.boards).all()
