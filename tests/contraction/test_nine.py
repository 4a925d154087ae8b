"""The contraction of 9x9 boards against published totals, the search, the join, and itself."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.contraction.nine.batch import contract_cheap
from gpusudoku.contraction.nine.sum import Nine, kernels
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.counting import count, count_many
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.jobs.job import Job
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier
from tests.boards import puzzle, spoilt

NINE = Geometry(3, 3)
GRIDS = 6670903752021072936960
"""Felgenhauer and Jarvis, 2005."""
TOP_BANDS = 948109639680
"""9! * 2612736, from the same paper."""
LARGEST_PAIR = 97_034_115_530_096_640
"""Solutions of the empty board with a given pair of partitions, at most: below 2^57."""


def contracted(board: Board, **how: bool) -> int:
    """The count by contraction, on two threads."""
    simplified = Frontier.of([board], SearchSettings()).simplified(SearchSettings())
    if not len(simplified):
        return 0
    nine, job = Nine(simplified.candidates[0], **how), Job(1)
    CpuEngine(2).contract(nine, job, 1 << 30)
    return job.counts[0]


def searched(board: Board) -> int:
    return count(board, device="cpu", method="search").count


class TestTables:
    def test_every_partition_is_orthogonal_to_36(self) -> None:
        orthogonal = tables().orthogonal
        assert orthogonal.shape == (280, 36)
        assert all(x in orthogonal[y] for x in range(280) for y in orthogonal[x])

    def test_bits_and_lists_say_the_same(self) -> None:
        bits = np.unpackbits(tables().orthogonal_bits.view(np.uint8), axis=1, bitorder="little")
        listed = np.zeros_like(bits)
        np.put_along_axis(listed, tables().orthogonal.astype(np.int64), 1, axis=1)
        assert (bits == listed).all()

    def test_swaps_keep_orthogonality(self) -> None:
        swap, orthogonal = tables().swaps[2, 7], tables().orthogonal
        for x in (0, 17, 279):
            assert set(swap[orthogonal[x]]) == set(orthogonal[swap[x]])
        assert (tables().swaps[2, 7][swap] == np.arange(280)).all()


class TestTotals:
    def test_empty_board(self) -> None:
        assert contracted(Board.empty(NINE)) == GRIDS

    @pytest.mark.parametrize(
        ("name", "total"), [("top-band-cyclic", 7802998272), ("top-band-twisted", 7347449088)]
    )
    def test_top_bands(self, name: str, total: int) -> None:
        board = collection.load(name)
        assert contracted(board) == contracted(board.transposed()) == total

    @pytest.mark.parametrize("series", ["1", "2"])
    def test_boards_of_the_main_document(self, series: str) -> None:
        for letter in "abcdef":
            entry = collection.entry(series + letter)
            assert contracted(collection.load(entry.name)) == entry.count

    def test_no_pair_has_more_solutions_than_64_bits_hold(self) -> None:
        """What the argument for exactness in ``nine_sum`` rests on."""
        nine = Nine(Frontier.of([Board.empty(NINE)], SearchSettings()).candidates[0])
        nine.prepare(2)
        scratch, flag = nine.scratch(), np.zeros(1, np.int64)
        pairs = [nine.sum((i, i + 1), scratch, flag)[0] for i in range(nine.pairs)]
        sizes = nine.space.pairs[: nine.pairs, 2].tolist()
        assert len(pairs) == 5
        assert sum(sizes) == 280**2
        assert sum(pairs) * nine.factor == GRIDS
        sums = [pair // size * nine.factor for pair, size in zip(pairs, sizes, strict=True)]
        assert max(sums) == LARGEST_PAIR < 1 << 57


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
            rows = self.word_maps()[ways[0]]
            boards.append(self.board(rows, [self.sets(x) for x in (0, second, third)]))
            # Orders of the columns in three boxes, and of the partition of the first.
            bands.append(len(ways) * 6**3 * 280 * int((least == pair).sum()))
        return boards, bands

    @staticmethod
    @cache
    def word_maps() -> NDArray[np.int64]:
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
        words = (cls.word_maps() * 3 ** np.arange(9)[None, :, None]).sum(axis=1)
        return tables().partition_of[words]

    @staticmethod
    def sets(partition: int) -> NDArray[np.int64]:
        """int64 (9): the number of every digit's set."""
        word = int(np.flatnonzero(tables().partition_of == partition)[0])
        return word // 3 ** np.arange(9) % 3

    @staticmethod
    def board(rows: NDArray[np.int64], columns: list[NDArray[np.int64]]) -> Board:
        cells = np.zeros((9, 9), np.int64)
        for digit in range(9):
            for box in range(3):
                cells[rows[digit, box], 3 * box + columns[box][digit]] = digit + 1
        assert (cells[:3] > 0).all()
        return Board(cells)


