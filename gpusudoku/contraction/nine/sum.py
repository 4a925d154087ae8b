"""The contraction of one 9x9 board by many threads or a GPU. Special to 3x3 boxes.

``docs/contraction.md``, section 5, derives it. The six lines have *roles*. The sum runs over the
entries of the lines A, B and C. The crossing lines are P, Q and R, of which P is the *pivot*. Each
crossing line X has a *tensor* W_X: at three partitions, the number of maps of X that are orthogonal
to them. A *pair* (a, b) has a partition of A and one of B at the pivot. The number of solutions of
a pair is, up to the divisors of the lists,

    S(a, b) = sum over c of  m(c) W_P(a, b, c_P) dot(U[c_Q], V[c_R])
    U[c][k, l] = W_Q(k_Q, l_Q, c)    V[c][k, l] = W_R(k_R, l_R, c) m(k) m(l)

Here c runs over the entries of C, k over the entries of A with partition a at the pivot, and l over
those of B with b; m is a multiplicity. U and V are stored in *slabs*: buffers of a thread that are
small enough for a second-level cache.
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

from gpusudoku.jobs.job import call_on_threads, split_range
from gpusudoku.kernels.compile_many import load_kernels
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
    HIGH,
    LOW,
    PRODUCT_COUNT,
    Slabs,
    is_narrow,
    make_slabs,
)
from gpusudoku.kernels.kernel import Kernel

WORKSPACE_BYTES = 180 << 20
"""An upper bound on the bytes of a board (``make_workspace``)."""
SLABS_BYTES = 46 << 20
"""An upper bound on the bytes of a thread (wide ``make_slabs``)."""
CALLS_PER_THREAD = 8
"""The number of calls of a step of a tensor for each thread, so that all threads finish at about
the same time."""
CALL_ELEMENTS = 1 << 18
"""The smallest number of elements of a tensor that is worth a call on another thread."""
MAX_TASKS = 1 << 14
"""The largest number of tasks of a sum."""
MAX_COPIED_ELEMENTS = 1 << 20
"""The largest tensor that the CPU rearranges for a GPU, in elements; it takes a millisecond or two.
"""
MIN_BLOCK_ROUNDS = 4
"""A launch has at least this many times the blocks that a GPU runs at once, so that the last blocks
finish at about the same time."""
BIT_SET_WORDS = 5
"""Words of 64 bits in a bit set of partitions: 5 * 64 = 320 >= 280."""


@cache
def tables() -> Tables:
    """Make the 280 partitions of nine digits into three sets of three; it takes ten milliseconds.

    The sets of a partition are numbered by their least digits. Partitions are numbered by the
    digits of their codes, digit 1's set first, in ascending order.
    """
    powers = 3 ** np.arange(9)
    codes = np.arange(3**9)[:, None] // powers % 3
    # Only codes with three digits in each slot are codes of partitions.
    is_balanced = ((codes == 0).sum(1) == 3) & ((codes == 1).sum(1) == 3)
    codes = codes[is_balanced]

    # Codes with the same canonical code have the same partition. Digit 1 counts most here, so that
    # ``np.unique`` sorts them by the set of digit 1 first.
    canonical_numbers = _canonical(codes) @ powers[::-1]
    unique_numbers, partition_of_code = np.unique(canonical_numbers, return_inverse=True)
    partition_of = np.full(3**9, -1, np.int16)
    partition_of[codes @ powers] = partition_of_code
    sets = unique_numbers[:, None] // powers[::-1] % 3

    orthogonal = _orthogonal_partitions(sets)
    bits = np.zeros((PARTITIONS, 64 * BIT_SET_WORDS), np.uint8)
    bits[:, :PARTITIONS] = orthogonal
    permuted = np.array(list(permutations(range(3))))
    return Tables.with_values(
        partition_of=partition_of,
        sets=sets.astype(np.int8),
        orthogonal=np.nonzero(orthogonal)[1].reshape(PARTITIONS, -1).astype(np.int16),
        orthogonal_bits=np.packbits(bits, axis=1, bitorder="little").view(np.uint64),
        count_steps=_count_steps(permuted),
        code_steps=_code_steps(permuted),
        permutations=permuted,
        swaps=_swapped_partitions(sets, partition_of),
    )


def _canonical(codes: np.ndarray) -> np.ndarray:
    """Renumber the slots of codes, int (codes, 9), in the order of their least digits."""
    first_digits = np.stack([np.argmax(codes == s, axis=1) for s in range(3)], axis=1)
    new_slots = np.argsort(np.argsort(first_digits, axis=1), axis=1)
    return np.take_along_axis(new_slots, codes, axis=1)


def _orthogonal_partitions(sets: np.ndarray) -> np.ndarray:
    """Tell which partitions are orthogonal: bool (PARTITIONS, PARTITIONS)."""
    masks = np.stack([((sets == s) << np.arange(9)).sum(1) for s in range(3)], axis=1)
    common_digits = np.bitwise_count(masks[:, None, :, None] & masks[None, :, None, :])
    orthogonal: np.ndarray = (common_digits == 1).all(axis=(2, 3))
    return orthogonal


def _count_steps(permuted: np.ndarray) -> np.ndarray:
    """Make what each permutation adds to nine counters of three bits: int64 (6).

    A counter has the number of digits in one slot s of one box of a line::

        bits  26-24 23-21 20-18 17-15 14-12 11-9   8-6   5-3   2-0
             | s=2 | s=1 | s=0 | s=2 | s=1 | s=0 | s=2 | s=1 | s=0 |
             |      box 2      |      box 1      |      box 0      |
    """
    boxes = np.arange(3)
    count_steps: np.ndarray = (1 << 3 * (3 * boxes + permuted)).sum(axis=1)
    return count_steps


def _code_steps(permuted: np.ndarray) -> np.ndarray:
    """Make what each permutation of each digit adds to three codes of 16 bits: int64 (9, 6).

    Digit d, from 0 on, adds its slot times 3^d to the code of a box, which is below 3^9 < 2^16::

        bits      47-32           31-16           15-0
             | code of box 2 | code of box 1 | code of box 0 |
    """
    powers = 3 ** np.arange(9)
    steps = permuted[None] * powers[:, None, None]
    code_steps: np.ndarray = (steps << 16 * np.arange(3)).sum(axis=2)
    return code_steps


def _swapped_partitions(sets: np.ndarray, partition_of: np.ndarray) -> np.ndarray:
    """Find what each partition becomes when two digits swap: int16 (9, 9, PARTITIONS)."""
    powers = 3 ** np.arange(9)
    swapped = np.empty((9, 9, PARTITIONS), np.int16)
    for digit in range(9):
        for other_digit in range(9):
            order = np.arange(9)
            order[[digit, other_digit]] = other_digit, digit
            swapped[digit, other_digit] = partition_of[sets[:, order] @ powers]
    return swapped


@cache
def stages() -> NineStages:
    """Return the compiled stages of the contraction."""
    return NineStages(tables().layout)


class NineContraction:
    """The contraction of one board: surveyed when made, then prepared, then summed task by task.

    See ``Contraction``. ``candidates`` is uint64 (81), bit d - 1 for digit d; the peers of a cell
    with one candidate must not have this candidate. ``workspace`` is by default made for this
    board.

    Two arguments serve as checks: without ``symmetric`` all pairs are summed, and with ``wide``
    slabs have 32 bits even where 16 suffice.
    """

    def __init__(
        self,
        candidates: NDArray[np.uint64],
        *,
        symmetric: bool = True,
        wide: bool = False,
        workspace: Workspace | None = None,
    ) -> None:
        load_kernels(stages().of_one_board())
        start = time.perf_counter()
        self.workspace = workspace or make_workspace()
        self.pairs = 0
        """The number of pairs to sum, once prepared; 0 if there is no solution."""
        self.wide = wide
        """True if slabs have elements of 32 bits; final once prepared."""
        self._symmetric = symmetric
        self._is_prepared = False

        # Lists and roles suffice for an estimate; ``prepare`` makes the rest.
        work = self.workspace
        allow_permutations = stages().allow_permutations.for_boards(1)
        allow_permutations(candidates, tables(), work.lists)
        self.is_solvable = stages().make_lists(tables(), work.scratch, work.lists, work.indexing)
        """False if the lists show that there is no solution."""
        self.seconds = 0.0
        if self.is_solvable:
            choose_roles = stages().choose_roles.for_boards(1)
            self.seconds = choose_roles(work.lists, work.indexing, work.roles) / 1e9
        self.listing_seconds = time.perf_counter() - start

    @property
    def factor(self) -> int:
        """The product of the divisors of all lists, by which the sum is multiplied."""
        return prod(self.workspace.lists.divisor.tolist()) if self.is_solvable else 1

    def max_threads(self, memory: int) -> int:
        return max(1, (memory - WORKSPACE_BYTES) // SLABS_BYTES)

    def prepare(self, threads: int) -> None:
        """Make the tensors and the pairs. After an interrupt, the next call starts over."""
        if not self.is_solvable or self._is_prepared:
            return
        work = self.workspace
        roles = work.roles
        arrange_pairs = partial(
            stages().arrange_pairs, self._symmetric, tables(), work.lists, work.indexing, roles,
            work.operands, work.symmetries, work.orbits,
        )  # fmt: skip
        # Arranging the pairs takes long, too, and runs on another thread meanwhile.
        [self.pairs] = self.make_tensors(threads, [arrange_pairs])
        self.wide = self.wide or not is_narrow(work.lists, roles, work.tensors)
        if self.wide:
            stages().sum_wide.load()
        self._is_prepared = True

    def make_tensors(
        self, threads: int, other_calls: Sequence[Callable[[], int]] = ()
    ) -> list[int]:
        """Write each distinct tensor once; return the results of other calls made meanwhile."""
        other_results = list[int]()
        pending_calls = [*other_calls]
        for role in range(3):
            if self.workspace.roles.tensor[role] != role:  # equal to the tensor of another role
                continue
            ab_calls, c_calls = self._tensor_steps(role, CALLS_PER_THREAD * threads)
            # The other calls need no tensor, so they run together with the first step.
            results = call_on_threads([*pending_calls, *ab_calls], threads)
            other_results += results[: len(pending_calls)]
            pending_calls = []
            self.workspace.tensors.largest[role] = max(call_on_threads(c_calls, threads))
        return other_results

    def _tensor_steps(self, role: int, max_calls: int) -> Iterator[list[Callable[[], int]]]:
        """Yield the calls of the two steps that write the tensor of a crossing role.

        The first step contracts at A and B, the second one at C.
        """
        work = self.workspace
        roles = work.roles
        depth = int(roles.depth[role])
        row = int(roles.shape[A, role] * roles.shape[B, role])
        # A call must be worth another thread; small tensors are written by one call.
        call_count = max(1, min(max_calls, depth * row // CALL_ELEMENTS))

        def cut(stage: Kernel, count: int, *arguments: Any) -> list[Callable[[], int]]:
            return [
                partial(stage, role, chunk.start, chunk.stop, *arguments)
                for chunk in split_range(range(count), call_count)
            ]

        stages().list_orthogonal(role, tables(), work.indexing, roles, work.orthogonal)
        yield cut(
            stages().contract_ab, depth,
            work.lists, work.indexing, roles, work.orthogonal, work.intermediate,
        )  # fmt: skip
        yield cut(stages().contract_c, row, roles, work.orthogonal, work.intermediate, work.tensors)

    @property
    def tasks(self) -> int:
        """The number of tasks, each a run of pairs in their order."""
        return min(self.pairs, MAX_TASKS)

    def pairs_of(self, tasks: range) -> range:
        """Return the pairs of consecutive tasks."""
        return range(tasks.start * self.pairs // self.tasks, tasks.stop * self.pairs // self.tasks)

    def scratch(self) -> Slabs:
        return make_slabs(self.wide)

    def sum(self, tasks: range, scratch: Slabs, stop: NDArray[np.int64]) -> tuple[int, int]:
        work = self.workspace
        sums = scratch.sums
        sums[:] = 0
        sum_pairs = stages().sum_wide if self.wide else stages().sum_narrow
        pairs = self.pairs_of(tasks)
        sum_pairs(
            pairs.start, pairs.stop, work.roles, work.operands, work.tensors, work.orbits,
            stop, scratch,
        )  # fmt: skip
        return (int(sums[HIGH]) << 32) + int(sums[LOW]), int(sums[PRODUCT_COUNT])

    def device_sum(self, gpu: Any) -> Callable[[range], tuple[int, int]]:
        return DeviceSum(gpu, self)


class DeviceSum:
    """The sum of tasks of a prepared board on the current GPU."""

    def __init__(self, gpu: Any, contraction: NineContraction) -> None:
        to_gpu = gpu.xp.asarray
        work = contraction.workspace
        roles = work.roles
        operands = work.operands
        self._gpu = gpu
        self._contraction = contraction
        self._start = operands.start
        self._pairs = work.orbits.representatives[: contraction.pairs]
        self._max_terms = int(operands.start[C, -1])

        wide = contraction.wide or not pair_sums.is_narrow_on_gpu(work.lists, roles, work.tensors)
        self._kernel = gpu.kernel("contraction.nine.cuda", "kernel", wide)
        self._threads = gpu.fullest_block(self._kernel, pair_sums.MAX_THREADS)

        # The operands are copied to the GPU once, for all launches.
        entries_of_c = operands.entries[C].view(np.int64).ravel()  # four int16 fields in a word
        tensors = {role: self._rearranged_tensor(work, role) for role in {*roles.tensor}}
        p, q, r = (tensors[role] for role in roles.tensor[[P, Q, R]])
        self._arguments = (
            to_gpu(self._pairs),
            to_gpu(roles.shape),
            pair_sums.DeviceOperands(
                to_gpu(operands.entries), to_gpu(entries_of_c), to_gpu(operands.start)
            ),
            pair_sums.RoleTensors(to_gpu(p), to_gpu(q.view(np.int64)), to_gpu(r.view(np.int64))),
        )

    def _rearranged_tensor(self, work: Workspace, role: int) -> Any:
        """Rearrange the tensor of a role from [c][a][b] to [a][b][c]: int16, flat.

        The last axis is filled up with zeros to whole words. With nine c::

            | c=0 c=1 c=2 c=3 | c=4 c=5 c=6 c=7 | c=8  0   0   0  |
        """
        a, b, c = work.roles.shape[:, role].tolist()
        elements = work.tensors.elements[role, : a * b * c]
        # CuPy compiles or loads a kernel for this, which pays off for many elements only.
        xp = self._gpu.xp if len(elements) > MAX_COPIED_ELEMENTS else np
        padded_c = -(-c // pair_sums.FIELDS_PER_WORD) * pair_sums.FIELDS_PER_WORD
        rearranged = xp.zeros((a, b, padded_c), np.int16)
        rearranged[:, :, :c] = xp.asarray(elements).reshape(c, a, b).transpose(1, 2, 0)
        return rearranged.ravel()

    def __call__(self, tasks: range) -> tuple[int, int]:
        """Sum tasks; also return a bound on the number of products added up."""
        pairs = self._contraction.pairs_of(tasks)
        blocks_at_once = self._gpu.blocks_at_once(self._kernel, self._threads)
        # A pair is cut into parts, a block each. There is at least one: no part would sum to 0.
        parts = max(1, -(-MIN_BLOCK_ROUNDS * blocks_at_once // len(pairs)))
        device_sums = self._gpu.xp.zeros(len(pairs), np.uint64)
        launch = self._gpu.prepare_launch(self._kernel, len(pairs) * parts, self._threads)
        launch(pairs.start, parts, *self._arguments, device_sums)
        sums = self._gpu.host(device_sums).tolist()  # waits for the kernel

        b, a, sizes = self._pairs[pairs.start : pairs.stop].T
        # In Python's integers, as the total may pass 64 bits.
        total = sum(value * size for value, size in zip(sums, sizes.tolist(), strict=True))
        # The kernel does not count terms whose factor is 0, so this is an upper bound.
        lengths = np.diff(self._start, axis=1)
        max_products = int((lengths[A, a] * lengths[B, b]).sum()) * self._max_terms
        return total, max_products
