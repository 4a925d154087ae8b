"""The quick order: every number has a solution of its own, the same with any threads."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.contraction.nine.quick import QuickOrder
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.kernels.contraction.nine.arrays import A, B, C, P
from tests.boards import puzzle
from tests.contraction.nine.counted import GRIDS, NINE, contracted, searched
from tests.contraction.nine.numbered import as_texts, assert_solutions, grids_of, order_of

FEW = [(23, 9), (24, 0), (24, 3), (21, 15), (21, 3)]
"""Clues and seeds of boards with 1,377 to 213,300 solutions; two have a symmetry."""
MANY = [(0, 0), (2, 102), (4, 104), (6, 104), (8, 103), (11, 11), (14, 14), (17, 17)]
"""Clues and seeds of boards with up to 6.7e21 solutions, many or few symmetries."""
CHECK_SUMS = {
    "empty": 2578832199,
    "top-band-twisted": 3526596738,
    "1a": 368641612,
    "1f": 816199637,
    "2c": 3685146566,
}
"""Boards of the collection, and the check sum of some of their solutions."""


def board_of(clues: int, seed: int) -> Board:
    return puzzle(NINE, clues, seed) if clues else Board.empty(NINE)


class Case(NamedTuple):
    """A board with many solutions."""

    name: tuple[int, int]
    board: Board
    order: QuickOrder


@pytest.fixture(scope="module", params=MANY)
def many(request: pytest.FixtureRequest) -> Case:
    board = board_of(*request.param)
    return Case(request.param, board, order_of(board, threads=2))


def spread(count: int, numbers: int) -> list[int]:
    """The first number, the last, and others from all between, evenly, but in disorder."""
    steps = (i * 0x9E3779B97F4A7C15 % 2**64 for i in range(1, numbers - 1))
    return [0, count - 1, *(step * count >> 64 for step in steps)]


class TestAllSolutions:
    @pytest.mark.parametrize(("clues", "seed"), FEW)
    def test_every_solution_has_one_number(self, clues: int, seed: int) -> None:
        """As many as the search finds, all different, all solutions: so these are all."""
        board = puzzle(NINE, clues, seed)
        order = order_of(board)
        assert order.count == searched(board)
        grids = grids_of(order)
        assert len(grids) == len(np.unique(as_texts(grids))) == order.count
        assert_solutions(grids, board)

    @pytest.mark.parametrize("how", [{"symmetric": False}, {"wide": True}])
    @pytest.mark.parametrize(("clues", "seed"), FEW[:3])
    def test_with_other_means(self, clues: int, seed: int, how: dict[str, bool]) -> None:
        board = puzzle(NINE, clues, seed)
        grids, others = grids_of(order_of(board)), grids_of(order_of(board, **how))
        if "wide" in how:
            assert (grids == others).all()
        assert (as_texts(grids) == as_texts(others)).all()

    def test_boards_are_summed_either_way(self) -> None:
        """Those above have stacks summed, and bands."""
        kinds = {order_of(puzzle(NINE, *few)).nine.workspace.roles.summed[A] // 3 for few in FEW}
        assert kinds == {0, 1}

    @pytest.mark.parametrize(("clues", "seed"), FEW[:2])
    def test_of_the_transposed_board(self, clues: int, seed: int) -> None:
        board = puzzle(NINE, clues, seed)
        grids, others = grids_of(order_of(board)), grids_of(order_of(board.transposed()))
        turned = others.reshape(-1, 9, 9).swapaxes(1, 2).reshape(-1, 81)
        assert (as_texts(grids) == as_texts(turned)).all()

    def test_of_a_board_with_one_solution(self) -> None:
        board = puzzle(NINE, 60, 1)
        order = order_of(board)
        assert order.count == 1
        assert_solutions(order.at([0]), board)


class TestTheOrder:
    @pytest.mark.parametrize(("clues", "seed"), FEW[:2])
    def test_is_the_one_that_is_described(self, clues: int, seed: int) -> None:
        order = order_of(puzzle(NINE, clues, seed))
        assert (grids_of(order) == described(order)).all()

    @pytest.mark.parametrize("name", CHECK_SUMS)
    def test_does_not_change(self, name: str) -> None:
        """Who kept a number finds the same solution again."""
        order = order_of(Board.empty(NINE) if name == "empty" else collection.load(name))
        assert crc32(order.at(spread(order.count, 500)).tobytes()) == CHECK_SUMS[name]


class TestManySolutions:
    def test_numbers_have_solutions_of_their_own(self, many: Case) -> None:
        count = many.order.count
        assert count == contracted(many.board)
        numbers = sorted({*spread(count, 2000), *range(1000)})
        grids = many.order.at(numbers)
        assert_solutions(grids, many.board)
        assert len(np.unique(as_texts(grids))) == len(numbers)

    def test_solutions_belong_to_their_pairs(self, many: Case) -> None:
        """Under all relabellings, of which small boards have few."""
        order = many.order
        numbers = spread(order.count, 1000)
        work, grids = order.nine.workspace, order.at(numbers)
        found = []
        for role in B, A:
            line, pivot = work.roles.summed[role], work.roles.crossing[P]
            stack, band = min(line, pivot), max(line, pivot) - 3
            box = grids.reshape(-1, 3, 3, 3, 3)[:, band, :, stack].astype(np.int64)
            sets = np.arange(3) if line < 3 else np.arange(3)[:, None]
            codes = (sets * 3 ** (box - 1)).sum(axis=(1, 2))
            found.append(work.numbering.number[line, pivot % 3, tables().partition_of[codes]])
        members = work.orbits.members[order.locate(numbers).position]
        assert (found[0].astype(int) * work.roles.shape[A, P] + found[1] == members).all()

    def test_company_does_not_matter(self, many: Case) -> None:
        order = many.order
        numbers = spread(order.count, 1500)
        grids = order.at(numbers)
        shuffled = np.random.default_rng(1).permutation(len(numbers))
        assert (order.at([numbers[i] for i in shuffled]) == grids[shuffled]).all()
        for i in 0, 1, 77:
            assert (order.at([numbers[i]]) == grids[i]).all()
        assert (order.at([numbers[5]] * 3) == grids[5]).all()

    @pytest.mark.parametrize("name", [MANY[0], MANY[5], MANY[7]])
    def test_threads_and_width_do_not_matter(self, name: tuple[int, int]) -> None:
        board = board_of(*name)
        order = order_of(board)
        numbers = spread(order.count, 1500)
        expected = order.at(numbers)
        for other in order_of(board, threads=3), order_of(board, wide=True):
            assert other.nine.wide or other.threads == 3
            assert (other.at(numbers) == expected).all()

    def test_digits_are_spread_evenly_over_the_empty_board(self) -> None:
        """Each of 9 digits in each of 81 cells: chi-square of 8 degrees, 81 times."""
        order = order_of(Board.empty(NINE), threads=2)
        draw = Random(3).randrange
        grids = order.at([draw(GRIDS) for _ in range(20_000)])
        found = np.stack([(grids == digit).sum(axis=0) for digit in range(1, 10)])
        expected = 20_000 / 9
        squares = ((found - expected) ** 2 / expected).sum(axis=0)
        assert squares.max() < 35
        assert 6.5 < squares.mean() < 9.5


class TestPlaces:
    def test_pairs_follow_each_other(self) -> None:
        order = order_of(puzzle(NINE, 20, 3))
        place = order.locate(range(order.count))
        assert (np.diff(place.orbit) >= 0).all()
        assert (np.diff(place.position) >= 0).all()
        begins = np.flatnonzero(np.diff(place.position)) + 1
        assert (place.number[begins] == 0).all()
        assert place.number[0] == 0
        inside = np.diff(place.number) == 1
        inside[begins - 1] = True
        assert inside.all()

    def test_arrays_are_taken_as_well(self) -> None:
        order = order_of(puzzle(NINE, 24, 3))
        expected = order.at([5, 3, 8])
        for dtype in np.int64, np.uint64, np.int32, object:
            assert (order.at(np.array([5, 3, 8], dtype)) == expected).all()
        assert order.at([]).shape == (0, 81)

    @pytest.mark.parametrize("name", [(0, 0), (24, 3)])
    def test_there_are_no_other_numbers(self, name: tuple[int, int]) -> None:
        order = order_of(board_of(*name))
        for wrong in (order.count, -1, 10**30, -(10**30)):
            with pytest.raises(IndexError, match=rf"no solution {wrong}: there are {order.count}"):
                order.at([0, wrong, 1])

    def test_a_board_without_solutions_has_no_numbers(self) -> None:
        order = QuickOrder(np.ones(81, np.uint64))
        assert order.count == 0
        assert order.at([]).shape == (0, 81)
        with pytest.raises(IndexError, match="no solution 0: there are 0"):
            order.at([0])


def described(order: QuickOrder) -> NDArray[Any]:
    """All solutions in the quick order, as it is described; from lists, without any tensor."""
    work, orthogonal = order.nine.workspace, np.zeros((280, 280), bool)
    for x, others in enumerate(tables().orthogonal):
        orthogonal[x, others] = True
    summed, crossing = work.roles.summed.tolist(), work.roles.crossing.tolist()
    words = [
        order.words.codes[line, : order.words.start[line, work.lists.size[line]]]
        for line in range(6)
    ]
    partitions = [tables().partition_of[codes] for codes in words]
    grids = []
    for orbit, (b, a, _) in enumerate(work.orbits.pairs[: order.nine.pairs].tolist()):
        least = []
        for c, k, l in product(  # noqa: E741 - as in the formula
            entries(order, C), entries(order, A, a), entries(order, B, b)
        ):
            of_summed = [of_entry(order, role, e) for role, e in ((A, k), (B, l), (C, c))]
            of_crossing = []
            for x in crossing:
                fits = np.ones(len(words[x]), bool)
                for line, chosen in zip(summed, of_summed, strict=True):
                    meeting = partitions[line][chosen[0], x % 3]
                    fits &= orthogonal[partitions[x][:, line % 3], meeting]
                of_crossing.append(np.flatnonzero(fits).tolist())
            least += product(*of_summed, *of_crossing)
        lines = [*summed, *crossing]
        for position in range(*work.orbits.first[orbit : orbit + 2].tolist()):
            for chosen in least:
                codes = {line: words[line][i] for line, i in zip(lines, chosen, strict=True)}
                grids.append(grid_of(order, position, codes))
    return np.array(grids)


def entries(order: QuickOrder, role: int, number: int | None = None) -> range:
    """The entries of a summed role; with a number at P, if it is given."""
    start = order.nine.workspace.operands.start[role]
    return range(start[-1]) if number is None else range(*start[number : number + 2])


def of_entry(order: QuickOrder, role: int, entry: int) -> list[int]:
    """The words of an entry of a summed role."""
    work = order.nine.workspace
    start = order.words.start[work.roles.summed[role]]
    listed = work.operands.listed[role, entry]
    return list(range(start[listed], start[listed + 1]))


def grid_of(order: QuickOrder, position: int, codes: dict[int, Any]) -> list[int]:
    """The solution that has a word in every line, moved to a pair of the orbit."""
    grid = [0] * 81
    digits = order.relabelling.digits[position]
    names = tables().permutations[order.relabelling.names[position]]
    for band, stack, digit in product(range(3), range(3), range(9)):
        row = names[3 + band, codes[3 + band][stack] // 3**digit % 3]
        column = names[stack, codes[stack][band] // 3**digit % 3]
        grid[27 * band + 9 * row + 3 * stack + column] = int(digits[digit]) + 1
    return grid
