"""Shares: the solutions of a 9x9 board with each digit in each cell. Special to 3x3 boxes.

They take three *pivot sums*, in each of which another crossing line is the pivot P. A pivot sum has
an *environment* for each of the three boxes of its pivot: the number of solutions for each pair of
classes of entries of the two lines that cross there. One call of the kernel adds pairs to the
environments until these are full; then they are turned into shares and cleared. All threads
together work on the pivot sums of one board; of many boards each thread takes one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from math import prod

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.symmetries import average_over_orbits, divide_exactly
from gpusudoku.contraction.nine.sum import NineContraction, stages, tables
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.jobs.job import Job, Task, run_on_threads, split_range
from gpusudoku.jobs.watch import watching
from gpusudoku.kernels.compile_many import load_kernels
from gpusudoku.kernels.contraction.nine.arrays import P, Symmetries, make_workspace
from gpusudoku.kernels.contraction.nine.environments import LIMB, ShareSums
from gpusudoku.kernels.contraction.nine.order import Maps
from gpusudoku.kernels.contraction.nine.pair_sums import is_narrow, make_slabs
from gpusudoku.kernels.contraction.nine.pivot_sums import (
    ADDED_MEMBERS,
    END_PAIR,
    NEXT_PAIR,
    PENDING,
    PENDING_LIMIT,
    ClassifiedLists,
    EntryClasses,
    make_class_sums,
    make_pivot_sum_arrays,
)
from gpusudoku.kernels.contraction.nine.shares import ShareStages

SHARES = 9 * 81
"""The number of shares. Index 9 * cell + digit - 1 is that of a digit in a cell."""
INDICES = np.arange(SHARES).reshape(3, 3, 3, 3, 9)
"""The indices of the shares by band, row in the band, stack, column in the stack, and digit."""
CHEAP_SECONDS = 0.005
"""The pivot sums of a board with a lower estimate are not cut into more tasks than threads, and its
memory, about 10 MB, is kept."""
MAX_KEPT_MEMORIES = 8
"""The largest number of memories that are kept for other boards."""
MAX_PENDING = 1 << 62
"""The largest number of solutions that an environment holds, so that 64 bits suffice."""
TASKS_PER_WORKER = 8
"""The smallest number of tasks of a pivot sum for each worker, unless the board is cheap."""
TASK_SECONDS = 0.02
"""A task takes about this long at most, as an interrupt waits for it."""
ALONE_SECONDS = 0.002
"""A board that takes less is left to one thread, as starting others would take longer."""
EXPENSIVE_SECONDS = 0.05
"""Of many boards, one that takes longer than this is left to all threads together."""

BoxShares = tuple[NDArray[np.intp], NDArray[np.object_]]
"""The shares of a box: their indices, and their values."""


@cache
def share_stages() -> ShareStages:
    """Return the compiled stages that make shares."""
    return ShareStages(tables().layout)


class ShareMemory:
    """Memory for the shares of any board, one board after another; only touched pages take memory.

    It has the arrays of a board and of its current pivot sum, and those of every thread.
    """

    def __init__(self) -> None:
        self.workspace = make_workspace()
        self.maps = Maps()
        self.entry_classes = EntryClasses()
        self.pivot_sum = make_pivot_sum_arrays(self.workspace.roles)
        self.max_seconds = 0.0
        """The estimated time of the most expensive board so far."""
        self._adders: dict[tuple[int, bool], EnvironmentAdder] = {}

    def adder(self, thread: int, wide: bool) -> EnvironmentAdder:
        """Return the adder of a thread; threads are numbered from 0."""
        if (thread, wide) not in self._adders:
            self._adders[thread, wide] = EnvironmentAdder(wide)
        return self._adders[thread, wide]


_kept_memories: deque[ShareMemory] = deque(maxlen=MAX_KEPT_MEMORIES)


def take_memory() -> ShareMemory:
    """Take kept memory, or make new memory, which takes longer than a cheap board."""
    with suppress(IndexError):
        return _kept_memories.pop()
    return ShareMemory()


def keep_memory(memory: ShareMemory) -> None:
    """Keep memory for another board, unless an expensive board has made it large."""
    if memory.max_seconds < CHEAP_SECONDS:
        _kept_memories.append(memory)


class EnvironmentAdder:
    """Adds pairs to environments, in the memory of one thread; ``wide`` is that of the slabs."""

    def __init__(self, wide: bool) -> None:
        self.slabs = make_slabs(wide)
        self.class_sums = make_class_sums(wide)
        self._wide = wide
        self._share_sums = ShareSums()
        self._buffer = np.zeros(0, np.int64)
        self._environments = self._buffer
        """The environments of the pivot sum, a part of the buffer."""

    def begin(self, memory: ShareMemory, max_pending: int) -> None:
        """Clear the environments for the pivot sum of the board in a memory."""
        # Not the memory itself, which refers to this object: the cycle would delay its release.
        self._workspace = memory.workspace
        self._entry_classes = memory.entry_classes
        self._pivot_sum = memory.pivot_sum
        size = int(self._pivot_sum.pivot.size[1])
        if len(self._buffer) < size:
            self._buffer = np.zeros(size, np.int64)
        self._environments = self._buffer[:size]
        self._environments[:] = 0
        state = self.class_sums.state
        state[PENDING] = 0
        state[PENDING_LIMIT] = max_pending

    def add(self, pairs: range, stop: NDArray[np.int64]) -> Iterator[BoxShares]:
        """Add pairs to the environments; yield shares whenever the environments are full."""
        call = share_stages()
        add_pairs = call.sum_environments_wide if self._wide else call.sum_environments_narrow
        tensors = self._workspace.tensors
        state = self.class_sums.state
        # The kernel moves NEXT_PAIR and ADDED_MEMBERS forward, and stops at a full environment.
        state[NEXT_PAIR] = pairs.start
        state[END_PAIR] = pairs.stop
        state[ADDED_MEMBERS] = 0
        while state[NEXT_PAIR] < state[END_PAIR]:
            check_cancelled()
            add_pairs(
                *self._pivot_sum, tensors, stop, self._environments, self.slabs, self.class_sums
            )
            # Pairs remain, so the environments are full.
            if state[NEXT_PAIR] < state[END_PAIR]:
                yield from self.flush()

    def flush(self) -> Iterator[BoxShares]:
        """Yield the shares that the environments hold, one box at a time, and clear these."""
        state = self.class_sums.state
        if state[PENDING] == 0:
            return
        work = self._workspace
        roles, _, _, pivot = self._pivot_sum
        factor = prod(work.lists.divisor.tolist())
        pivot_line = int(roles.crossing[P])
        for summed_role in range(3):
            check_cancelled()
            share_stages().collect(
                summed_role, tables(), work.indexing, self._entry_classes, roles, pivot,
                self._environments, self._share_sums,
            )  # fmt: skip
            summed_line = int(roles.summed[summed_role])
            yield locate_shares(pivot_line, summed_line, exact_shares(self._share_sums, factor))
        self._environments[:] = 0
        state[PENDING] = 0


def exact_shares(sums: ShareSums, factor: int) -> NDArray[np.object_]:
    """Make the shares of a box Python's integers (9, 3, 3), by digit and slots.

    A share is a sum of fractions whose denominators are products of two totals of slot counts. For
    each two totals ``sums`` has the sum of the numerators, in two limbs::

        numerator = high limb * 2^LIMB + low limb
    """
    shares = np.zeros((9, 3, 3), object)
    for pivot_total, summed_total in zip(*np.nonzero(sums.is_written), strict=True):
        low, high = sums.shares[pivot_total, summed_total]
        # Python's integers are slow, so they are used only where 64 bits do not suffice.
        bound = (int(low.max()) + (int(high.max()) << LIMB)) * factor
        dtype = np.int64 if bound < 1 << 63 else object
        numerators = (low.astype(dtype) + (high.astype(dtype) << LIMB)) * factor
        shares += divide_exactly(numerators, int(pivot_total * summed_total))
    return shares


def locate_shares(pivot_line: int, summed_line: int, shares: NDArray[np.object_]) -> BoxShares:
    """Find the indices of the 81 shares of the box of two lines.

    The shares are (9, 3, 3): by digit, slot in the pivot line and slot in the summed line.
    """
    band = pivot_line
    stack = summed_line
    if pivot_line < 3:  # the pivot is a stack, and its slots are columns
        band = summed_line
        stack = pivot_line
        shares = shares.swapaxes(1, 2)
    indices = INDICES[band - 3, :, stack].transpose(2, 0, 1)
    return indices.ravel(), shares.ravel()


def share_images(symmetries: Symmetries, number: int) -> NDArray[np.intp]:
    """Map every share to the index of its image under a symmetry: intp (SHARES)."""
    slots = tables().permutations[symmetries.slot_permutations[number]]  # (6, 3), by line and slot
    band, row, stack, column, digit = np.indices(INDICES.shape)
    new_row = slots[3 + band, row]
    new_column = slots[stack, column]
    new_digit = symmetries.digits[number][digit]
    images: NDArray[np.intp] = INDICES[band, new_row, stack, new_column, new_digit].ravel()
    return images


def count_nine_shares(candidates: NDArray[np.uint64], threads: int) -> NDArray[np.object_]:
    """Count the solutions with each digit in each cell: Python's integers, object (81, 9).

    ``candidates`` is uint64 (81), as for ``NineContraction``.
    """
    memory = take_memory()
    shares = NineShares(candidates, memory=memory).run(threads)
    keep_memory(memory)  # not after an error, which may have left it in any state
    return shares


def count_many_nine_shares(boards: NDArray[np.uint64], threads: int) -> NDArray[np.object_]:
    """Count the shares of many boards, candidates uint64 (B, 81): Python's integers (B, 81, 9)."""
    shares = np.zeros((len(boards), 81, 9), object)

    def count_alone(index: int, memory: ShareMemory, stop: NDArray[np.int64]) -> bool:
        """Write the shares of a board; False if it is too expensive, or needs wide slabs."""
        # The constructor only lists maps, which is cheap, and estimates the time.
        board = NineShares(boards[index], memory=memory)
        if board.seconds > EXPENSIVE_SECONDS:
            return False
        sums = np.zeros(SHARES, object)
        adder = memory.adder(0, wide=False)
        for pairs in board.pivot_sums(1):
            if board.wide:
                return False
            adder.begin(memory, MAX_PENDING)
            for indices, box_shares in chain(adder.add(range(pairs), stop), adder.flush()):
                sums[indices] += box_shares
        shares[index] = board.average(sums)
        return True

    memories = [take_memory() for _ in range(min(threads, len(boards)))]
    are_written = run_on_threads(count_alone, range(len(boards)), memories)
    for memory in memories:
        keep_memory(memory)
    # All threads together take the expensive boards, one after the other.
    for index, is_written in enumerate(are_written):
        if not is_written:
            shares[index] = count_nine_shares(boards[index], threads)
    return shares


