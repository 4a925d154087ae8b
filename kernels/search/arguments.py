"""The arrays that a search reads and writes, in named groups: for the CPU, CUDA and plain Python.

A thread takes boards from a pool, explores them on its stack, and adds its solutions to
``SearchResults``. The shapes below are those of one thread; a CUDA kernel gets the stacks of all
threads, which have one more axis.

All threads share the pool. It holds the boards that no thread has, in places that are numbered from
0. The frontier fills the first places. NEXT_TO_TAKE is the next place to take boards from,
NEXT_TO_FILL the next place to give boards to:

    place   0       ...       FILLED - 1 | FILLED   ...   NEXT_TO_FILL - 1 | NEXT_TO_FILL   ...
            boards of the frontier       | boards that threads gave        | empty

A thread without boards takes the place NEXT_TO_TAKE; a thread with boards to spare gives some of
them to the place NEXT_TO_FILL. Both numbers only grow, and only by atomic operations. So only one
thread gets each place, and no board is lost or taken twice. The two pools differ in when boards are
given, because the threads of a GPU must not wait for each other:

* ``CpuPool``: a place holds several boards. If NEXT_TO_TAKE > NEXT_TO_FILL, threads are waiting,
  and a thread with enough boards on its stack gives some of them. When all threads wait, the search
  is over.
* ``Pool``, for a GPU: a place holds one board. Threads give boards at the end of a launch, and take
  them in the next one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.jobs.threads import isolated
from gpusudoku.kernels.search.shape import Shape

# Words of Stack.tally
NODES = 0
"""The number of boards visited."""
GUESSES = 1
"""The number of guesses. Each of them adds one board."""
MAX_HEIGHT = 2
"""The largest number of boards that were on the stack."""
TALLY_WORDS = 3

# Words of Stack.state
TOP = 0
"""The row of the top board; -1 if the stack is empty."""
IN_LANES = 1
"""The lanes whose boards the last call put on top of the stack, as bits; -1 before the first."""
LAST_ENDINGS = 2
"""On a GPU: how the last 32 boards ended, as bits; see ``thread``."""
BELOW_BOTTOM = 3
"""On a CPU: the row below the bottom board; -1 until boards are given from the bottom."""
AWAITED_PLACE = 4
"""On a CPU: the place of the pool that the thread has taken and waits for; -1 if there is none."""
STACK_STATE_WORDS = 5

# Words of CpuPool.state and Pool.state
NEXT_TO_TAKE = 0
"""The next place to take."""
FILLED = 1
"""The number of places that were filled at the beginning of the search, or of a launch."""
NEXT_TO_FILL = 2
"""The next place to give boards to."""
# On a CPU
JOINED = 3
"""The number of threads that take part."""
BOARDS_PER_PLACE = 4
"""The number of boards of the frontier in a place; the last place may have fewer."""
CPU_POOL_STATE_WORDS = 5
# On a GPU
FULL_PLACE = 3
"""The first place that boards cannot be given to, because the pool is full."""
BUSY_THREADS = 4
"""The number of threads that still had boards when the launch ended, and can continue."""
FINISHED_WARPS = 5
"""The number of warps that have spent their budget of rounds. All others stop once it is not 0."""
POOL_STATE_WORDS = 6

MAX_UNREPORTED = 4096
"""Solutions after which a thread adds them to the count of their root, and checks the limit."""
PLACES_PER_THREAD = 4
"""The frontier fills at least this many places for each thread, if it has enough boards."""
ROWS_PER_THREAD = 2
"""Rows of a CpuPool for each thread: places that can be filled before one of them is read."""


class CpuPool(NamedTuple):
    """The boards that the threads of a CPU share.

    The frontier fills the first places. A later place p is row ``(p - FILLED) % rows`` of
    ``given_boards``. The row's number in ``turns`` says which thread may access it:

        turns[row] == p         the row is free for the thread that gives to place p
        turns[row] == p + 1     the row has boards for the thread that has taken place p
        turns[row] == p + rows  they have been read; the row is free for place p + rows
    """

    boards: NDArray[Any]
    """(B, words): the frontier, rows of a ``Shape``."""
    roots: NDArray[np.int64]
    """int64 (B): the root that each board descends from, an index into ``SearchResults.counts``."""
    given_boards: NDArray[Any]
    """(rows, lanes, words): boards that threads have given, those that were split most first."""
    given_roots: NDArray[np.int64]
    """int64 (rows, lanes): their roots."""
    sizes: NDArray[np.int64]
    """int64 (rows): the number of boards in each row."""
    turns: NDArray[np.int64]
    """int64 (rows)."""
    state: NDArray[np.int64]
    """int64 (CPU_POOL_STATE_WORDS): NEXT_TO_TAKE, FILLED, NEXT_TO_FILL, JOINED and
    BOARDS_PER_PLACE."""

    @classmethod
    def of(
        cls, boards: NDArray[Any], roots: NDArray[np.int64], threads: int, shape: Shape
    ) -> CpuPool:
        """Make the pool of a frontier for a number of threads."""
        rows = ROWS_PER_THREAD * threads
        pool = cls(
            boards=np.ascontiguousarray(boards),
            roots=np.ascontiguousarray(roots),
            given_boards=np.zeros((rows, shape.lanes, shape.words), shape.word),
            given_roots=np.empty((rows, shape.lanes), np.int64),
            sizes=np.zeros(rows, np.int64),
            turns=np.empty(rows, np.int64),
            state=isolated(CPU_POOL_STATE_WORDS, np.int64),
        )
        boards_per_place = max(1, min(shape.lanes, len(boards) // (PLACES_PER_THREAD * threads)))
        filled_places = -(-len(boards) // boards_per_place)
        pool.state[NEXT_TO_TAKE] = 0
        pool.state[FILLED] = filled_places
        pool.state[NEXT_TO_FILL] = filled_places
        pool.state[JOINED] = 0
        pool.state[BOARDS_PER_PLACE] = boards_per_place
        pool.turns[:] = filled_places + np.arange(rows)
        return pool

    def remaining(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the boards that no thread has, and their roots.

        While threads are running, some boards may be missing, repeated or wrong. A forecast
        tolerates that.
        """
        next_place = int(self.state[NEXT_TO_TAKE])
        filled_places = int(self.state[FILLED])
        boards_per_place = int(self.state[BOARDS_PER_PLACE])

        # The turn of a row is p + 1 if it has the boards of its place p; see the class.
        row = np.arange(len(self.turns))
        is_full = (self.turns - filled_places - row) % len(row) == 1
        sizes = np.where(is_full, self.sizes, 0)
        is_board = np.arange(self.given_roots.shape[1]) < sizes[:, np.newaxis]

        start = next_place * boards_per_place
        boards = np.concatenate([self.given_boards[is_board], self.boards[start:]])
        roots = np.concatenate([self.given_roots[is_board], self.roots[start:]])
        return boards, roots


