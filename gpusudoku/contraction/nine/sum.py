"""The contraction of one 9x9 board by many threads or a GPU. Special to 3x3 boxes.

``docs/contraction.md``, section 5, derives it. The six lines have *roles*: the entries of A, B and
C are summed, and of the crossing lines P, Q and R, which have a *tensor* each, P is the pivot. W_X
of three partitions is the number of maps of X that are orthogonal to them. A *pair* (a, b) has a
partition of A and one of B at the pivot. With k and l entries of A and B that have these, c entries
of C, and m multiplicities, the solutions of the pair are, up to the divisors of the lists,

    S(a, b) = sum over c of  m(c) W_P(a, b, c_P) dot(U[c_Q], V[c_R])
    U[c][k, l] = W_Q(k_Q, l_Q, c)    V[c][k, l] = W_R(k_R, l_R, c) m(k) m(l)

U and V are laid out in *slabs*: blocking buffers of a thread that fit into a second-level cache.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import permutations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.jobs.job import called, pieces
from gpusudoku.kernels.compile_many import ready
from gpusudoku.kernels.contraction.nine import pair_sums
from gpusudoku.kernels.contraction.nine.arrays import (
    PARTITIONS,
    A,
    B,
    C,
    P,
    Q,
    R,
    Tables,
    Workspace,
    make_workspace,
)
from gpusudoku.kernels.contraction.nine.cpu import NineStages
from gpusudoku.kernels.contraction.nine.pair_sums import (
    DOTTED,
    HIGH,
    LOW,
    Slabs,
    make_slabs,
    narrow_enough,
)
from gpusudoku.kernels.kernel import Kernel

WORKSPACE_BYTES = 180 << 20
"""Bytes of a board, at most (``make_workspace``)."""
SLABS_BYTES = 46 << 20
"""Bytes of a thread, at most (wide ``make_slabs``)."""
CALLS_PER_THREAD = 8
"""Calls into which a step of a tensor is cut for each thread, so that all threads end together."""
CALL_ENTRIES = 1 << 18
"""Entries of a tensor that are worth handing to another thread."""
TASKS = 1 << 14
"""Tasks of the sum, at most."""
COPIED_ENTRIES = 1 << 20
"""Entries of a tensor that are laid out for a GPU by the CPU, at most: in a millisecond or two."""
BLOCKS_EACH = 4
"""Blocks of a GPU's sum for every one that it runs at once, at least, so that all end together."""


@cache
def tables() -> Tables:
    """Make the 280 partitions of nine digits into three sets of three; it takes ten milliseconds.

    The sets of a partition are numbered by their least digit. Partitions are numbered by the digits
    of their codes, digit 1's set first, in ascending order.
    """
    powers = 3 ** np.arange(9)
    codes = np.arange(3**9)[:, None] // powers % 3
    balanced = ((codes == 0).sum(1) == 3) & ((codes == 1).sum(1) == 3)
    codes = codes[balanced]
    canonical = _canonical(codes)
    order, index = np.unique(canonical @ powers[::-1], return_inverse=True)
    number_of = np.full(3**9, -1, np.int16)
    number_of[codes @ powers] = index
    partitions = order[:, None] // powers[::-1] % 3
    masks = np.stack([((partitions == s) << np.arange(9)).sum(1) for s in range(3)], axis=1)
    common = np.bitwise_count(masks[:, None, :, None] & masks[None, :, None, :])
    orthogonal = (common == 1).all(axis=(2, 3))
    bits = np.zeros((PARTITIONS, 320), np.uint8)
    bits[:, :PARTITIONS] = orthogonal
    permuted = np.array(list(permutations(range(3))))
    boxes = np.arange(3)
    swaps = np.empty((9, 9, PARTITIONS), np.int16)
    for one in range(9):
        for two in range(9):
            moved = np.arange(9)
            moved[[one, two]] = two, one
            swaps[one, two] = number_of[partitions[:, moved] @ powers]
    return Tables.holding(
        partition_of=number_of,
        sets=partitions.astype(np.int8),
        orthogonal=np.nonzero(orthogonal)[1].reshape(PARTITIONS, -1).astype(np.int16),
        orthogonal_bits=np.packbits(bits, axis=1, bitorder="little").view(np.uint64),
        count_steps=(1 << 3 * (3 * boxes + permuted)).sum(axis=1),
        code_steps=(permuted[None] * powers[:, None, None] << 16 * boxes).sum(axis=2),
        permutations=permuted,
        swaps=swaps,
    )


