"""The contraction of 9x9 boards against the number of grids, top band by top band."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.counting import count_many
from tests.contraction.nine.counted import GRIDS

TOP_BANDS = 948109639680
"""9! * 2612736; Felgenhauer and Jarvis, 2005."""


class TestClassesOfTopBands:
    """The grids, counted by the class of their top band, classes found here."""

    def test_their_grids_add_up_to_all(self) -> None:
        boards, bands = self.classes()
        assert sum(bands) == TOP_BANDS
        counts = [result.count for result in count_many(boards, method="contraction")]
        assert sum(number * total for number, total in zip(bands, counts, strict=True)) == GRIDS

    def classes(self) -> tuple[list[Board], list[int]]:
        """One board a class, and the number of top bands in the class.

        How many grids complete a band depends only on its three column partitions, up to
        relabelling. The first may be any fixed one of 280; those of the other two are united
        under the exchanges of two digits that leave the first as it is.
        """
        orthogonal = tables().orthogonal
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
                break
        boards, bands = [], []
        maps = self.band_maps()
        for pair in np.unique(least):
            second, third = divmod(int(pair), 280)
            good = [
                np.isin(maps[:, box], orthogonal[x]) for box, x in enumerate((0, second, third))
            ]
            ways = np.flatnonzero(good[0] & good[1] & good[2])
            if len(ways) == 0:
                continue
            rows = self.every_map()[ways[0]]
            boards.append(self.board(rows, [self.sets(x) for x in (0, second, third)]))
            # Orders of the columns in three boxes, and of the partition of the first.
            bands.append(len(ways) * 6**3 * 280 * int((least == pair).sum()))
        return boards, bands

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