class NineShares:
    """The shares of one board, from a pivot sum for each of three pivots.

    For ``candidates``, ``symmetric`` and ``wide`` see ``NineContraction``.

    ``max_pending`` is the largest number of solutions that an environment holds; tests lower it.
    """

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        *,
        symmetric: bool = True,
        wide: bool = False,
        max_pending: int = MAX_PENDING,
        memory: ShareMemory | None = None,
    ) -> None:
        load_kernels([*stages().of_one_board(), stages().list_maps, *share_stages().of_one_board()])
        self.memory = memory or ShareMemory()
        self.max_pending = max_pending
        self.contraction = NineContraction(
            candidates, symmetric=symmetric, workspace=self.memory.workspace
        )
        self.wide = wide
        """True if the current pivot sum needs wide slabs."""
        self._symmetric = symmetric
        self._always_wide = wide
        self._symmetry_count = 0
        self._pivot_lines = range(0)
        """The lines that become the pivot: all bands or all stacks."""
        self.seconds = 0.0
        """The estimated time on one core: see ``Contraction``."""
        if self.contraction.is_solvable:
            nanoseconds = [self._choose_roles(line) for line in range(6)]
            # Every crossing line becomes the pivot once; choose the side that is cheaper.
            stacks = sum(nanoseconds[:3])
            bands = sum(nanoseconds[3:])
            self.seconds = min(stacks, bands) / 1e9
            self._pivot_lines = range(3) if stacks < bands else range(3, 6)

    def run(self, threads: int) -> NDArray[np.object_]:
        """Count the shares; see ``count_nine_shares``."""
        sums = np.zeros(SHARES, object)
        if self.seconds < ALONE_SECONDS:
            threads = 1
        workers = [partial(self._work, thread) for thread in range(threads)]
        if self.seconds < CHEAP_SECONDS:  # more tasks would cost more than they save
            max_tasks = threads
        else:
            max_tasks = max(TASKS_PER_WORKER * threads, int(self.seconds / TASK_SECONDS))
        for pairs in self.pivot_sums(threads):
            # Without a watch: the job reports no progress of its own.
            with watching(None):
                job = Job(SHARES)
            tasks = [Task(chunk, 0.0) for chunk in split_range(range(pairs), max_tasks)]
            job.run(tasks, workers)
            sums += job.numbers
        return self.average(sums)

    def _work(self, thread: int, job: Job) -> float:
        """Add the pairs of tasks, as one of the threads of a pivot sum; see ``Worker``."""
        sums = np.zeros(SHARES, object)
        adder = self.memory.adder(thread, self.wide)
        adder.begin(self.memory, self.max_pending)
        # Boxes are added up in this thread, and reported to the job once, at the end.
        tasks = iter(job.take, None)
        boxes = (box for task in tasks for box in adder.add(task.payload, job.flag))
        for indices, shares in chain(boxes, adder.flush()):
            sums[indices] += shares
        job.report(enumerate(sums.tolist()))
        return 0.0  # the time at work is not used

    def pivot_sums(self, threads: int) -> Iterator[int]:
        """Prepare one pivot sum after another; yield the number of its pairs, to be added then."""
        if not self._pivot_lines:
            return
        memory = self.memory
        memory.max_seconds = max(memory.max_seconds, self.seconds)
        work = memory.workspace
        lists = work.lists
        roles = work.roles
        call = share_stages()
        stages().list_maps(tables(), work.scratch, lists, memory.maps)
        call.classify_entries(lists, work.indexing, memory.maps, memory.entry_classes)
        if self._symmetric:
            self._symmetry_count = call.find_symmetries(lists.masks, tables(), work.symmetries)
        classified_lists = ClassifiedLists(tables(), lists, work.indexing, memory.entry_classes)

        # The tensors belong to the summed roles. While these stay the same, the tensor of a
        # crossing line is where it was written, whatever role the line had then.
        lines_of_tensors: list[int] = []
        tensor_of_line: dict[int, int] = {}
        for pivot_line in self._pivot_lines:
            check_cancelled()
            self._choose_roles(pivot_line)
            summed_lines = roles.summed.tolist()
            crossing_lines = roles.crossing.tolist()
            if summed_lines == lines_of_tensors:
                roles.tensor[:] = [tensor_of_line[line] for line in crossing_lines]
            else:
                self.contraction.make_tensors(threads)
            lines_of_tensors = summed_lines
            tensor_of_line = dict(zip(crossing_lines, roles.tensor.tolist(), strict=True))
            self.wide = self._always_wide or not is_narrow(lists, roles, work.tensors)
            if self.wide:
                call.sum_environments_wide.load()
            yield call.make_pivot_sum(
                self._symmetry_count, classified_lists, work.symmetries, memory.pivot_sum
            )

    def _choose_roles(self, pivot_line: int) -> float:
        """Write the roles of the pivot sum of a line; return its estimated time in nanoseconds."""
        work = self.memory.workspace
        nanoseconds: float = share_stages().choose_pivot_roles(
            pivot_line, work.lists, work.indexing, work.roles
        )
        return nanoseconds

    def average(self, sums: NDArray[np.object_]) -> NDArray[np.object_]:
        """Make shares (81, 9) from the sums of all pivot sums; the caller checks their totals."""
        symmetries = self.memory.workspace.symmetries
        images = [share_images(symmetries, number) for number in range(self._symmetry_count)]
        return average_over_orbits(sums, images).reshape(81, 9)
