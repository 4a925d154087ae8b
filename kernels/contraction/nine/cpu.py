"""The contraction of 9x9 boards, compiled for the CPU. Special to 3x3 boxes.

Read in this order: ``nine_space`` (what is where), ``nine_maps``, ``nine_plan``, ``nine_tensors``,
``nine_orbits``, ``nine_sum``. A board is counted in stages, which many threads can share:
``survey``; for every role ``relate``, ``halve`` and ``complete``; ``pair_up``; ``sum_pairs``.
``count_boards`` runs all of them, board after board, on one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from numba import boolean, float64, int16, int32, int64, typeof, uint64
from numba.extending import register_jitable

from gpusudoku.kernels.contraction.nine.arrays import (
    HIGH,
    LOW,
    PAIRS,
    A,
    B,
    C,
    P,
    Tables,
    make_slabs,
    make_space,
)
from gpusudoku.kernels.contraction.nine.dot import build_narrow_enough, build_sum_pairs
from gpusudoku.kernels.contraction.nine.maps import build_allow, build_list_all
from gpusudoku.kernels.contraction.nine.orbits import build_arrange, build_pair_up
from gpusudoku.kernels.contraction.nine.plan import build_choose
from gpusudoku.kernels.contraction.nine.tensors import build_complete, build_halve, build_relate
from gpusudoku.kernels.jit import Jit, compiled

Kernel = Callable[..., Any]

FACTOR, STATUS, RESULTS = 2, 3, 4
"""Columns of the results of ``count_boards``, after LOW and HIGH of the sum; and their number."""
COUNTED, LEFT = 0, 1
"""STATUS: done, or left to be counted by stages: too expensive for one thread, or too wide."""


def build_survey(jit: Jit) -> Kernel:
    """Make ``survey(candidates, tables, space)``: lists and plan.

    candidates is uint64 (81). Returns the price in nanoseconds, or -1 if there is no solution.
    """
    allow, list_all, choose = build_allow(jit), build_list_all(jit), build_choose(jit)

    @jit
    def survey(candidates, tables, space):
        allow(candidates, tables, space)
        if not list_all(tables, space):
            return -1.0
        return choose(space)

    return survey


def build_pair(jit: Jit) -> Kernel:
    """Make ``pair(tables, symmetric, space)``: everything that the sum needs but the tensors."""
    arrange, pair_up = build_arrange(jit), build_pair_up(jit)

    @jit
    def pair(tables, symmetric, space):
        arrange(space)
        pair_up(tables, symmetric, space)

    return pair


def build_count_boards(jit: Jit) -> Kernel:
    """Make ``count_boards(candidates, most, tables, space, slabs, results)``: all stages in turn.

    candidates is uint64 (B, 81), results int64 (B, RESULTS). A board that costs more than ``most``
    nanoseconds, or needs wide slabs, is LEFT. The number of solutions of any other is
    (HIGH * 2^32 + LOW) * FACTOR; each of the three is below 2^63, their product need not be.
    """
    survey, pair = build_survey(jit), build_pair(jit)
    relate, halve, complete = build_relate(jit), build_halve(jit), build_complete(jit)
    narrow_enough, sum_pairs = build_narrow_enough(jit), build_sum_pairs(jit, int16, int32)

    @jit
    def count_boards(candidates, most, tables, space, slabs, results):
        for board in range(candidates.shape[0]):
            result = results[board]
            result[:] = 0
            price = survey(candidates[board], tables, space)
            if price < 0.0:
                continue
            result[STATUS] = LEFT
            if price > most:
                continue
            plan = space.plan
            for role in range(3):
                if relate(role, tables, space):
                    place = plan[P + role] % 3
                    halve(role, 0, space.occurring[plan[P + role], plan[C] % 3], space)
                    row = space.occurring[plan[A], place] * space.occurring[plan[B], place]
                    space.largest[role] = complete(role, 0, row, space)
            pair(tables, True, space)
            if not narrow_enough(space):
                continue
            slabs.sums[:] = 0
            sum_pairs(0, plan[PAIRS], space, slabs)
            result[LOW], result[HIGH] = slabs.sums[LOW], slabs.sums[HIGH]
            result[FACTOR], result[STATUS] = 1, COUNTED
            for line in range(6):
                result[FACTOR] *= space.divisor[line]

    return count_boards


class Kernels:
    """The compiled functions, each compiled (or loaded) at first use."""

    def __init__(self, tables: Tables) -> None:
        self._jit = register_jitable(_nrt=False)
        self._tables, self._space = typeof(tables), typeof(make_space())
        self._narrow, self._wide = typeof(make_slabs(wide=False)), typeof(make_slabs(wide=True))

    def load(self) -> None:
        """Compile what one board needs; the wide sum only once a board does."""
        for name in (
            "survey",
            "relate",
            "halve",
            "complete",
            "pair",
            "narrow_enough",
            "sum_narrow",
        ):
            getattr(self, name)

    @cached_property
    def survey(self) -> Kernel:
        """See ``build_survey``."""
        return compiled(build_survey(self._jit), (uint64[::1], self._tables, self._space))

    @cached_property
    def relate(self) -> Kernel:
        """See ``nine_tensors.build_relate``."""
        return compiled(build_relate(self._jit), (int64, self._tables, self._space))

    @cached_property
    def halve(self) -> Kernel:
        """See ``nine_tensors.build_halve``."""
        return compiled(build_halve(self._jit), (int64, int64, int64, self._space))

    @cached_property
    def complete(self) -> Kernel:
        """See ``nine_tensors.build_complete``."""
        return compiled(build_complete(self._jit), (int64, int64, int64, self._space))

    @cached_property
    def pair(self) -> Kernel:
        """See ``build_pair``."""
        return compiled(build_pair(self._jit), (self._tables, boolean, self._space))

    @cached_property
    def narrow_enough(self) -> Kernel:
        """See ``nine_sum.build_narrow_enough``."""
        return compiled(build_narrow_enough(self._jit), (self._space,))

    @cached_property
    def sum_narrow(self) -> Kernel:
        """``sum_pairs`` with 16-bit entries; see ``nine_sum.build_sum_pairs``."""
        sum_pairs = build_sum_pairs(self._jit, int16, int32)
        return compiled(sum_pairs, (int64, int64, self._space, self._narrow))

    @cached_property
    def sum_wide(self) -> Kernel:
        """``sum_pairs`` with 32-bit entries."""
        sum_pairs = build_sum_pairs(self._jit, int32, int64)
        return compiled(sum_pairs, (int64, int64, self._space, self._wide))

    @cached_property
    def count_boards(self) -> Kernel:
        """See ``build_count_boards``."""
        results = int64[:, ::1]
        arguments = (
            uint64[:, ::1], float64, self._tables, self._space, self._narrow, results,
        )  # fmt: skip
        return compiled(build_count_boards(self._jit), arguments)
