"""The stages of the contraction of 9x9 boards, put together and compiled for the CPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gpusudoku.jobs.forks import cached_property
from gpusudoku.kernels.arguments import Kind, boolean, float64, int32, int64, kind_of, uint8, uint64
from gpusudoku.kernels.contraction.nine.arrays import A, B, make_workspace
from gpusudoku.kernels.contraction.nine.lists import (
    allow_permutations,
    divide_multiplicities,
    find_equal_lists,
    list_entries,
    prune,
    sort_entries,
)
from gpusudoku.kernels.contraction.nine.orbits import write_orbits
from gpusudoku.kernels.contraction.nine.order import (
    Maps,
    OrthogonalEntries,
    PairRanks,
    Relabelling,
    choose_maps,
    find_triples_narrow,
    find_triples_wide,
    list_maps,
    mark_orthogonal_entries,
    relabel,
    write_grids,
)
from gpusudoku.kernels.contraction.nine.pair_sums import (
    HIGH,
    LOW,
    is_narrow,
    make_slabs,
    sum_narrow,
    sum_wide,
)
from gpusudoku.kernels.contraction.nine.strips import Boxes, SolvedBoard, make_strips, write_boxes
from gpusudoku.kernels.contraction.nine.tensors import (
    choose_roles,
    contract_ab,
    contract_c,
    index_partitions,
    list_orthogonal,
)
from gpusudoku.kernels.contraction.nine.writing import write_solutions
from gpusudoku.kernels.kernel import PACKAGE_PREFIX, Kernel, jitable, kernel

FACTOR, STATUS, RESULT_COLUMNS = 2, 3, 4
"""Columns of the results of ``count_boards`` after LOW and HIGH, and the number of columns:

    column  LOW (0)      HIGH (1)     FACTOR (2)               STATUS (3)
    value   as in ``Slabs.sums``      product of the divisors  COUNTED or UNCOUNTED

