"""The contraction of 9x9 boards against the number of grids, top band by top band."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.counting import count_many
from tests.contraction.nine.counted import GRIDS, NINE
from tests.contraction.nine.numbered import order_of

TOP_BANDS = 948109639680
"""9! * 2612736; Felgenhauer and Jarvis, 2005."""


class TestClassesOfTopBands:
    """The grids, counted by the class of their top band, classes found here.

    How many grids complete a band depends only on its three column partitions, up to relabelling.
    The first may be any fixed one of 280; those of the other two are united under the exchanges of
    two digits that leave the first as it is.
    """

    def test_their_grids_add_up_to_all(self) -> None:
        classes, boards, bands = self.classes()
        assert sum(bands) == TOP_BANDS
        assert len(classes) == len(boards)
        assert sum(self.grids()) == GRIDS

    def test_samples_are_spread_over_them(self) -> None:
        """100,000 grids with numbers drawn at random: chi-square of their top bands."""
        draw, number = Random(416).randrange, 100_000
        order = order_of(Board.empty(NINE), threads=2)
        grids = order.at([draw(GRIDS) for _ in range(number)])
        cells = grids.reshape(-1, 9, 3, 3)[:, :3].astype(np.int64) - 1
        sets = np.empty((number, 3, 9), np.int64)
        for stack in range(3):
            for column in range(3):
                digits = cells[:, :, stack, column]
                np.put_along_axis(sets[:, stack], digits, column, axis=1)
        first = np.argsort(sets[:, 0], axis=1, kind="stable")
        x = [
            tables().partition_of[np.take_along_axis(sets[:, stack], first, 1) @ 3 ** np.arange(9)]
            for stack in range(3)
        ]
        assert not x[0].any()
        classes, _, _ = self.classes()
        found = np.searchsorted(classes, self.least()[x[1], x[2]])
        assert (classes[found] == self.least()[x[1], x[2]]).all()
        expected = np.array([number * total / GRIDS for total in self.grids()])
        observed = np.bincount(found, minlength=len(classes))
        squares = ((observed - expected) ** 2 / expected)[expected >= 5]
        assert abs(squares.sum() - len(squares)) < 5 * (2 * len(squares)) ** 0.5

    @classmethod
    @cache
    def grids(cls) -> list[int]:
        """The number of grids of every class."""
        _, boards, bands = cls.classes()
        counts = [result.count for result in count_many(boards, method="contraction")]
        return [number * total for number, total in zip(bands, counts, strict=True)]

    @staticmethod
    @cache
    def least() -> NDArray[np.int64]:
        """int64 (280, 280): the class of a second and a third partition."""
        swaps = [tables().swaps[i, j] for i in range(9) for j in range(i)]
        # Columns of three blocks 123 456 789; and the blocks exchanged.
        fixing = [s.astype(np.int64) for s in swaps if s[0] == 0]
        for one, two in ((0, 3), (3, 6)):
            s = np.arange(280)
            for k in range(3):
                s = tables().swaps[one + k, two + k][s]
            fixing.append(s)
        assert all(s[0] == 0 for s in fixing)
        least = np.arange(280 * 280).reshape(280, 280)
        while True:
            before = least.copy()
            for s in fixing:
                least = np.minimum(least, least[np.ix_(s, s)])
            if (least == before).all():
                return least

    @classmethod
    @cache
    def classes(cls) -> tuple[NDArray[np.int64], list[Board], list[int]]:
        """The classes that have bands, a board of each, and the number of their top bands."""
        least, orthogonal = cls.least(), tables().orthogonal
        found, boards, bands = [], [], []
        maps = cls.band_maps()
        for pair in np.unique(least):
            second, third = divmod(int(pair), 280)
            good = [
                np.isin(maps[:, box], orthogonal[x]) for box, x in enumerate((0, second, third))
            ]
            ways = np.flatnonzero(good[0] & good[1] & good[2])
            if len(ways) == 0:
                continue
            rows = cls.every_map()[ways[0]]
            found.append(pair)
            boards.append(cls.board(rows, [cls.sets(x) for x in (0, second, third)]))
            # Orders of the columns in three boxes, and of the partition of the first.
            bands.append(len(ways) * 6**3 * 280 * int((least == pair).sum()))
        return np.array(found), boards, bands

    @staticmethod
    @cache
    def every_map() -> NDArray[np.int64]:
        """int64 (94080, 9, 3): the row of every digit in every box, for every band map."""
        permutations, found = tables().permutations, []
        counts = np.zeros((1, 3, 3), np.int64)
        choices = np.zeros((1, 0), np.int64)
        hot = np.eye(3, dtype=np.int64)[permutations]
        for _ in range(9):
            grown = counts[:, None] + hot[None]
            keep = np.argwhere((grown <= 3).all(axis=(2, 3)))
            counts = grown[keep[:, 0], keep[:, 1]]
            choices = np.concatenate([choices[keep[:, 0]], keep[:, 1:]], axis=1)
        found = permutations[choices]
        assert len(found) == 94080
        return found

    @classmethod
    @cache
    def band_maps(cls) -> NDArray[np.int16]:
        """int16 (94080, 3): their row partitions."""
        codes = (cls.every_map() * 3 ** np.arange(9)[None, :, None]).sum(axis=1)
        return tables().partition_of[codes]

    @staticmethod
    def sets(partition: int) -> NDArray[np.int64]:
        """int64 (9): the number of every digit's set."""
        code = int(np.flatnonzero(tables().partition_of == partition)[0])
        return code // 3 ** np.arange(9) % 3

    @staticmethod
    def board(rows: NDArray[np.int64], columns: list[NDArray[np.int64]]) -> Board:
        cells = np.zeros((9, 9), np.int64)
        for digit in range(9):
            for box in range(3):
                cells[rows[digit, box], 3 * box + columns[box][digit]] = digit + 1
        assert (cells[:3] > 0).all()
        return Board(cells)
