"""Canonical forms: the least equivalent board, the transformation to it, and automorphisms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, cycle, islice, permutations, product

import numpy as np
import pytest

import gpusudoku
from gpusudoku import (
    BadBoard,
    Board,
    Cancelled,
    CancelToken,
    Geometry,
    InputError,
    canonical,
    canonical_many,
    isomorphic,
)
from tests.boards import UNIQUE, full_grid, pattern
from tests.puzzles.symmetries import (
    arranged,
    arrangements,
    count_idle_relabellings,
    every_form,
    group_order,
    least,
    renumber,
    twin,
)

NINE = Geometry(3, 3)
MAX_SYMMETRIC = "123456789456789123789123456231564897564897231897231564312645978645978312978312645"
"""The 9x9 grid with the most symmetries: 648."""
SEVENTEEN = (
    ".................1.....2.3......3.2...1.4......5....6..3......4.7..8...962...7...",
    ".................1.....2.3......425...6.......17....8.....7...64...6....9..8...1.",
    ".................1.....2.3......45.6..3.......17...8.....16......8....4..6.5..2..",
)
"""Canonical puzzles with 17 clues, confirmed by brute force."""
FAMILIES = ["17", "minimal", "several", "none", "dense", "full", "symmetric", "ragged"]
SMALL = ["1x1", "1x2", "2x1", "1x3", "3x1", "1x4", "2x2", "2x3", "3x2"]


def board_of(text: str) -> Board:
    return Board([int(sign) for sign in text.replace(".", "0")])


def scattered_clues(geometry: Geometry, clues: int, rng: np.random.Generator) -> Board:
    """Put digits in random cells without a contradiction: the board may have no solution."""
    cells = np.zeros(geometry.cells, np.uint8)
    for cell in rng.permutation(geometry.cells)[:clues].tolist():
        seen_digits = {*cells[geometry.peers[cell]].tolist()}
        candidates = [digit for digit in range(1, geometry.n + 1) if digit not in seen_digits]
        if candidates:
            cells[cell] = rng.choice(candidates)
    return Board(cells, geometry)


def keep_clues(grid: Board, clues: int, rng: np.random.Generator) -> Board:
    """Keep random clues of a grid."""
    cells = grid.cells.copy()
    cells[rng.permutation(len(cells))[clues:]] = 0
    return Board(cells, grid.geometry)


def grids(count: int, seed: int) -> list[Board]:
    """Make random full grids of 9x9 cells."""
    return [puzzle.board for puzzle in gpusudoku.generate(count, seed=seed, clues=81)]


def canonical_forms(boards: Sequence[Board]) -> list[gpusudoku.Canonical]:
    """Return the canonical forms of boards, all of which must have one."""
    forms = [*canonical_many(boards, on_error="raise")]
    assert not any(isinstance(form, BadBoard) for form in forms)
    assert [form.puzzle for form in forms] == [*boards]
    return forms  # type: ignore[return-value]


def is_transformation(
    transformation: gpusudoku.Transformation, board: Board, expected: Board
) -> bool:
    """Return whether a transformation keeps the rules and leads from a board to the expected one.

    Keeping the rules means that bands and stacks stay together, and that digits stay different.
    """
    height = board.geometry.box_rows
    width = board.geometry.box_columns
    for lines, size in (transformation.rows, height), (transformation.columns, width):
        assert sorted(lines) == [*range(board.n)]
        for start in range(0, board.n, size):
            assert len({line // size for line in lines[start : start + size]}) == 1
    assert sorted(transformation.digits) == [*range(1, board.n + 1)]
    assert not transformation.transposed or height == width
    labels = (0, *transformation.digits)
    arrangement = (transformation.transposed, transformation.rows, transformation.columns)
    cells = [labels[digit] for digit in arranged(board, arrangement)]
    return cells == expected.cells.tolist() and transformation.apply(board) == expected


def check_by_brute_force(boards: Sequence[Board]) -> None:
    """Compare the forms of boards with those of brute force."""
    for form in canonical_forms(boards):
        assert (form.board, form.automorphisms) == least(form.puzzle), str(form.puzzle)
        assert is_transformation(form.transformation, form.puzzle, form.board)


def check_twins(boards: Sequence[Board], seed: int) -> None:
    """Compare the forms of boards with the forms of random equivalent boards."""
    rng = np.random.default_rng(seed)
    twins = [twin(board, rng) for board in boards]
    for form, twin_form in zip(canonical_forms(boards), canonical_forms(twins), strict=True):
        assert form.board == twin_form.board, f"{form.puzzle} {twin_form.puzzle}"
        assert form.automorphisms == twin_form.automorphisms
        for canonical_form in form, twin_form:
            assert is_transformation(
                canonical_form.transformation, canonical_form.puzzle, canonical_form.board
            )


def ragged() -> Iterator[Board]:
    """Yield 9x9 boards with few, regular clues: many partial arrangements have equal rows."""
    for grid in pattern(NINE), grids(1, 3)[0].grid:
        regions = [np.zeros((9, 9), np.bool_) for _ in range(9)]
        regions[0][:1] = True  # a row
        regions[1][:, :1] = True  # a column
        regions[2][:3] = True  # a band
        regions[3][:, 3:6] = True  # a stack
        regions[4][3:6, 3:6] = True  # a box
        regions[5][[0, 3, 6]] = True  # a row of each band
        regions[6][:3, :3] = regions[6][3:6, 3:6] = regions[6][6:, 6:] = True
        regions[7] |= np.eye(9, dtype=np.bool_)
        regions[8] |= np.indices((9, 9)).sum(axis=0) % 2 == 0
        yield from (Board(np.where(region, grid, 0)) for region in regions)
        yield from (Board(np.where(grid <= digits, grid, 0)) for digits in (1, 2, 3, 6, 8))


def family(name: str, count: int) -> list[Board]:
    """Make ``count`` 9x9 boards of a kind."""
    rng = np.random.default_rng(1)
    if name == "17":
        return [twin(board_of(text), rng) for text in islice(cycle(SEVENTEEN), count)]
    if name == "minimal":
        return [puzzle.board for puzzle in gpusudoku.generate(count, seed=2)]
    if name == "none":
        return [scattered_clues(NINE, int(rng.integers(1, 61)), rng) for _ in range(count)]
    if name == "symmetric":
        grid = board_of(MAX_SYMMETRIC)
        return [keep_clues(grid, int(rng.integers(1, 82)), rng) for _ in range(count)]
    if name == "ragged":
        return [twin(board, rng) for board in islice(cycle(ragged()), count)]
    min_clues, max_clues = {"several": (1, 16), "dense": (40, 80), "full": (81, 81)}[name]
    clue_counts = rng.integers(min_clues, max_clues + 1, count).tolist()
    return [
        keep_clues(grid, clues, rng)
        for clues, grid in zip(clue_counts, grids(count, 1), strict=True)
    ]


def test_the_reference_implementation_misses_nothing() -> None:
    """``least`` agrees with trying all arrangements and, for 2x2 boxes, all labels of digits."""
    rng = np.random.default_rng(0)
    for shape in SMALL:
        geometry = Geometry.parse(shape)
        for _ in range(2 if geometry.n == 6 else 8):
            board = scattered_clues(geometry, int(rng.integers(geometry.cells + 1)), rng)
            forms = Counter(every_form(board))
            unchanged = renumber(board.cells.tolist())
            assert least(board).board.cells.tolist() == [*min(forms)]
            assert least(board).automorphisms == forms[unchanged] * count_idle_relabellings(board)
            assert sum(forms.values()) * count_idle_relabellings(
                Board.empty(geometry)
            ) == group_order(geometry)
    for clues in range(0, 17, 4):
        board = scattered_clues(Geometry(2, 2), clues, rng)
        relabellings = [(0, *labels) for labels in permutations(range(1, 5))]
        boards = Counter(
            tuple(labels[digit] for digit in arranged(board, arrangement))
            for arrangement in arrangements(board.geometry)
            for labels in relabellings
        )
        assert least(board).board.cells.tolist() == [*min(boards)]
        assert {*boards.values()} == {least(board).automorphisms}


@pytest.mark.parametrize("shape", SMALL)
def test_small_boards(shape: str) -> None:
    geometry = Geometry.parse(shape)
    rng = np.random.default_rng(2)
    repetitions = {4: 20, 6: 3}.get(geometry.n, 5)
    boards = [
        scattered_clues(geometry, clues, rng)
        for clues in range(geometry.cells + 1)
        for _ in range(repetitions)
    ]
    boards += [Board(full_grid(geometry, seed), geometry) for seed in range(repetitions)]
    check_by_brute_force(boards)
    check_twins(boards, 3)


def test_all_grids_of_2x2_boxes() -> None:
    boards = [*gpusudoku.solutions("." * 16)]
    check_by_brute_force(boards)
    classes = Counter((form.board, form.automorphisms) for form in canonical_forms(boards))
    assert sorted(classes.values()) == [96, 192]
    assert {size * automorphisms for (_, automorphisms), size in classes.items()} == {3072}


@pytest.mark.parametrize("clues", range(4))
def test_all_boards_of_few_clues(clues: int) -> None:
    """The size of a class is the order of the group divided by the number of automorphisms."""
    geometry = Geometry(2, 2)
    boards = []
    for cells in combinations(range(16), clues):
        for digits in product(range(1, 5), repeat=clues):
            pairs_of_clues = combinations(zip(cells, digits, strict=True), 2)
            if all(
                digit != other_digit or other_cell not in geometry.peers[cell]
                for (cell, digit), (other_cell, other_digit) in pairs_of_clues
            ):
                board = np.zeros(16, np.uint8)
                board[[*cells]] = digits
                boards.append(Board(board, geometry))
    classes = Counter((form.board, form.automorphisms) for form in canonical_forms(boards))
    assert {size * automorphisms for (_, automorphisms), size in classes.items()} == {3072}
    for board, automorphisms in classes:
        assert least(board) == (board, automorphisms)


@pytest.mark.parametrize("shape", ["2x3", "3x2"])
def test_all_grids_of_2x3_boxes(shape: str) -> None:
    """The 39,168 grids with the first row, or column, 123456 are 1/720 of all: 49 classes."""
    geometry = Geometry.parse(shape)
    boards = [*gpusudoku.solutions("123456" + "." * 30, box="2x3")]
    if shape == "3x2":
        boards = [board.transposed() for board in boards]
    classes: Counter[tuple[Board, int]] = Counter()
    for form in canonical_many(boards):
        assert not isinstance(form, BadBoard)
        classes[form.board, form.automorphisms] += 720
    assert len(classes) == 49
    assert sum(classes.values()) == 28_200_960
    for (board, automorphisms), size in classes.items():
        assert size * automorphisms == group_order(geometry)
        assert least(board) == (board, automorphisms)


@pytest.mark.parametrize("shape", ["1x5", "5x1"])
def test_latin_squares_of_five_rows(shape: str) -> None:
    geometry = Geometry.parse(shape)
    rng = np.random.default_rng(5)
    boards = [scattered_clues(geometry, clues, rng) for clues in range(26)]
    check_by_brute_force([*boards, Board(full_grid(geometry, 0), geometry)])


@pytest.mark.parametrize("shape", ["1x7", "2x4", "4x2", "2x5", "3x4", "4x4"])
def test_larger_boards_agree_with_twins(shape: str) -> None:
    geometry = Geometry.parse(shape)
    rng = np.random.default_rng(6)
    grids = [Board(full_grid(geometry, seed), geometry) for seed in range(3)]
    clue_counts = (geometry.cells * 2 // 5, geometry.cells * 3 // 5)
    boards = [keep_clues(grid, clues, rng) for grid in grids for clues in clue_counts]
    boards += [scattered_clues(geometry, geometry.cells // 2, rng) for _ in range(6)]
    check_twins([*boards, *(grids if geometry.n < 10 else [])], 7)


def test_too_many_rearrangements() -> None:
    grid = Board(full_grid(Geometry(4, 4), 1), Geometry(4, 4))
    with pytest.raises(InputError, match="too many rearrangements"):
        canonical(grid)


@pytest.mark.parametrize("name", FAMILIES)
def test_9x9_boards(name: str) -> None:
    check_by_brute_force(family(name, 7))


@pytest.mark.parametrize("name", FAMILIES)
def test_9x9_twins(name: str) -> None:
    boards = family(name, 250)
    check_twins(boards, 8)
    assert [*canonical_many(boards, jobs=1)] == [*canonical_many(boards, jobs=3)]


@pytest.mark.slow
@pytest.mark.parametrize("name", FAMILIES)
def test_many_9x9_boards(name: str) -> None:
    check_by_brute_force(family(name, 100))
    check_twins(family(name, 20_000), 9)


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["2x3", "3x2"])
def test_many_6x6_boards(shape: str) -> None:
    geometry = Geometry.parse(shape)
    rng = np.random.default_rng(10)
    check_by_brute_force([scattered_clues(geometry, i % 37, rng) for i in range(1500)])


def test_few_clues_of_9x9_boards() -> None:
    """The forms of boards with at most one clue, and their automorphisms, are known."""
    order = group_order(NINE)
    assert order == 2 * 6**8 * 362880
    empty = canonical(Board.empty(NINE))
    rng = np.random.default_rng(11)
    assert (empty.board, empty.automorphisms) == (Board.empty(NINE), order)
    for _ in range(5):
        form = canonical(scattered_clues(NINE, 1, rng))
        assert (str(form.board), form.automorphisms) == ("." * 80 + "1", order // (81 * 9))


@pytest.mark.parametrize("board", ["1", "."])
def test_boards_of_one_cell_have_two_automorphisms(board: str) -> None:
    """There are two transformations, with and without transposing, and both change nothing."""
    form = canonical(board, box="1x1")
    assert (str(form.board), form.automorphisms) == (board, 2)


def test_known_9x9_forms() -> None:
    rng = np.random.default_rng(12)
    for text, automorphisms in (MAX_SYMMETRIC, 648), *((text, 1) for text in SEVENTEEN):
        for _ in range(5):
            form = canonical(twin(board_of(text), rng))
            assert (str(form.board), form.automorphisms) == (text, automorphisms)
    # Two digits that are missing from a puzzle can be exchanged.
    cells = [digit if digit < 8 else 0 for digit in board_of(MAX_SYMMETRIC).cells.tolist()]
    assert canonical(Board(cells)).automorphisms % 2 == 0


@pytest.mark.slow
def test_a_grid_has_648_automorphisms_among_all_arrangements() -> None:
    """All 3,359,232 arrangements are tried."""
    grid = board_of(MAX_SYMMETRIC).grid.astype(np.int64)
    orders = np.array([*{rows for _, rows, _ in arrangements(NINE)}])
    automorphisms = 0
    for oriented_grid in grid, grid.T:
        for rows in orders:
            forms = oriented_grid[rows][:, orders].transpose(1, 0, 2).reshape(-1, 81)
            # The first row of a form determines the labels of its digits.
            labels = np.zeros((len(forms), 10), np.int64)
            np.put_along_axis(labels, forms[:, :9], grid[:1], axis=1)
            labelled_forms = np.take_along_axis(labels, forms, axis=1)
            automorphisms += (labelled_forms == grid.ravel()).all(axis=1).sum()
    assert automorphisms == canonical(Board(grid)).automorphisms == 648


def test_isomorphic_agrees_with_brute_force() -> None:
    """Pairs of boards with few clues, whose equivalence brute force decides."""
    rng = np.random.default_rng(13)
    outcomes = Counter[bool]()
    for shape in ("2x2", "2x3", "1x4"):
        geometry = Geometry.parse(shape)
        boards = [scattered_clues(geometry, 3, rng) for _ in range(24)]
        forms = [least(board).board for board in boards]
        pairs = combinations(zip(boards, forms, strict=True), 2)
        for (board, form), (other_board, other_form) in pairs:
            transformation = isomorphic(board, other_board)
            assert (transformation is not None) == (form == other_form)
            assert transformation is None or is_transformation(transformation, board, other_board)
            outcomes[transformation is not None] += 1
    assert min(outcomes.values()) > 20


def test_isomorphic_9x9_boards() -> None:
    rng = np.random.default_rng(14)
    for name in FAMILIES:
        for board in family(name, 3):
            twin_board = twin(board, rng)
            transformation = isomorphic(board, twin_board)
            assert transformation is not None
            assert is_transformation(transformation, board, twin_board)
            # Without one of the clues, the boards are not equivalent.
            cells = twin_board.cells.copy()
            cells[rng.choice(np.flatnonzero(cells))] = 0
            assert isomorphic(board, Board(cells)) is None
    grid, other_grid = grids(2, 15)
    assert isomorphic(grid, other_grid) is None
    assert isomorphic(Board.empty(NINE), Board.empty(NINE)) is not None


def test_boards_in_any_format() -> None:
    form = canonical(UNIQUE)
    assert form == canonical([[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 0]])
    assert form == next(canonical_many([UNIQUE])) == canonical(board_of(UNIQUE))
    assert canonical("." * 36, box="3x2").board.geometry == Geometry(3, 2)
    wide_form = canonical("12" + "." * 34, box="2x3")
    high_form = canonical("12" + "." * 34, box="3x2")
    assert wide_form.board.geometry != high_form.board.geometry
    transformation = isomorphic(UNIQUE, form.board)
    assert transformation is not None
    assert transformation.apply(board_of(UNIQUE)) == form.board


@pytest.mark.parametrize("unit", ["row", "column", "box"])
def test_contradicting_clues_are_an_error(unit: str) -> None:
    cells = np.zeros((4, 4), np.uint8)
    cells[0, 0] = cells[{"row": (0, 3), "column": (3, 0), "box": (1, 1)}[unit]] = 2
    for call in canonical, lambda board: isomorphic(board, UNIQUE):
        with pytest.raises(InputError, match="r1c1"):
            call(Board(cells))
    with pytest.raises(InputError, match="r1c1"):
        isomorphic(UNIQUE, Board(cells))


def test_given_candidates_are_an_error() -> None:
    masks = np.full(16, 15, np.uint64)
    masks[3] = 3
    board = Board(np.zeros(16, np.uint8), candidates=masks)
    with pytest.raises(InputError, match="candidates"):
        canonical(board)
    with pytest.raises(InputError, match="candidates"):
        isomorphic(board, "." * 16)


def test_bad_boards_among_many() -> None:
    boards = [UNIQUE, "12", "11" + "." * 14, UNIQUE]
    forms = [*canonical_many(boards, on_error="record")]
    assert forms[0] == forms[3] == canonical(UNIQUE)
    assert [form.index for form in forms if isinstance(form, BadBoard)] == [1, 2]
    rows = canonical_many(boards)
    assert next(rows) == forms[0]
    with pytest.raises(InputError, match="2 cells"):
        next(rows)
    with pytest.raises(InputError, match=r"^board 1: "):
        [*canonical_many([UNIQUE, "11" + "." * 14])]
    assert [*canonical_many([])] == []
    for options in ({"jobs": 0}, {"on_error": "x"}):
        with pytest.raises(InputError):
            canonical_many([UNIQUE], **options)  # type: ignore[arg-type]


def test_a_cancelled_token() -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        [*canonical_many([UNIQUE] * 5, cancel=token)]
