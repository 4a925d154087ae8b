"""The join over the maps of the stacks, for boxes of any shape, against the oracle and the search.

The kernels are compiled once for all shapes.
"""

import tracemalloc
from math import factorial

import numpy as np
import pytest

import gpusudoku
from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general import index as tables
from gpusudoku.contraction.general.boxes import all_maps, both_allowed, fixed, met
from gpusudoku.contraction.general.graph import Graph
from gpusudoku.contraction.general.join import Join, _combined, _primes, count
from gpusudoku.contraction.general.maps import allowed, grouped
from gpusudoku.contraction.general.orbits import images, orbits, swaps
from gpusudoku.errors import TooExpensive
from tests import naive
from tests.boards import full_grid, puzzle, spoilt

CLUES = {
    "1x1": (0, 1),
    "1x2": (0, 3),
    "2x1": (0, 3),
    "1x3": (0, 6),
    "3x1": (0, 6),
    "1x4": (0, 9),
    "4x1": (0, 9),
    "1x5": (6, 20),
    "5x1": (6, 20),
    "1x6": (15, 30),
    "6x1": (15, 30),
    "1x7": (25, 40),
    "7x1": (25, 40),
    "2x2": (0, 12),
    "2x3": (9, 28),
    "3x2": (9, 28),
    "2x4": (30, 50),
    "4x2": (30, 50),
    "3x3": (36, 60),
    "1x8": (38, 55),
    "8x1": (38, 55),
    "1x9": (52, 70),
    "9x1": (52, 70),
}
"""Of every shape the fewest and the most clues of the boards that the oracle counts."""

TOTALS = {
    "1x1": 1,
    "1x2": 2,
    "3x1": 12,
    "1x4": 576,
    "4x1": 576,
    "5x1": 161280,
    "2x2": 288,
    "2x3": 28200960,
    "3x2": 28200960,
    "2x4": 29136487207403520,
    "4x2": 29136487207403520,
}
"""Solutions of the empty boards, as they are known."""


def clues_only(board):
    """The candidates that follow from the clues at sight."""
    bits = np.uint64(1) << (board.cells.astype(np.uint64) - np.uint64(1))
    return np.where(board.cells > 0, bits, board.candidates)


def after_singles(board):
    """The same after naked singles, without the search's kernels, which depend on the shape."""
    candidates, before = clues_only(board), None
    while before is None or (candidates != before).any():
        candidates, before = fixed(candidates, board.geometry), candidates
    return candidates


def searched(board):
    return gpusudoku.count(board, device="cpu", method="search", jobs=1).count


