"""The words of the lines, and which entries fit where lines cross."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.sum import Nine, stages
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.kernels.contraction.nine.arrays import Workspace
from gpusudoku.kernels.contraction.nine.keys import pack, partition_at
from gpusudoku.kernels.contraction.nine.words import Fitting, Words, make_fitting, make_words
from tests.boards import puzzle
from tests.contraction.nine.counted import NINE, candidates_of

POWERS = 3 ** np.arange(9)


def worded(board: Board) -> tuple[Workspace, Words, Fitting]:
    """The workspace, the words and the sets of a board."""
    work, words, fitting = Nine(candidates_of(board)).workspace, make_words(), make_fitting()
    stages().list_words(tables(), work.scratch, work.lists, words)
    stages().mark_fitting(tables(), work.lists, work.numbering, work.roles, fitting)
    return work, words, fitting


def line_words(work: Workspace, words: Words, line: int) -> NDArray[np.int64]:
    """int64 (words, 3): the words of a line."""
    return words.codes[line, : words.start[line, work.lists.size[line]]].astype(np.int64)


def keys_of(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The keys of words."""
    return pack(*(tables().partition_of[codes[:, place]].astype(np.int64) for place in range(3)))


def naive_words(board: Board, line: int) -> set[tuple[int, ...]]:
    """The words of a line that its clues allow, whatever the other lines say."""
    ways = list(permutations(range(3)))
    clues = {}
    for cell in np.flatnonzero(board.cells).tolist():
        row, column = divmod(cell, 9)
        if line in (column // 3, 3 + row // 3):
            place, name = (row // 3, column % 3) if line < 3 else (column // 3, row % 3)
            clues[int(board.cells[cell]) - 1, place] = name
    allowed = [
        [way for way in ways if all(clues.get((d, p), way[p]) == way[p] for p in range(3))]
        for d in range(9)
    ]
    found = {()}
    for choices in allowed:  # digit by digit, full sets of three left out
        found = {
            (*word, way)
            for word, way in product(found, choices)
            if all(sum(w[p] == way[p] for w in word) < 3 for p in range(3))
        }
    return {
        tuple(int(POWERS @ [way[place] for way in word]) for place in range(3)) for word in found
    }


@pytest.mark.parametrize("clues", [0, 7, 16, 24])
def test_words_are_sorted_and_belong_to_their_entries(clues: int) -> None:
    work, words, _ = worded(puzzle(NINE, clues, clues) if clues else Board.empty(NINE))
    lists = work.lists
    for line in range(6):
        size = lists.size[line]
        codes, start = line_words(work, words, line), words.start[line, : size + 1]
        assert start[0] == 0
        numbers = lists.multiplicity[line, :size] * lists.divisor[line]
        assert (np.diff(start) == numbers).all()
        assert (keys_of(codes) == np.repeat(lists.keys[line, :size], numbers)).all()
        full = np.column_stack([keys_of(codes), codes])
        order = np.lexsort(full.T[::-1])
        assert (order == np.arange(len(full))).all()
        assert len(np.unique(full, axis=0)) == len(full)


def test_words_are_what_the_clues_allow_but_for_entries_without_a_counterpart() -> None:
    board = puzzle(NINE, 24, 24)
    work, words, _ = worded(board)
    for line in range(6):
        codes = line_words(work, words, line)
        naive = naive_words(board, line)
        assert {*map(tuple, codes.tolist())} <= naive
        kept = {*work.lists.keys[line, : work.lists.size[line]].tolist()}
        # Singles and other lines only take words away, and always whole entries' or not at all.
        masked = {word for word in naive if _allowed(word, work.lists.masks[line])}
        array = np.array(sorted(masked))
        expected = array[np.isin(keys_of(array), [*kept])]
        assert sorted(map(tuple, codes.tolist())) == sorted(map(tuple, expected.tolist()))


def _allowed(word: tuple[int, ...], masks: NDArray[np.uint8]) -> bool:
    ways = [tuple(code // 3**digit % 3 for code in word) for digit in range(9)]
    order = list(permutations(range(3)))
    return all(masks[digit] >> order.index(way) & 1 for digit, way in enumerate(ways))


@pytest.mark.parametrize("clues", [7, 16, 24])
def test_entries_fit_where_partitions_are_orthogonal(clues: int) -> None:
    work, _, fitting = worded(puzzle(NINE, clues, clues))
    lists, numbering, roles = work.lists, work.numbering, work.roles
    for (crossing, x), (summed, line) in product(
        enumerate(roles.crossing), enumerate(roles.summed)
    ):
        size, width = int(lists.size[x]), int(fitting.width[crossing])
        assert width == -(-size // 64)
        for number in range(roles.shape[summed, crossing]):
            partition = numbering.partition[line, x % 3, number]
            own = partition_at(lists.keys[x, :size], line % 3)
            expected = np.isin(own, tables().orthogonal[partition])
            found = fitting.sets[crossing, summed, number * width : (number + 1) * width]
            bits = np.unpackbits(found.view(np.uint8), bitorder="little")
            assert (bits[:size] == expected).all()
            assert not bits[size:].any()


def test_the_stages_write_nothing_but_what_they_say() -> None:
    work, words, fitting = worded(puzzle(NINE, 15, 2))
    before = {
        name: bytes(group.data) for name, group in work._asdict().items() if name != "scratch"
    }
    stages().list_words(tables(), work.scratch, work.lists, words)
    known = bytes(words.data)
    stages().mark_fitting(tables(), work.lists, work.numbering, work.roles, fitting)
    assert bytes(words.data) == known
    assert all(bytes(getattr(work, name).data) == data for name, data in before.items())