class TestAgainstSearch:
    @pytest.mark.parametrize("clues", range(20, 31))
    def test_random_boards(self, clues: int) -> None:
        board = puzzle(NINE, clues, clues)
        assert contracted(board) == searched(board) > 0

    @pytest.mark.slow
    @pytest.mark.parametrize("clues", [18, 19])
    def test_random_boards_with_many_solutions(self, clues: int) -> None:
        boards = (puzzle(NINE, clues, seed) for seed in range(100))
        totals = [(board, contracted(board)) for board in boards]
        few = [(board, total) for board, total in totals if total < 20_000_000][:2]
        assert few
        for board, total in few:
            assert searched(board) == total

    @pytest.mark.parametrize("clues", [32, 40, 55, 70, 80, 81])
    def test_crowded_boards(self, clues: int) -> None:
        for seed in range(5):
            board = puzzle(NINE, clues, seed)
            assert contracted(board) == searched(board) > 0

    def test_contradictions(self) -> None:
        nothing = 0
        for seed in range(40):
            board = spoilt(puzzle(NINE, 24 + seed % 20, seed), seed)
            total = searched(board)
            assert contracted(board) == total
            nothing += total == 0 and not board.conflicts
        assert nothing > 5

    def test_parts_add_up(self) -> None:
        """From 12 clues on: what no search can visit, one more clue at a time."""
        for clues in (12, 14, 16):
            board = puzzle(NINE, clues, clues)
            cell = int(np.flatnonzero(board.cells == 0)[7])
            parts = []
            for digit in range(1, 10):
                cells = board.cells.copy()
                cells[cell] = digit
                parts.append(contracted(Board(cells)))
            assert sum(parts) == contracted(board) > 10**8


class TestTwins:
    @pytest.mark.parametrize("seed", range(6))
    def test_same_count(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        board = puzzle(NINE, 13 + seed, seed)
        total = contracted(board)
        assert contracted(board.transposed()) == total
        assert contracted(board.relabelled(1 + rng.permutation(9))) == total
        grid = board.grid.reshape(3, 3, 9)
        assert contracted(Board(grid[rng.permutation(3)])) == total
        assert contracted(Board(grid[:, rng.permutation(3)])) == total
        stacks = board.grid.reshape(9, 3, 3)
        assert contracted(Board(stacks[:, rng.permutation(3)])) == total


class TestGuards:
    @pytest.mark.parametrize("clues", [11, 13, 17, 22])
    def test_all_pairs_or_one_of_every_orbit(self, clues: int) -> None:
        board = puzzle(NINE, clues, clues)
        assert contracted(board, symmetric=False) == contracted(board)

    @pytest.mark.slow
    def test_all_pairs_of_two_clues_that_change_places(self) -> None:
        board = puzzle(NINE, 9, 5)
        assert contracted(board, symmetric=False) == contracted(board)

    @pytest.mark.parametrize("clues", [0, 2, 12, 17, 25])
    def test_wide_or_narrow(self, clues: int) -> None:
        board = puzzle(NINE, clues, clues)
        assert contracted(board, wide=True) == contracted(board)

    def test_maxima_that_do_not_fit_take_the_wide_path(self) -> None:
        board = puzzle(NINE, 14, 1)
        nine = Nine(
            Frontier.of([board], SearchSettings()).simplified(SearchSettings()).candidates[0]
        )
        nine.prepare(1)
        space = nine.space
        assert not nine.wide
        assert kernels().narrow_enough(space)
        for slot, value in ((2, 1 << 15), (1, 1 << 30)):
            before = int(space.largest[slot])
            space.largest[slot] = value
            assert not kernels().narrow_enough(space)
            space.largest[slot] = before
        space.multiplicity[space.plan[0], 0] = 1 << 15
        assert not kernels().narrow_enough(space)

    def test_a_wide_board_is_summed_wide(self) -> None:
        """Multiplicities so large that 16 bits do not hold their products."""
        board = puzzle(NINE, 14, 1)
        counts = []
        for times in (1, 200):
            nine = Nine(
                Frontier.of([board], SearchSettings()).simplified(SearchSettings()).candidates[0]
            )
            for line in nine.space.plan[:2]:
                nine.space.multiplicity[line] *= times
            job = Job(1)
            CpuEngine(2).contract(nine, job, 1 << 30)
            assert nine.wide == (times > 1)
            counts.append(job.counts[0])
        assert counts[1] == 200**2 * counts[0] > 0

    def test_threads_do_not_matter(self) -> None:
        board = puzzle(NINE, 10, 3)
        counts = {count(board, method="contraction", device="cpu", jobs=j).count for j in (1, 2, 5)}
        assert len(counts) == 1


class TestBatches:
    def test_cheap_and_dear_boards(self) -> None:
        boards = [puzzle(NINE, clues, clues) for clues in (24, 9, 30, 22, 81, 26)]
        boards.append(spoilt(boards[-1], 3))
        counts, left = contract_cheap(boards, 2, 1 << 30)
        assert left == [1]
        assert [counts[i] for i in range(7) if i != 1] == [
            contracted(board) for i, board in enumerate(boards) if i != 1
        ]
        results = list(count_many(boards, method="contraction", device="cpu"))
        assert [result.count for result in results] == [contracted(board) for board in boards]

    def test_auto_agrees_with_both_methods(self) -> None:
        boards = [puzzle(NINE, 20 + seed % 12, seed) for seed in range(40)]
        auto = list(count_many(boards, device="cpu"))
        assert {result.method for result in auto} == {"search", "contraction"}
        found = [result.count for result in auto]
        for method in ("search", "contraction"):
            other = count_many(boards, device="cpu", method=method)
            assert [result.count for result in other] == found
