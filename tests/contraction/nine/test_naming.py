"""The kinds of entries: which shares of their words give each set each name."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.shares import NineShares
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.kernels.contraction.nine.arrays import C, P
from gpusudoku.kernels.contraction.nine.keys import partition_at
from tests.boards import puzzle
from tests.contraction.nine.counted import NINE, candidates_of

POWERS = 3 ** np.arange(9)


def surveyed(clues: int) -> NineShares:
    """A board in its first turn."""
    board = puzzle(NINE, clues, clues) if clues else Board.empty(NINE)
    shares = NineShares(candidates_of(board))
    next(shares.turns(1))
    return shares


@pytest.mark.parametrize("clues", [0, 5, 9, 16, 24])
def test_kinds_are_partitions_and_shares_of_names(clues: int) -> None:
    room = surveyed(clues).room
    work, words, naming = room.workspace, room.words, room.naming
    lists, numbering, least = work.lists, work.numbering, [0, 1, 2]
    rng = np.random.default_rng(clues)
    for line, place in [(0, 0), (1, 2), (4, 1), (5, 0)]:
        size = int(lists.size[line])
        kinds: dict[tuple[object, ...], int] = {}
        for e in rng.permutation(size)[:300].tolist():
            partition = int(partition_at(lists.keys[line, e], place))
            first = [int(np.argmax(tables().sets[partition] == s)) for s in least]
            codes = words.codes[line, words.start[line, e] : words.start[line, e + 1], place]
            digits = codes.astype(int)[:, None] // POWERS[first] % 3
            named = [[int((digits[:, s] == name).sum()) for name in least] for s in least]
            shares = tuple(Fraction(n, len(codes)) for row in named for n in row)
            kind = int(naming.kind[line, place, e])
            assert kinds.setdefault((partition, shares), kind) == kind
            total = int(naming.total[line, place, kind])
            kept = naming.names[line, place, kind].ravel().tolist()
            assert tuple(Fraction(n, total) for n in kept) == shares
            number = numbering.number[line, place, partition]
            start, end = naming.first[line, place, number : number + 2]
            assert start <= kind < end
        assert len(set(kinds.values())) == len(kinds)


def test_lines_without_clues_have_one_kind_for_every_partition() -> None:
    naming = surveyed(0).room.naming
    assert (naming.first[:, :, 280] == 280).all()
    assert (naming.names[:, :, :280] == 1).all()
    assert (naming.total[:, :, :280] == 3).all()


@pytest.mark.parametrize("clues", [0, 9, 24])
def test_entries_of_a_turn_are_sorted_by_kinds(clues: int) -> None:
    board = surveyed(clues)
    work, turn = board.room.workspace, board.room.turn
    roles, operands, _, pivot = turn
    for summed in range(3):
        line, size = roles.summed[summed], int(work.lists.size[roles.summed[summed]])
        kinds, listed = pivot.kind[summed, :size], operands.listed[summed, :size]
        assert (np.diff(kinds) >= 0).all()
        assert sorted(listed.tolist()) == list(range(size))
        place = roles.crossing[P] % 3
        assert (board.room.naming.kind[line, place, listed] == kinds).all()
        numbers = operands.entries[summed, :size, P]
        assert (numbers == np.repeat(np.arange(280), np.diff(operands.start[summed]))).all()
    ends = pivot.first[C, roles.shape[C, P]]
    assert ends == pivot.kind[C, work.lists.size[roles.summed[C]] - 1] + 1