@pytest.mark.parametrize("shape", CLUES)
def test_oracle(shape):
    geometry = Geometry.parse(shape)
    low, high = CLUES[shape]
    for seed in range(8):
        board = puzzle(geometry, low + (high - low) * seed // 8, seed)
        if seed % 3 == 2 and board.clues:
            board = spoilt(board, seed)
        expected = naive.count(board)
        candidates = clues_only(board)
        assert count(candidates, geometry) == expected
        assert count(candidates, geometry, wide=True) == expected
        assert count(candidates, geometry, symmetric=False) == expected


@pytest.mark.parametrize("shape", TOTALS)
def test_empty_boards(shape):
    geometry = Geometry.parse(shape)
    candidates = clues_only(Board.empty(geometry))
    assert count(candidates, geometry) == TOTALS[shape]
    assert count(candidates, geometry, wide=True) == TOTALS[shape]


@pytest.mark.parametrize("shape", ["1x5", "2x3", "3x2"])
def test_empty_boards_without_symmetry(shape):
    geometry = Geometry.parse(shape)
    candidates = clues_only(Board.empty(geometry))
    assert count(candidates, geometry, symmetric=False) == count(candidates, geometry)


@pytest.mark.slow
def test_empty_board_of_8x8_without_symmetry():
    geometry = Geometry(4, 2)
    candidates = clues_only(Board.empty(geometry))
    assert count(candidates, geometry, symmetric=False) == TOTALS["4x2"]


@pytest.mark.parametrize("shape", ["1x6", "2x2", "3x3", "4x3", "4x4", "5x5", "8x8"])
def test_full_boards(shape):
    geometry = Geometry.parse(shape)
    board = Board(full_grid(geometry, 1), geometry)
    assert count(clues_only(board), geometry) == 1
    assert count(clues_only(spoilt(board, 2)), geometry) == 0


@pytest.mark.parametrize(
    ("shape", "clues"), [("2x5", 36), ("3x4", 52), ("2x6", 56), ("4x4", 115), ("5x5", 330)]
)
def test_search(shape, clues):
    """Larger boards, with up to a million solutions."""
    board = puzzle(shape, clues, 7)
    expected = searched(board)
    candidates = gpusudoku.simplify(board, "singles").candidates
    assert 1 < expected < 2_000_000
    for wide in False, True:
        assert count(candidates, board.geometry, wide=wide) == expected
    mirrored = board.transposed()
    assert count(after_singles(mirrored), mirrored.geometry) == expected


@pytest.mark.parametrize("techniques", ["none", "singles", "all"])
def test_techniques_do_not_matter(techniques):
    board = collection.load("1d")
    candidates = gpusudoku.simplify(board, techniques).candidates
    assert count(candidates, board.geometry) == collection.entry("1d").count


@pytest.mark.parametrize("name", ["1d", "1f", "2c", "2f", "decomposition-16x16"])
def test_library(name):
    board = collection.load(name)
    assert count(after_singles(board), board.geometry) == collection.entry(name).count


@pytest.mark.parametrize(
    ("shape", "clues"), [("3x3", 23), ("2x4", 12), ("2x5", 30), ("4x3", 50), ("4x4", 112)]
)
def test_twins(shape, clues):
    """Mirrored, relabelled, and with lines, bands and stacks exchanged."""
    board = puzzle(shape, clues, 3)
    geometry = board.geometry
    expected = count(after_singles(board), geometry)
    rng = np.random.default_rng(4)
    height, width, n = geometry.box_rows, geometry.box_columns, geometry.n
    bands = board.grid.reshape(width, height, n)[rng.permutation(width)]
    stacks = board.grid.reshape(n, height, width)[:, rng.permutation(height)]
    rows = board.grid.reshape(width, height, n)[:, rng.permutation(height)]
    bivalue = [
        board.transposed(),
        board.relabelled(1 + rng.permutation(n)),
        Board(bands, geometry),
        Board(stacks, geometry),
        Board(rows, geometry),
    ]
    for twin in bivalue:
        assert count(after_singles(twin), twin.geometry) == expected


def first_row_given(shape):
    geometry = Geometry.parse(shape)
    cells = np.zeros(geometry.cells, np.uint8)
    cells[: geometry.n] = np.arange(1, geometry.n + 1)
    return Board(cells, geometry)


@pytest.mark.parametrize("shape", ["1x5", "2x3", "3x2", "2x4", "4x2"])
def test_first_row_given(shape):
    """Its digits can be swapped, columns with them: the total is divided by their orders."""
    board = first_row_given(shape)
    total = count(clues_only(Board.empty(board.geometry)), board.geometry)
    assert count(clues_only(board), board.geometry) * factorial(board.n) == total


def test_swaps():
    board = first_row_given("2x3")
    sides = both_allowed(fixed(clues_only(board), board.geometry), board.geometry)
    assert swaps(sides) == [(0, 1), (0, 2), (3, 4), (3, 5)]
    cells = np.zeros(36, np.uint8)
    cells[[0, 7, 20]] = 1, 2, 3
    board = Board(cells, board.geometry)
    sides = both_allowed(fixed(clues_only(board), board.geometry), board.geometry)
    # The corner's 1 and the 2 askew below it look alike to the lists, the 3 does not.
    assert swaps(sides) == [(0, 1), (3, 4), (3, 5)]


def test_orbits_are_those_of_the_partitions():
    geometry = Geometry(2, 2)
    maps = Graph(allowed(clues_only(Board.empty(geometry)), geometry)[0], "it", 1 << 22).listed()
    assert (len(maps.many), maps.factor * maps.total) == (3, 6)
    pair_swaps = [images(maps, (0, 1)), images(maps, (0, 2))]
    labels = orbits(pair_swaps, pair_swaps)
    values, sizes = np.unique(labels, return_counts=True)
    assert (values.tolist(), sizes.tolist()) == ([0, 1], [3, 6])


def test_clue_free_maps_are_as_many_as_known():
    geometry = Geometry(3, 3)
    graph = Graph(allowed(clues_only(Board.empty(geometry)), geometry)[0], "it", 1 << 22)
    maps = graph.listed()
    assert graph.maps * graph.symmetry == 94080 == maps.total * maps.factor
    assert len(maps.many) == 15400
    assert [len(table) for table in maps.partitions] == [280] * 3


def test_columns_alike_are_listed_once():
    """With a clue the columns differ, and all maps are listed."""
    geometry = Geometry(3, 3)
    cells = np.zeros(81, np.uint8)
    cells[0] = 1
    board = Board(cells, geometry)
    graph = Graph(allowed(fixed(clues_only(board), geometry), geometry)[0], "it", 1 << 22)
    assert graph.symmetry == 2
    assert graph.maps * graph.symmetry == 94080 // 3


def test_no_candidate_is_no_solution():
    for shape in "1x1", "2x2", "3x3":
        geometry = Geometry.parse(shape)
        candidates = clues_only(Board.empty(geometry)).copy()
        candidates[-1] = 0
        join = Join(candidates, geometry)
        assert (join.steps, join.seconds, join.tasks(1)) == (0, 0, [])
        assert count(candidates, geometry) == 0


def test_contradicting_clues():
    geometry = Geometry(2, 3)
    for pair in (0, 1), (0, 5), (0, 30), (0, 8):
        cells = np.zeros(36, np.uint8)
        cells[list(pair)] = 4
        candidates = np.where(cells > 0, np.uint64(8), np.uint64(63))
        assert count(candidates, geometry) == 0


def test_candidates_need_not_be_propagated():
    board = puzzle("2x3", 12, 5)
    raw = np.where(board.cells > 0, clues_only(board), np.uint64(63))
    assert count(raw, board.geometry) == naive.count(board)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize(
    ("shape", "clues", "symmetric"), [("2x4", 0, True), ("3x3", 18, False), ("2x4", 9, True)]
)
def test_chunks_add_up(monkeypatch, shape, clues, symmetric, threads):
    """However finely it is cut."""
    board = puzzle(shape, clues, 3)
    candidates = clues_only(board) if clues == 0 else after_singles(board)
    expected = count(candidates, board.geometry)
    monkeypatch.setattr("gpusudoku.contraction.general.join.LEAST_STEPS", 1 << 14)
    join = Join(candidates, board.geometry, symmetric=symmetric)
    tasks = join.tasks(threads)
    scratch, flag = join.scratch(), np.zeros(1, np.int64)
    assert len(tasks) > 1
    assert sum(task.weight for task in tasks) == pytest.approx(1)
    sums = [join.sum(task.payload, scratch, flag)[0] for task in tasks]
    assert sum(sums) * join.factor == expected


def test_steps_are_about_right():
    """The estimate, against the terms that are added up: no less than a step each."""
    board = collection.load("1f")
    join = Join(after_singles(board), board.geometry)
    flag = np.zeros(1, np.int64)
    terms = sum(join.sum(c.payload, join.scratch(), flag)[1] for c in join.tasks(1))
    assert terms < join.steps < 1000 * terms
    assert join.steps == Join(after_singles(board), board.geometry).steps


def test_flag():
    board = collection.load("2f")
    join = Join(after_singles(board), board.geometry)
    flag = np.ones(1, np.int64)
    assert join.sum(join.tasks(1)[0].payload, join.scratch(), flag) == (0, 0)


@pytest.mark.parametrize("shape", ["4x4", "5x5", "8x8", "1x64", "64x1", "3x4", "2x6", "1x9"])
def test_too_expensive(shape):
    """Said quickly, and with little memory."""
    geometry = Geometry.parse(shape)
    candidates = clues_only(Board.empty(geometry))
    Join(clues_only(Board.empty(Geometry(1, 1))), Geometry(1, 1))  # compiles
    tracemalloc.start()
    try:
        with pytest.raises(
            TooExpensive, match=r"^too expensive to contract: (stack|band) 1 has [\d,]+ "
        ):
            Join(candidates, geometry)
        assert tracemalloc.get_traced_memory()[1] < 1 << 29
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"most_maps": 1000}, r"(stack|band) \d has [\d,]+ maps, more than 1,000"),
        ({"memory": 300_000}, r"(stack|band) \d has [\d,]+ maps, and not the memory to list them"),
        ({"memory": 100}, r"(stack|band) \d needs a graph of more than 100 bytes"),
        ({"most_steps": 1000}, r"[\d,]+ steps, more than 1,000"),
    ],
)
def test_bounds(bounds, message):
    board = collection.load("1f")
    with pytest.raises(TooExpensive, match=f"^too expensive to contract: {message}"):
        Join(after_singles(board), board.geometry, **bounds)


