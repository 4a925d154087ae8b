"""The lists of maps, the swaps of digits between them, and how the sum reads them."""

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.general.boxes import allowed_lines, without_seen
from gpusudoku.contraction.general.graph import Graph
from gpusudoku.contraction.general.index import planes_of, skips_of
from gpusudoku.contraction.general.maps import allowed_columns, grouped
from gpusudoku.contraction.general.orbits import free_swaps, images, orbits
from tests.contraction.general.boards import clues_only, first_row_given


def test_clue_free_maps_are_as_many_as_known():
    geometry = Geometry(3, 3)
    graph = Graph(allowed_columns(clues_only(Board.empty(geometry)), geometry)[0], "it", 1 << 22)
    maps = graph.listed()
    assert graph.maps * graph.symmetry == 94080 == maps.total * maps.factor
    assert len(maps) == 15400
    assert [len(table) for table in maps.partitions] == [280] * 3


def test_columns_alike_are_listed_once():
    """With a clue the columns differ, and all maps are listed."""
    geometry = Geometry(3, 3)
    cells = np.zeros(81, np.uint8)
    cells[0] = 1
    board = Board(cells, geometry)
    candidates = without_seen(clues_only(board), geometry)
    graph = Graph(allowed_columns(candidates, geometry)[0], "it", 1 << 22)
    assert graph.symmetry == 2
    assert graph.maps * graph.symmetry == 94080 // 3


def test_swaps():
    board = first_row_given("2x3")
    sides = allowed_lines(without_seen(clues_only(board), board.geometry), board.geometry)
    assert free_swaps(sides) == [(0, 1), (0, 2), (3, 4), (3, 5)]
    cells = np.zeros(36, np.uint8)
    cells[[0, 7, 20]] = 1, 2, 3
    board = Board(cells, board.geometry)
    sides = allowed_lines(without_seen(clues_only(board), board.geometry), board.geometry)
    # The corner's 1 and the 2 askew below it look alike to the lists, the 3 does not.
    assert free_swaps(sides) == [(0, 1), (3, 4), (3, 5)]


def test_orbits_are_those_of_the_partitions():
    geometry = Geometry(2, 2)
    candidates = clues_only(Board.empty(geometry))
    maps = Graph(allowed_columns(candidates, geometry)[0], "it", 1 << 22).listed()
    assert (len(maps), maps.factor * maps.total) == (3, 6)
    pair_swaps = [images(maps, (0, 1)), images(maps, (0, 2))]
    labels = orbits(pair_swaps, pair_swaps)
    values, sizes = np.unique(labels, return_counts=True)
    assert (values.tolist(), sizes.tolist()) == ([0, 1], [3, 6])


@pytest.mark.parametrize("words", [1, 3])
def test_grouped(words):
    rows = np.random.default_rng(1).integers(0, 4, (500, words)).astype(np.uint64)
    ids, leaders = grouped(rows)
    seen = {}
    expected = [seen.setdefault(tuple(row), len(seen)) for row in rows.tolist()]
    assert ids.tolist() == expected
    assert leaders.tolist() == [expected.index(group) for group in range(len(seen))]


def test_bit_planes():
    multiplicity = np.random.default_rng(2).integers(1, 100, 150)
    planes = planes_of(multiplicity)
    bits = [[int(p[e // 64]) >> (e % 64) & 1 for p in planes] for e in range(150)]
    assert [sum(bit << k for k, bit in enumerate(row)) for row in bits] == multiplicity.tolist()


def test_skips():
    """The example of ``Index``, and random entries against the definition."""
    skip, differs = skips_of(np.array([[0, 0], [0, 1], [1, 0]]))
    assert skip.tolist() == [[2, 1], [2, 2], [3, 3]]
    assert differs.tolist() == [0, 1, 0]
    entries = np.unique(np.random.default_rng(3).integers(0, 4, (60, 3)), axis=0)
    skip, differs = skips_of(entries)
    rows = entries.tolist()
    for e, row in enumerate(rows):
        for line in range(3):
            others = (k for k in range(e, len(rows)) if rows[k][: line + 1] != row[: line + 1])
            assert skip[e, line] == next(others, len(rows))
        if e:
            assert differs[e] == next(i for i in range(3) if row[i] != rows[e - 1][i])