The number of solutions is (HIGH * 2^32 + LOW) * FACTOR."""
COUNTED, UNCOUNTED = 0, 1
"""STATUS of a board. UNCOUNTED means that it is too expensive for one thread, or needs wide slabs.
Then it must be counted stage by stage."""


@jitable
def make_lists(tables, scratch, lists, indexing):
    """Write the lists and indices of one board, with ``scratch`` as scratch memory.

    Returns False if the lists show that there is no solution. Then not everything is written.
    """
    if not list_entries(tables, scratch, lists):
        return False
    keys = lists.keys
    multiplicity = lists.multiplicity
    size = lists.size
    # Pruned first: without the dropped entries the greatest common divisor may be larger, and fewer
    # partitions need an index.
    if not prune(tables.orthogonal_bits, scratch.occurring, keys, multiplicity, size):
        return False
    divide_multiplicities(lists)
    find_equal_lists(lists)
    index_partitions(size, keys, indexing)
    return True


@jitable
def arrange_pairs(symmetric, tables, lists, indexing, roles, operands, symmetries, orbits):
    """Write ``operands``, ``symmetries`` and ``orbits``; return the number of pairs to be summed.

    If ``symmetric``, only the representative of each orbit is summed, otherwise every pair.
    """
    sort_entries(lists, indexing, roles, operands)
    return write_orbits(symmetric, tables, lists, indexing, roles, symmetries, orbits)


def build_make_tensors(
    call_list_orthogonal: Callable[..., None],
    call_contract_ab: Callable[..., None],
    call_contract_c: Callable[..., int],
) -> Callable[..., None]:
    """Make ``make_tensors``, which calls three stages at their addresses."""

    @jitable
    def make_tensors(addresses, tables, workspace):
        """Write the tensors; equal ones are written once."""
        lists = workspace.lists
        indexing = workspace.indexing
        roles = workspace.roles
        orthogonal = workspace.orthogonal
        intermediate = workspace.intermediate
        tensors = workspace.tensors
        for role in range(3):
            if roles.tensor[role] != role:  # equal to the tensor of an earlier role
                continue
            depth = roles.depth[role]
            row_length = roles.shape[A, role] * roles.shape[B, role]
            call_list_orthogonal(addresses, role, tables, indexing, roles, orthogonal)
            call_contract_ab(
                addresses, role, 0, depth, lists, indexing, roles, orthogonal, intermediate
            )
            tensors.largest[role] = call_contract_c(
                addresses, role, 0, row_length, roles, orthogonal, intermediate, tensors
            )

    return make_tensors


def build_count_board(callees: Sequence[Kernel]) -> Callable[..., None]:
    """Make ``count_board``; ``callees`` are those of ``NineStages``."""
    from gpusudoku.kernels.compile_cpu import make_caller  # imported lazily: Numba

    # Stages are called at their addresses, so they are not compiled once more as parts of this one.
    callers = [
        make_caller(callee.python, callee.signature, callee.returns, position)
        for position, callee in enumerate(callees)
    ]
    (
        call_allow_permutations,
        call_make_lists,
        call_choose_roles,
        call_list_orthogonal,
        call_contract_ab,
        call_contract_c,
        call_arrange_pairs,
        call_sum_narrow,
    ) = callers
    make_tensors = build_make_tensors(call_list_orthogonal, call_contract_ab, call_contract_c)

    @jitable
    def count_board(candidates, max_nanoseconds, tables, workspace, stop, slabs, addresses, result):
        """Count one board as ``count_boards`` does; ``result`` is its row of the results."""
        lists = workspace.lists
        indexing = workspace.indexing
        roles = workspace.roles
        tensors = workspace.tensors
        operands = workspace.operands
        symmetries = workspace.symmetries
        orbits = workspace.orbits
        call_allow_permutations(addresses, candidates, tables, lists)
        if not call_make_lists(addresses, tables, workspace.scratch, lists, indexing):
            return  # the result is 0 and COUNTED
        result[STATUS] = UNCOUNTED  # until it is counted
        # The estimate needs no tensors, which are the first expensive step.
        if call_choose_roles(addresses, lists, indexing, roles) > max_nanoseconds:
            return
        make_tensors(addresses, tables, workspace)
        if not is_narrow(lists, roles, tensors):
            return
        pair_count = call_arrange_pairs(
            addresses, True, tables, lists, indexing, roles, operands, symmetries, orbits
        )
        slabs.sums[:] = 0
        call_sum_narrow(addresses, 0, pair_count, roles, operands, tensors, orbits, stop, slabs)
        result[LOW] = slabs.sums[LOW]
        result[HIGH] = slabs.sums[HIGH]
        # The caller multiplies, as the product may pass 2^64.
        result[FACTOR] = 1
        for line in range(6):
            result[FACTOR] *= lists.divisor[line]
        result[STATUS] = COUNTED

    return count_board


def build_count_boards(callees: Sequence[Kernel]) -> Callable[..., None]:
    """Make ``count_boards``; ``callees`` are those of ``NineStages``."""
    count_board = build_count_board(callees)

    def count_boards(
        candidates, max_nanoseconds, tables, workspace, stop, slabs, addresses, results
    ):
        """Run all stages for many boards, one after the other; write ``results``.

        A board is UNCOUNTED if it needs wide slabs, or more than an estimated ``max_nanoseconds``.
        Each column of a result is below 2^63, but the number of solutions may be larger.

        candidates  uint64 (B, 81)              as in ``allow_permutations``
        workspace   Workspace                   scratch memory, written for every board
        stop        int64 (1)                   once it is not 0, the results mean nothing
        slabs       Slabs                       scratch memory
        addresses   int64 (stages)              those of the stages; see ``NineStages.addresses``
        results     int64 (B, RESULT_COLUMNS)   out
        """
        results[:] = 0
        for board in range(candidates.shape[0]):
            if stop[0] != 0:
                return
            count_board(
                candidates[board],
                max_nanoseconds,
                tables,
                workspace,
                stop,
                slabs,
                addresses,
                results[board],
            )

    return count_boards


class NineStages:
    """All stages, each with the types of its arguments: what it reads, then what it writes.

    ``tables`` is the type of the ``Tables``.

    A stage is compiled, or loaded from disk, at its first call, or before by ``Kernel.load``.
    """

    def __init__(self, tables: Kind) -> None:
        self._tables = tables
        self._workspace = kind_of(make_workspace())
        self._narrow_slabs = kind_of(make_slabs(wide=False))
        self._wide_slabs = kind_of(make_slabs(wide=True))
        # The seconds of each stage are the time to compile it on the reference core.
        self._add_counting_stages()
        self._add_order_stages()
        self.callees = [
            self.allow_permutations,
            self.make_lists,
            self.choose_roles,
            self.list_orthogonal,
            self.contract_ab,
            self.contract_c,
            self.arrange_pairs,
            self.sum_narrow,
        ]
        """The stages that ``count_boards`` calls, in the order of ``build_count_boards``."""
        stop = int64[::1]
        self.count_boards = Kernel(
            f"{__name__.removeprefix(PACKAGE_PREFIX)}.count_boards",
            (
                uint64[:, ::1],
                float64,
                tables,
                self._workspace,
                stop,
                self._narrow_slabs,
                int64[::1],
                int64[:, ::1],
            ),
            lambda: build_count_boards(self.callees),
            (_count_boards, (tables,)),
            seconds=0.7,
            subject=self.make_lists.subject,
        )

    def _add_counting_stages(self) -> None:
        """Make the stages that lead from candidates to the number of solutions."""
        tables = self._tables
        scratch, lists, indexing, roles, *later_groups = self._workspace
        orthogonal, intermediate, tensors, operands, symmetries, orbits = later_groups
        self.allow_permutations = kernel(uint64[::1], tables, lists, seconds=0.4)(
            allow_permutations
        )
        self.make_lists = kernel(tables, scratch, lists, indexing, returns=boolean, seconds=3.4)(
            make_lists
        )
        self.choose_roles = kernel(lists, indexing, roles, returns=float64, seconds=1.5)(
            choose_roles
        )
        self.list_orthogonal = kernel(int64, tables, indexing, roles, orthogonal, seconds=0.5)(
            list_orthogonal
        )
        self.contract_ab = kernel(
            int64, int64, int64, lists, indexing, roles, orthogonal, intermediate, seconds=0.6
        )(contract_ab)
        self.contract_c = kernel(
            *(int64, int64, int64, roles, orthogonal, intermediate, tensors),
            returns=int64,
            seconds=1.2,
        )(contract_c)
        self.arrange_pairs = kernel(
            *(boolean, tables, lists, indexing, roles, operands, symmetries, orbits),
            returns=int64,
            seconds=2.6,
        )(arrange_pairs)

        stop = int64[::1]
        sum_arguments = int64, int64, roles, operands, tensors, orbits, stop
        # Both functions have the name that their builder gives them, so each kernel gets its own.
        self.sum_narrow = kernel(
            *sum_arguments, self._narrow_slabs, seconds=3.1, import_path=f"{__name__}.sum_narrow"
        )(sum_narrow)
        self.sum_wide = kernel(
            *sum_arguments, self._wide_slabs, seconds=3.1, import_path=f"{__name__}.sum_wide"
        )(sum_wide)

    def _add_order_stages(self) -> None:
        """Make the stages that find solutions by rank, and write all solutions."""
        tables = self._tables
        scratch, lists, indexing, roles, *later_groups = self._workspace
        _, _, tensors, operands, symmetries, orbits = later_groups
        maps = kind_of(Maps())
        orthogonal_entries = kind_of(OrthogonalEntries())
        relabelling = kind_of(Relabelling())
        self.list_maps = kernel(tables, scratch, lists, maps, seconds=1.5)(list_maps)
        self.mark_orthogonal_entries = kernel(
            tables, lists, indexing, roles, orthogonal_entries, seconds=0.5
        )(mark_orthogonal_entries)
        self.relabel = kernel(int64, tables, symmetries, orbits, relabelling, seconds=0.4)(relabel)

        ranks = int64[::1]
        triples = int64[:, ::1]
        stop = int64[::1]
        pair_ranks = PairRanks(int32[:, ::1], ranks, ranks)
        find_arguments = boolean, pair_ranks, roles, operands, tensors, stop
        self.find_triples_narrow = kernel(
            *(*find_arguments, self._narrow_slabs, triples),
            seconds=4.6,
            import_path=f"{__name__}.find_triples_narrow",
        )(find_triples_narrow)
        self.find_triples_wide = kernel(
            *(*find_arguments, self._wide_slabs, triples),
            seconds=4.7,
            import_path=f"{__name__}.find_triples_wide",
        )(find_triples_wide)

        map_indices = int32[:, ::1]
        positions = int64[::1]
        grid_rows = int64[::1]
        grids = uint8[:, ::1]
        self.choose_maps = kernel(
            triples,
            lists,
            roles,
            operands,
            tensors,
            maps,
            orthogonal_entries,
            map_indices,
            seconds=1.1,
        )(choose_maps)
        self.write_grids = kernel(
            map_indices, positions, grid_rows, tables, maps, relabelling, grids, seconds=0.5
        )(write_grids)

        boxes = kind_of(Boxes())
        # Text or not makes no difference to the type.
        strips = kind_of(make_strips(text=True))
        solved_board = SolvedBoard(
            lists, roles, tensors, operands, orbits, maps, orthogonal_entries, relabelling, boxes
        )
        cursor = int64[::1]
        out = uint8[::1]
        self.write_boxes = kernel(tables, lists, roles, maps, boxes, seconds=1.8)(write_boxes)
        self.write_solutions = kernel(cursor, int64, solved_board, strips, out, seconds=8.8)(
            write_solutions
        )

    def of_one_board(self) -> list[Kernel]:
        """Return what counting one board needs, except the wide sum, which few boards need."""
        in_python = self.allow_permutations, self.choose_roles  # see ``Kernel.for_boards``
        return [kernel for kernel in self.callees if kernel not in in_python]

    def of_contraction_order(self) -> list[Kernel]:
        """Return what finding solutions by rank needs in addition, except ``find_triples_wide``."""
        return [
            self.list_maps,
            self.mark_orthogonal_entries,
            self.relabel,
            self.find_triples_narrow,
            self.choose_maps,
            self.write_grids,
        ]

    def of_solution_writer(self) -> list[Kernel]:
        """Return what writing all solutions needs in addition."""
        return [self.write_boxes, self.write_solutions]

    def of_many_boards(self) -> list[Kernel]:
        """Return what counting many boards needs, each on one thread."""
        return [*self.callees, self.count_boards]

    @cached_property
    def addresses(self) -> NDArray[np.int64]:
        """The addresses of the stages that ``count_boards`` calls; loads them if necessary."""
        return np.array([callee.address for callee in self.callees], np.int64)


def _count_boards(tables: Kind) -> Kernel:
    """Return the kernel ``count_boards`` in another process."""
    return NineStages(tables).count_boards
