"""Symmetries of boards, and the orbits of pairs under them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.kernels.contraction.nine.arrays import A, B, P, Workspace
from tests.boards import puzzle
from tests.contraction.nine.counted import NINE, candidates_of
from tests.contraction.nine.numbered import as_texts, grids_of, order_of

PERMUTATIONS = list(permutations(range(3)))
BOARDS = [Board.empty(NINE), *(puzzle(NINE, clues, clues) for clues in (3, 7, 9, 12, 16, 24))]
SYMMETRIC = [(23, 3), (24, 3)]
"""Clues and seeds of boards with a symmetry and 76,738 and 30,014 solutions."""


def prepared(board: Board, *, symmetric: bool = True) -> Nine:
    nine = Nine(candidates_of(board), symmetric=symmetric)
    nine.prepare(1)
    return nine


def symmetries(work: Workspace) -> list[tuple[list[int], list[tuple[int, ...]]]]:
    """What every digit, and what the names of every line become, symmetry by symmetry."""
    used = np.unique(work.orbits.symmetry[: work.roles.shape[A, P] * work.roles.shape[B, P]])
    return [
        (
            work.symmetries.digits[s].tolist(),
            [PERMUTATIONS[names] for names in work.symmetries.names[s].tolist()],
        )
        for s in used[used >= 0].tolist()
    ]


def moved(
    grids: NDArray[np.uint8], digits: list[int], names: list[tuple[int, ...]]
) -> NDArray[np.uint8]:
    """Solutions, uint8 (solutions, 81), under a symmetry."""
    image = np.empty_like(grids)
    relabelled = np.array([0, *(digit + 1 for digit in digits)], np.uint8)[grids]
    for cell in range(81):
        row, column = divmod(cell, 9)
        to_row = row // 3 * 3 + names[3 + row // 3][row % 3]
        to_column = column // 3 * 3 + names[column // 3][column % 3]
        image[:, 9 * to_row + to_column] = relabelled[:, cell]
    return image


@pytest.mark.parametrize("board", BOARDS)
def test_symmetries_take_the_masks_to_themselves(board: Board) -> None:
    work = prepared(board).workspace
    allowed = [
        [{p for k, p in enumerate(PERMUTATIONS) if mask >> k & 1} for mask in line.tolist()]
        for line in work.lists.masks
    ]
    for digits, names in symmetries(work):
        assert sorted(digits) == list(range(9))
        for line in range(6):
            for digit in range(9):
                image = {tuple(names[line][name] for name in p) for p in allowed[line][digit]}
                assert image == allowed[line][digits[digit]]


def test_free_digits_are_exchanged() -> None:
    assert len(symmetries(prepared(Board.empty(NINE)).workspace)) == 8


@pytest.mark.parametrize(("clues", "seed"), SYMMETRIC)
def test_symmetries_take_solutions_to_solutions(clues: int, seed: int) -> None:
    board = puzzle(NINE, clues, seed)
    grids = grids_of(order_of(board, symmetric=False))
    found = symmetries(prepared(board).workspace)
    assert found
    for digits, names in found:
        image = moved(grids, digits, names)
        assert not (image == grids).all()
        assert (as_texts(image) == as_texts(grids)).all()


@pytest.mark.parametrize("board", BOARDS)
def test_the_walk_is_breadth_first_from_least_pairs(board: Board) -> None:
    nine = prepared(board)
    work, orbits = nine.workspace, nine.workspace.orbits
    width, height = (int(work.roles.shape[summed, P]) for summed in (A, B))
    images = orbits.images[: len(symmetries(work))].astype(int).tolist()
    members, seen = [], set()
    for least in range(width * height):
        if least in seen:
            continue
        seen.add(least)
        position = len(members)
        members.append((least, -1, -1))
        while position < len(members):
            b, a = divmod(members[position][0], width)
            for s, image in enumerate(images):
                to = image[B][b] * width + image[A][a]
                if to not in seen:
                    seen.add(to)
                    members.append((to, position, s))
            position += 1
    columns = orbits.members, orbits.parent, orbits.symmetry
    found = zip(*(column[: width * height].tolist() for column in columns), strict=True)
    assert list(found) == members
    first = orbits.first[: nine.pairs + 1]
    b, a, size = orbits.pairs[: nine.pairs].T
    assert (b * width + a == orbits.members[first[:-1]]).all()
    assert (np.diff(b * width + a) > 0).all()
    assert (size == np.diff(first)).all()
    assert first[-1] == width * height


@pytest.mark.parametrize("board", BOARDS)
def test_images_are_those_of_the_partitions(board: Board) -> None:
    work = prepared(board).workspace
    place, roles = work.roles.crossing[P] % 3, work.roles
    codes = np.flatnonzero(tables().partition_of >= 0)
    code_of = np.empty(280, np.int64)
    code_of[tables().partition_of[codes]] = codes
    for s, (digits, _) in enumerate(symmetries(work)):
        for summed in (A, B):
            line, count = roles.summed[summed], roles.shape[summed, P]
            partitions = work.numbering.partition[line, place, :count]
            sets = code_of[partitions][:, None] // 3 ** np.arange(9) % 3
            relabelled = sets @ 3 ** np.array(digits)
            image = work.orbits.images[s, summed, :count]
            expected = tables().partition_of[relabelled]
            assert (work.numbering.partition[line, place, image] == expected).all()


def test_pairs_of_an_orbit_have_equal_sums() -> None:
    board = puzzle(NINE, 12, 1)
    nine, each = prepared(board), prepared(board, symmetric=False)
    slabs = each.scratch()
    each.sum(range(each.tasks), slabs, np.zeros(1, np.int64))
    orbits, sums = nine.workspace.orbits, slabs.results[: each.pairs]
    first = orbits.first[: nine.pairs + 1]
    assert nine.pairs < each.pairs == first[-1]
    by_position = sums[orbits.members[: each.pairs]]
    assert (by_position == np.repeat(by_position[first[:-1]], np.diff(first))).all()
