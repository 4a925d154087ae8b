"""The 9x9 contraction against itself: every pair or one of each orbit, wide or narrow, threads."""

from __future__ import annotations

import pytest

from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.counting import count
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.kernels.contraction.nine.arrays import A, B, Q, R
from gpusudoku.kernels.contraction.nine.dot import narrow_enough
from tests.boards import puzzle
from tests.contraction.nine.counted import NINE, candidates_of, contracted, summed


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
        nine = Nine(candidates_of(board))
        nine.prepare(1)
        work = nine.workspace
        lists, roles, tensors = work.lists, work.roles, work.tensors

        def narrow() -> bool:
            return bool(narrow_enough(lists, roles, tensors))

        assert not nine.wide
        assert narrow()
        for role, value in ((R, 1 << 15), (Q, 1 << 30)):
            made = roles.tensor[role]
            before = int(tensors.largest[made])
            tensors.largest[made] = value
            assert not narrow()
            tensors.largest[made] = before
        assert narrow()
        lists.largest[roles.summed[A]] = 1 << 15
        assert not narrow()

    def test_a_wide_board_is_summed_wide(self) -> None:
        """Multiplicities so large that 16 bits do not hold their products."""
        board = puzzle(NINE, 14, 1)
        counts = []
        for times in (1, 200):
            nine = Nine(candidates_of(board))
            for line in nine.workspace.roles.summed[[A, B]]:
                nine.workspace.lists.multiplicity[line] *= times
                nine.workspace.lists.largest[line] *= times
            counts.append(summed(nine, CpuEngine(2))[0])
            assert nine.wide == (times > 1)
        assert counts[1] == 200**2 * counts[0] > 0

    def test_threads_do_not_matter(self) -> None:
        board = puzzle(NINE, 10, 3)
        counts = {count(board, method="contraction", device="cpu", jobs=j).count for j in (1, 2, 5)}
        assert len(counts) == 1