def _canonical(codes: np.ndarray) -> np.ndarray:
    """Renumber the sets of codes, digit by digit, in the order in which they come up."""
    first = np.stack([np.argmax(codes == s, axis=1) for s in range(3)], axis=1)
    rank = np.argsort(np.argsort(first, axis=1), axis=1)
    return np.take_along_axis(rank, codes, axis=1)


@cache
def stages() -> NineStages:
    """Return the stages, with the tables' type."""
    return NineStages(tables().layout)


class Nine:
    """One board: surveyed when made, then prepared, then summed by the task; see ``Contraction``.

    ``candidates`` is uint64 (81), bit d - 1 for digit d; no peer of a cell with one candidate has
    it. ``workspace`` is by default made for this board. As checks, all pairs are summed if it is
    not ``symmetric``, and slabs have 32 bits even where 16 would do if it is ``wide``.
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
        self._symmetric = symmetric
        self._prepared = False
        work = self.workspace
        allow_permutations = stages().allow_permutations.for_boards(1)
        allow_permutations(candidates, tables(), work.lists)
        self.solvable = stages().survey(tables(), work.scratch, work.lists, work.numbering)
        """False if the lists show that there is no solution."""
        self.seconds = 0.0
        if self.solvable:
            choose_roles = stages().choose_roles.for_boards(1)
            self.seconds = choose_roles(work.lists, work.numbering, work.roles) / 1e9
        self.listing_seconds = time.perf_counter() - start

    @property
    def factor(self) -> int:
        """The divisors taken out of the lists, by which the sum is to be multiplied."""
        return prod(self.workspace.lists.divisor.tolist()) if self.solvable else 1

    def most_threads(self, memory: int) -> int:
        return max(1, (memory - WORKSPACE_BYTES) // SLABS_BYTES)

    def prepare(self, threads: int) -> None:
        """Make the tensors and the pairs; after an interrupt, anew."""
        if not self.solvable or self._prepared:
            return
        work = self.workspace
        roles = self.workspace.roles
        arrange = partial(
            stages().arrange, self._symmetric, tables(), work.lists, work.numbering, roles,
            work.operands, work.symmetries, work.orbits,
        )  # fmt: skip
        [self.pairs] = self.make_tensors(threads, [arrange])
        self.wide = self.wide or not narrow_enough(work.lists, roles, work.tensors)
        if self.wide:
            stages().sum_wide.load()
        self._prepared = True

    def make_tensors(self, threads: int, others: Sequence[Callable[[], int]] = ()) -> list[int]:
        """Write each different tensor once; return the results of others, called meanwhile."""
        waiting = [*others]
        results = list[int]()
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
        """Make the calls that write the tensor of one crossing role, in two steps."""
        work = self.workspace
        roles = self.workspace.roles
        depth = int(roles.depth[role])
        row = int(roles.shape[A, role] * roles.shape[B, role])
        calls = min(calls, depth * row // CALL_ENTRIES)

        def cut(stage: Kernel, count: int, *arguments: Any) -> list[Callable[[], int]]:
            return [
                partial(stage, role, piece.start, piece.stop, *arguments)
                for piece in pieces(range(count), max(1, calls))
            ]

        stages().list_orthogonal(role, tables(), work.numbering, roles, work.orthogonal)
        orthogonal = work.orthogonal
        between = work.intermediate
        yield cut(
            stages().contract_ab, depth, work.lists, work.numbering, roles, orthogonal, between
        )
        yield cut(stages().contract_c, row, roles, orthogonal, between, work.tensors)

    @property
    def tasks(self) -> int:
        """Tasks are runs of pairs, sorted by their first partition."""
        return min(self.pairs, TASKS)

    def pairs_of(self, tasks: range) -> tuple[int, int]:
        """Return the first pair of some consecutive tasks, and the one after their last."""
        return tasks.start * self.pairs // self.tasks, tasks.stop * self.pairs // self.tasks

    def scratch(self) -> Slabs:
        return make_slabs(self.wide)

    def sum(self, tasks: range, scratch: Slabs, stop: NDArray[np.int64]) -> tuple[int, int]:
        work = self.workspace
        sums = scratch.sums
        sums[:] = 0
        add = stages().sum_wide if self.wide else stages().sum_narrow
        first, last = self.pairs_of(tasks)
        add(first, last, work.roles, work.operands, work.tensors, work.orbits, stop, scratch)
        return (int(sums[HIGH]) << 32) + int(sums[LOW]), int(sums[DOTTED])

    def device_sum(self, gpu: Any) -> Callable[[range], tuple[int, int]]:
        return DeviceSum(gpu, self)


class DeviceSum:
    """The sum of some tasks of a prepared board on a GPU, the current one."""

    def __init__(self, gpu: Any, nine: Nine) -> None:
        brought = gpu.xp.asarray
        work = nine.workspace
        roles = work.roles
        operands = work.operands
        self._gpu = gpu
        self._nine = nine
        self._start = operands.start
        self._pairs = work.orbits.pairs[: nine.pairs]
        self._terms = int(operands.start[C, -1])
        wide = nine.wide or not pair_sums.narrow_on_gpu(work.lists, roles, work.tensors)
        self._kernel = gpu.kernel("contraction.nine.cuda", "kernel", wide)
        self._threads = gpu.fullest_block(self._kernel, pair_sums.MAX_THREADS)
        words = operands.entries[C].view(np.int64).ravel()
        on_gpu = {role: self._numbered_last(work, role) for role in {*roles.tensor}}
        p, q, r = (on_gpu[role] for role in roles.tensor[[P, Q, R]])
        self._arguments = (
            brought(self._pairs),
            brought(roles.shape),
            pair_sums.DeviceOperands(
                brought(operands.entries), brought(words), brought(operands.start)
            ),
            pair_sums.RoleTensors(brought(p), brought(q.view(np.int64)), brought(r.view(np.int64))),
        )

    def _numbered_last(self, work: Workspace, role: int) -> Any:
        """Bring the tensor of a role to the GPU: int16, flat, [a][b][c], filled up with zeros."""
        a, b, c = work.roles.shape[:, role].tolist()
        entries = work.tensors.entries[role, : a * b * c]
        # CuPy compiles a kernel for this, or loads it, which only takes less time for many entries.
        xp = self._gpu.xp if len(entries) > COPIED_ENTRIES else np
        filled = xp.zeros((a, b, -(-c // pair_sums.FOUR) * pair_sums.FOUR), np.int16)
        filled[:, :, :c] = xp.asarray(entries).reshape(c, a, b).transpose(1, 2, 0)
        return filled.ravel()

    def __call__(self, tasks: range) -> tuple[int, int]:
        """Sum some tasks; return the number of products added up, at most, too."""
        first, last = self._nine.pairs_of(tasks)
        pairs = last - first
        at_once = self._gpu.blocks_at_once(self._kernel, self._threads)
        parts = max(1, -(-BLOCKS_EACH * at_once // pairs))  # none would be a sum of 0
        sums = self._gpu.xp.zeros(pairs, np.uint64)
        launch = self._gpu.configured(self._kernel, pairs * parts, self._threads)
        launch(first, parts, *self._arguments, sums)
        found = self._gpu.host(sums).tolist()  # waits for the kernel
        sizes = self._pairs[first:last, 2].tolist()
        total = sum(one * size for one, size in zip(found, sizes, strict=True))
        b, a = self._pairs[first:last, :2].T
        lengths = np.diff(self._start, axis=1)
        return total, int((lengths[A, a] * lengths[B, b]).sum()) * self._terms
