"""The contraction of one 9x9 board by many threads, stage by stage. Special to 3x3 boxes."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.nine.tables import tables
from gpusudoku.kernels.contraction.nine.arrays import (
    DOTTED,
    HIGH,
    LOW,
    PAIRS,
    A,
    B,
    C,
    P,
    Slabs,
    make_slabs,
    make_space,
)
from gpusudoku.kernels.contraction.nine.cpu import Kernels

SPACE_BYTES = 180 << 20
"""What a board takes at most (``make_space``)."""
SLAB_BYTES = 46 << 20
"""What a thread takes at most (wide ``make_slabs``)."""

PIECES = 8
"""Pieces of every stage for each thread, so that all end together."""
PIECE_ENTRIES = 1 << 18
"""Entries of a tensor that are worth handing to another thread."""
TASKS = 1 << 14
"""Tasks of the sum, at most."""


@cache
def kernels() -> Kernels:
    """The compiled stages."""
    return Kernels(tables())


class Nine:
    """One board: surveyed when made, then prepared, then summed by the task.

    Parameters
    ----------
    candidates
        uint64 (81): the digits still possible in every cell as masks, bit d - 1 for digit d. A
        cell with one candidate has none of its peers hold it.
    symmetric
        Whether pairs that count alike are summed once; if not, all are (to check that).
    wide
        Whether slabs take 32 bits even where 16 would do (to check that).
    """

    def __init__(
        self, candidates: NDArray[np.uint64], *, symmetric: bool = True, wide: bool = False
    ) -> None:
        kernels().load()
        start = time.perf_counter()
        self.space = make_space()
        self.wide = wide
        self._symmetric = symmetric
        cost = kernels().survey(candidates, tables(), self.space)
        self._solvable = cost >= 0
        self.seconds = max(cost, 0.0) / 1e9
        self.listing_seconds = time.perf_counter() - start

    @property
    def factor(self) -> int:
        """What the sum is to be multiplied by: the divisors taken out of the lists."""
        return prod(self.space.divisor.tolist())

    @property
    def pairs(self) -> int:
        """Pairs to be summed, once prepared; 0 if there is no solution."""
        return int(self.space.plan[PAIRS]) if self._solvable else 0

    def products_of(self, first: int, last: int) -> int:
        """Products that the sum over some pairs adds up, at most; once prepared."""
        space, plan = self.space, self.space.plan
        b, a = space.pairs[first:last, :2].T
        lengths = np.diff(space.start[:2], axis=1)
        return int((lengths[0, a] * lengths[1, b]).sum() * space.size[plan[C]])

    def most_threads(self, memory: int) -> int:
        """See ``Contraction``."""
        return max(1, (memory - SPACE_BYTES) // SLAB_BYTES)

    def prepare(self, threads: int) -> None:
        """Make the tensors and the pairs."""
        if not self._solvable:
            return
        stages, space = kernels(), self.space
        with ThreadPoolExecutor(threads) as pool:
            pairing = pool.submit(stages.pair, tables(), self._symmetric, space)
            for role in range(3):
                if stages.relate(role, tables(), space):
                    self._make_tensor(role, pool, PIECES * threads)
            pairing.result()
        self.wide = self.wide or not stages.narrow_enough(space)
        _ = stages.sum_wide if self.wide else None  # compiled now: in a thread Ctrl-C would wait

    def _make_tensor(self, role: int, pool: ThreadPoolExecutor, pieces: int) -> None:
        stages, space, plan = kernels(), self.space, self.space.plan
        line = int(plan[P + role])
        rows = int(space.occurring[line, plan[C] % 3])
        length = int(np.prod(space.occurring[plan[[A, B]], line % 3]))
        pieces = min(pieces, rows * length // PIECE_ENTRIES)
        if pieces < 2:
            stages.halve(role, 0, rows, space)
            space.largest[role] = stages.complete(role, 0, length, space)
            return
        halved = [pool.submit(stages.halve, role, *ends, space) for ends in ranges(rows, pieces)]
        for piece in halved:
            piece.result()
        completed = [
            pool.submit(stages.complete, role, *ends, space) for ends in ranges(length, pieces)
        ]
        space.largest[role] = max(piece.result() for piece in completed)

    @property
    def tasks(self) -> int:
        """Tasks are runs of pairs, sorted by their first partition."""
        return min(self.pairs, TASKS)

    def pairs_of(self, tasks: range) -> tuple[int, int]:
        """The first pair of some consecutive tasks, and the one after their last."""
        return tasks.start * self.pairs // self.tasks, tasks.stop * self.pairs // self.tasks

    def scratch(self) -> Slabs:
        """See ``Contraction``."""
        return make_slabs(self.wide)

    def sum(self, tasks: range, slabs: Slabs, stop: NDArray[np.int64]) -> tuple[int, int]:
        """See ``Contraction``. It does not look at ``stop``: a task is soon done."""
        slabs.sums[:] = 0
        add = kernels().sum_wide if self.wide else kernels().sum_narrow
        add(*self.pairs_of(tasks), self.space, slabs)
        return (int(slabs.sums[HIGH]) << 32) + int(slabs.sums[LOW]), int(slabs.sums[DOTTED])

    def device_sum(self, gpu: Any) -> Callable[[range], tuple[int, int]]:
        """See ``Contraction``."""
        return DeviceSum(self, gpu)


class DeviceSum:
    """What is summed, on a GPU."""

    def __init__(self, nine: Nine, gpu: Any) -> None:
        self._nine, self._gpu, space, xp = nine, gpu, nine.space, gpu.xp
        plan = space.plan.tolist()
        lines = plan[A : C + 1]
        places = [crossing % 3 for crossing in plan[P : P + 3]]
        sizes = np.array([[space.occurring[line, place] for place in places] for line in lines])
        tensors = [
            xp.asarray(space.tensors[slot, : int(np.prod(sizes[:, role]))])
            for role, slot in enumerate(space.slot.tolist())
        ]
        terms = int(space.size[plan[C]])
        pairs = xp.asarray(space.pairs[: nine.pairs])
        maps, start = xp.asarray(space.maps), xp.asarray(space.start)
        self._arrays = pairs, *tensors, xp.asarray(sizes), maps, start, terms

    def __call__(self, tasks: range) -> tuple[int, int]:
        """The sum of some tasks, and how many products were added up, at most."""
        from gpusudoku.kernels.contraction.nine.cuda import kernel

        first, last = self._nine.pairs_of(tasks)
        sums = self._gpu.xp.zeros(last - first, np.uint64)
        kernel()[last - first, self._gpu.tuning.sum_threads_per_block](first, *self._arrays, sums)
        found = self._gpu.host(sums).tolist()  # waits for the kernel
        sizes = self._nine.space.pairs[first:last, 2].tolist()
        total = sum(one * size for one, size in zip(found, sizes, strict=True))
        return total, self._nine.products_of(first, last)


def ranges(count: int, pieces: int) -> list[tuple[int, int]]:
    """0 to count in at most so many pieces of nearly the same size, none for 0."""
    if count == 0:
        return []
    pieces = max(1, min(count, pieces))
    ends = np.linspace(0, count, pieces + 1, dtype=np.int64).tolist()
    return list(pairwise(ends))
