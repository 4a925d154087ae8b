"""The contraction of one 9x9 board by many threads, stage by stage. Special to 3x3 boxes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cache, partial
from math import prod
from typing import Any

import numpy as np
from numba import typeof
from numpy.typing import NDArray

from gpusudoku.contraction.nine.gpu_sum import DeviceSum
from gpusudoku.contraction.nine.tables import tables
from gpusudoku.jobs.job import called, pieces
from gpusudoku.kernels.compiling import ready
from gpusudoku.kernels.contraction.nine.arrays import A, B, Workspace, make_workspace
from gpusudoku.kernels.contraction.nine.cpu import NineStages
from gpusudoku.kernels.contraction.nine.dot import narrow_enough
from gpusudoku.kernels.contraction.nine.slabs import DOTTED, HIGH, LOW, Slabs, make_slabs
from gpusudoku.kernels.kernel import Kernel

WORKSPACE_BYTES = 180 << 20
"""What a board takes at most (``make_workspace``)."""
SLABS_BYTES = 46 << 20
"""What a thread takes at most (wide ``make_slabs``)."""

CALLS_PER_THREAD = 8
"""Calls into which a step of a tensor is cut for each thread, so that all threads end together."""
CALL_ENTRIES = 1 << 18
"""Entries of a tensor that are worth handing to another thread."""
TASKS = 1 << 14
"""Tasks of the sum, at most."""


@cache
def stages() -> NineStages:
    """The stages, with the tables' types."""
    return NineStages(typeof(tables()))


class Nine:
    """One board: surveyed when made, then prepared, then summed by the task.

    Parameters
    ----------
    candidates
        uint64 (81): the digits still possible in every cell as masks, bit d - 1 for digit d. A
        cell with one candidate has none of its peers hold it.
    symmetric
        Whether pairs that have the same sum are summed once; if not, all are (to check that).
    wide
        Whether slabs take 32 bits even where 16 would do (to check that).
    workspace
        Where it is worked out; by default made for this board.
    """

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        *,
        symmetric: bool = True,
        wide: bool = False,
        workspace: Workspace | None = None,
    ) -> None:
        ready(stages().of_one_board())
        start = time.perf_counter()
        self.workspace = workspace or make_workspace()
        self.pairs = 0
        """Pairs to be summed, once prepared; 0 if there is no solution."""
        self.wide = wide
        self._symmetric, self._prepared = symmetric, False
        work = self.workspace
        stages().allowing.of(1)(candidates, tables(), work.lists)
        self.solvable = stages().survey(tables(), work.scratch, work.lists, work.numbering)
        """Whether there may be a solution, as far as the lists tell."""
        self.seconds = 0.0
        if self.solvable:
            choose = stages().choosing.of(1)
            self.seconds = choose(work.lists, work.numbering, work.roles) / 1e9
        self.listing_seconds = time.perf_counter() - start

    @property
    def factor(self) -> int:
        """What the sum is to be multiplied by: the divisors taken out of the lists."""
        return prod(self.workspace.lists.divisor.tolist()) if self.solvable else 1

    def most_threads(self, memory: int) -> int:
        """See ``Contraction``."""
        return max(1, (memory - WORKSPACE_BYTES) // SLABS_BYTES)

    def prepare(self, threads: int) -> None:
        """Make the tensors and the pairs. What was interrupted is begun anew."""
        if not self.solvable or self._prepared:
            return
        work, roles = self.workspace, self.workspace.roles
        known = tables(), work.lists, work.numbering, roles
        written = work.operands, work.symmetries, work.orbits
        arrange = partial(stages().arrange, self._symmetric, *known, *written)
        [self.pairs] = self.make_tensors(threads, [arrange])
        self.wide = self.wide or not narrow_enough(work.lists, roles, work.tensors)
        if self.wide:
            stages().sum_wide.load()
        self._prepared = True

    def make_tensors(self, threads: int, others: Sequence[Callable[[], int]] = ()) -> list[int]:
        """Write the tensors for the roles that stand in the workspace, each that differs once.

        Others are called meanwhile; returns what comes of them.
        """
        waiting, results = [*others], list[int]()
        for role in range(3):
            if self.workspace.roles.tensor[role] != role:
                continue
            first, second = self._steps(role, CALLS_PER_THREAD * threads)
            done = called([*waiting, *first], threads)
            results += done[: len(waiting)]
            waiting = []
            self.workspace.tensors.largest[role] = max(called(second, threads))
        return results

    def _steps(self, role: int, calls: int) -> Iterator[list[Callable[[], int]]]:
        """What writes the tensor of one crossing role: two steps, of as many calls or fewer."""
        work, roles = self.workspace, self.workspace.roles
        depth, row = int(roles.depth[role]), int(roles.shape[A, role] * roles.shape[B, role])
        calls = min(calls, depth * row // CALL_ENTRIES)

        def cut(stage: Kernel, count: int, *arguments: Any) -> list[Callable[[], int]]:
            return [
                partial(stage, role, piece.start, piece.stop, *arguments)
                for piece in pieces(range(count), max(1, calls))
            ]

        stages().list_orthogonal(role, tables(), work.numbering, roles, work.orthogonal)
        known = work.lists, work.numbering, roles, work.orthogonal
        yield cut(stages().contract_ab, depth, *known, work.intermediate)
        written = roles, work.orthogonal, work.intermediate, work.tensors
        yield cut(stages().contract_c, row, *written)

    @property
    def tasks(self) -> int:
        """Tasks are runs of pairs, sorted by their first partition."""
        return min(self.pairs, TASKS)

    def widened(self) -> Nine | None:
        """See ``Contraction``: with slabs of 32 bits."""
        if self.wide or not self.pairs:
            return None
        wide = copy(self)
        wide.wide = True
        stages().sum_wide.load()
        return wide

    def pairs_of(self, tasks: range) -> tuple[int, int]:
        """The first pair of some consecutive tasks, and the one after their last."""
        return tasks.start * self.pairs // self.tasks, tasks.stop * self.pairs // self.tasks

    def scratch(self) -> Slabs:
        """See ``Contraction``."""
        return make_slabs(self.wide)

    def sum(self, tasks: range, scratch: Slabs, stop: NDArray[np.int64]) -> tuple[int, int]:
        """See ``Contraction``."""
        work, sums = self.workspace, scratch.sums
        sums[:] = 0
        add = stages().sum_wide if self.wide else stages().sum_narrow
        known = work.roles, work.operands, work.tensors, work.orbits
        add(*self.pairs_of(tasks), *known, stop, scratch)
        return (int(sums[HIGH]) << 32) + int(sums[LOW]), int(sums[DOTTED])

    def device_sum(self, gpu: Any) -> Callable[[range], tuple[int, int]]:
        """See ``Contraction``."""
        from gpusudoku.kernels.contraction.nine.cuda import narrow_enough as narrow_on_device

        work = self.workspace
        on_device = DeviceSum(
            gpu,
            roles=work.roles,
            operands=work.operands,
            tensors=work.tensors,
            pairs=work.orbits.pairs[: self.pairs],
            wide=self.wide or not narrow_on_device(work.lists, work.roles, work.tensors),
        )
        return lambda tasks: on_device(*self.pairs_of(tasks))