def test_memory_for_the_sum():
    candidates = clues_only(Board.empty(Geometry(2, 4)))
    with pytest.raises(
        TooExpensive, match=r"^too expensive to contract: [\d,]+ bytes of memory, more than"
    ):
        Join(candidates, Geometry(2, 4), memory=150_000_000)
    sides = both_allowed(candidates, Geometry(2, 4))
    maps = all_maps(*sides, 1 << 22, 1 << 31)
    with pytest.raises(
        TooExpensive, match=r"^too expensive to contract: [\d,]+ pairs of partitions meet"
    ):
        met(*maps, 1000)


@pytest.mark.parametrize("words", [1, 3])
def test_grouped(words):
    rows = np.random.default_rng(1).integers(0, 4, (500, words)).astype(np.uint64)
    ids, leaders = grouped(rows)
    seen = {}
    expected = [seen.setdefault(tuple(row), len(seen)) for row in rows.tolist()]
    assert ids.tolist() == expected
    assert leaders.tolist() == [expected.index(group) for group in range(len(seen))]


def test_remainders():
    number = 3**200
    primes = _primes(number).tolist()
    assert all(p < 1 << 31 for p in primes)
    assert _combined([number % p for p in primes], primes) == number
    assert _primes(0).size == 0


def test_bit_planes():
    many = np.random.default_rng(2).integers(1, 100, 150)
    planes = tables._planes(many)
    bits = [[int(p[e // 64]) >> (e % 64) & 1 for p in planes] for e in range(150)]
    assert [sum(bit << k for k, bit in enumerate(row)) for row in bits] == many.tolist()