class Pool(NamedTuple):
    """The boards that all threads of a GPU share.

    A launch takes only the boards that were there when it began, so no thread waits until another
    one has written a board. Place p is row p, or row p - capacity.
    """

    boards: NDArray[Any]
    """(capacity, words): rows of a ``Shape``."""
    roots: NDArray[np.int64]
    """int64 (capacity): the roots of those boards."""
    state: NDArray[np.int64]
    """int64 (POOL_STATE_WORDS): NEXT_TO_TAKE, FILLED, NEXT_TO_FILL, FULL_PLACE, BUSY_THREADS and
    FINISHED_WARPS."""


class Stack(NamedTuple):
    """The boards that one thread has yet to explore, kept from call to call.

    A CPU thread gives boards from the bottom of its stack to the pool:

        row    0   ...   BELOW_BOTTOM | BELOW_BOTTOM + 1  ...  TOP | TOP + 1  ...  depth - 1
               given away             | boards                     | free
    """

    boards: NDArray[Any]
    """(depth, words): rows of a ``Shape``."""
    roots: NDArray[np.int64]
    """int64 (depth): the roots of those boards."""
    state: NDArray[np.int64]
    """int64 (STACK_STATE_WORDS): TOP, IN_LANES, LAST_ENDINGS, BELOW_BOTTOM and AWAITED_PLACE."""
    tally: NDArray[np.uint64]
    """uint64 (TALLY_WORDS): the statistics of this thread."""

    @classmethod
    def empty(cls, depth: int, shape: Shape) -> Stack:
        """Make a stack without boards.

        A large depth costs nothing: the system provides memory only for rows that are written.
        """
        stack = cls(
            boards=np.zeros((depth, shape.words), shape.word),
            roots=np.empty(depth, np.int64),
            state=isolated(STACK_STATE_WORDS, np.int64),
            tally=isolated(TALLY_WORDS, np.uint64),
        )
        stack.state[:] = -1
        return stack


class SearchResults(NamedTuple):
    """The results of a search. Threads share the counts; those of a GPU share the rest, too."""

    counts: NDArray[np.uint64]
    """uint64 (roots): the number of solutions of every root. It cannot overflow: at a billion
    solutions a second, 2^64 take 584 years."""
    solutions: NDArray[np.uint8]
    """uint8 (max_solutions, n * n): the solutions. If it has no rows, they are only counted."""
    roots: NDArray[np.int64]
    """int64 (max_solutions): the root of each solution."""
    claimed_rows: NDArray[np.int64]
    """int64 (1): the number of rows of ``solutions`` that threads have claimed. Once it reaches
    ``max_solutions``, threads wait."""

    @classmethod
    def adding_to(cls, counts: NDArray[np.uint64], max_solutions: int, cells: int) -> SearchResults:
        """Make the results of a search that adds to existing counts."""
        return cls(
            counts=counts,
            solutions=np.empty((max_solutions, cells), np.uint8),
            roots=np.empty(max_solutions, np.int64),
            claimed_rows=isolated(1, np.int64),
        )

    @classmethod
    def empty(cls, root_count: int, max_solutions: int, cells: int) -> SearchResults:
        """Make the results of a search that has not begun."""
        return cls.adding_to(np.zeros(root_count, np.uint64), max_solutions, cells)


class Lanes(NamedTuple):
    """The current boards of a thread, one in each lane."""

    memory: NDArray[Any]
    """(shape.memory_rows, lanes): the words of the boards, and sets of their cells."""
    roots: NDArray[np.int64]
    """int64 (lanes): the roots that they descend from."""

    @classmethod
    def empty(cls, shape: Shape) -> Lanes:
        """Make lanes without boards."""
        return cls(shape.memory(shape.lanes), isolated(shape.lanes, np.int64))


class Children(NamedTuple):
    """The boards that a round of splitting makes, written from the front."""

    boards: NDArray[Any]
    """(2 B, words): in the order of their parents."""
    parents: NDArray[np.int64]
    """int64 (2 B): the index of each child's parent."""
    ready: NDArray[np.bool_]
    """bool (2 B): whether the child needs no more splitting."""

    @classmethod
    def empty(cls, parent_count: int, shape: Shape) -> Children:
        """Make arrays with space for two children of every parent."""
        return cls(
            boards=np.zeros((2 * parent_count, shape.words), shape.word),
            parents=np.empty(2 * parent_count, np.int64),
            ready=np.empty(2 * parent_count, np.bool_),
        )


def encode_limit(limit: int | None) -> np.uint64:
    """Return the limit as kernels take it.

    Without a limit it is 2^64 - 1, which no count reaches, see ``SearchResults.counts``.
    """
    max_limit = 2**64 - 1
    if limit is None:
        return np.uint64(max_limit)
    return np.uint64(min(limit, max_limit))
