"""What a search reads and writes, in named groups: the same for the CPU, for CUDA and in Python.

A thread takes boards from a pool, explores them on its stack, and reports to ``found``. Shapes are
those of one thread; a CUDA kernel gets the stacks of all threads, with one more axis.

All threads share the pool. It holds boards that nobody works on, in places numbered from 0. The
frontier fills the first places. A thread without boards takes the next place (TAKEN); a thread with
boards to spare gives some of them into the next free place (GIVEN). Both numbers only grow, by
atomic operations, so only one thread gets each number, and no board is lost or taken twice. The
pools differ in when boards are given, as threads of a GPU must not wait for each other:

* ``CpuPool``: a place holds several boards. If TAKEN > GIVEN, threads are waiting. A thread with
  enough boards on its stack gives some of them. When all threads wait, the search is over.
* ``Pool``, for a GPU: a place holds one board. Boards are given at the end of a launch, and taken
  in the next one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.jobs.threads import isolated
from gpusudoku.kernels.search.shape import Shape

# Words of Stack.tally
NODES = 0
"""Boards looked at."""
GUESSES = 1
"""Guesses, each of which makes one more partial board."""
DEEPEST = 2
"""The most boards that were left on the stack for later."""
TALLIES = 3

# Words of Stack.state
TOP = 0
"""The row of the top board, -1 if the stack is empty."""
IN_LANES = 1
"""The lanes whose boards the last call put on top of the stack, as bits; -1 before the first."""
ENDS = 2
"""On a GPU: how the last 32 boards ended, as bits; see ``thread``."""
BELOW = 3
"""On a CPU: the row below the bottom board; -1 until boards are given from the bottom."""
PLACE = 4
"""On a CPU: the place of the pool that the thread has taken and waits for; -1 if there is none."""
STATES = 5

# Words of CpuPool.state and Pool.state
TAKEN = 0
"""The next place to take."""
FILLED = 1
"""The number of places that were filled at the beginning of the search, or of a launch."""
GIVEN = 2
"""The next place to give boards to."""
# On a CPU
JOINED = 3
"""The number of threads that take part."""
BOARDS_PER_PLACE = 4
"""The number of boards of the frontier in a place; the last place may have fewer."""
CPU_POOL_STATES = 5
# On a GPU
END = 3
"""The place at which there is no room for more."""
BUSY = 4
"""The threads that had boards left when the launch ended, and can go on with them."""
STOPPED = 5
"""The warps that have spent their budget of rounds: once there is one, all others stop."""
POOL_STATES = 6

MAX_UNREPORTED = 4096
"""Solutions after which a thread adds them to the count of their root, and looks at the limit."""
PLACES_PER_THREAD = 4
"""The frontier is divided into so many places for each thread, if that makes places full."""
ROWS_PER_THREAD = 2
"""Places for each thread to which boards can be given before one of them has been read."""


class CpuPool(NamedTuple):
    """The boards that the threads of a CPU share.

    The frontier fills the first places. Place p behind them is row ``(p - FILLED) % rows`` of
    ``given_boards``; ``turns`` tells whose turn it is to access a row:

        turns[row] == p         the row is free for the thread that gives into place p
        turns[row] == p + 1     the boards are there, for the thread that has taken place p
        turns[row] == p + rows  they were read: the row is free for the next place in it
    """

    boards: NDArray[Any]
    """(B, words): the frontier, rows of a ``Shape``."""
    roots: NDArray[np.int64]
    """int64 (B): the root that each board descends from, an index into ``Found.counts``."""
    given_boards: NDArray[Any]
    """(rows, lanes, words): boards that threads have given, those that were split most first."""
    given_roots: NDArray[np.int64]
    """int64 (rows, lanes): their roots."""
    sizes: NDArray[np.int64]
    """int64 (rows): the number of boards in each row."""
    turns: NDArray[np.int64]
    """int64 (rows)."""
    state: NDArray[np.int64]
    """int64 (CPU_POOL_STATES): TAKEN, FILLED, GIVEN, JOINED and BOARDS_PER_PLACE."""

    @classmethod
    def of(
        cls, boards: NDArray[Any], roots: NDArray[np.int64], threads: int, shape: Shape
    ) -> CpuPool:
        """Make the pool of a frontier for so many threads."""
        rows = ROWS_PER_THREAD * threads
        pool = cls(
            np.ascontiguousarray(boards),
            np.ascontiguousarray(roots),
            np.zeros((rows, shape.lanes, shape.words), shape.word),
            np.empty((rows, shape.lanes), np.int64),
            np.zeros(rows, np.int64),
            np.empty(rows, np.int64),
            isolated(CPU_POOL_STATES, np.int64),
        )
        boards_per_place = max(1, min(shape.lanes, len(boards) // (PLACES_PER_THREAD * threads)))
        filled = -(-len(boards) // boards_per_place)
        pool.state[:] = 0, filled, filled, 0, boards_per_place
        pool.turns[:] = filled + np.arange(rows)
        return pool

    def remaining(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the boards that no thread has, and their roots.

        While threads are at work, some boards may be missing, doubled or wrong: a forecast can bear
        that.
        """
        taken, filled, _, _, boards_per_place = self.state.tolist()
        row = np.arange(len(self.turns))
        is_full = (self.turns - filled - row) % len(row) == 1
        sizes = np.where(is_full, self.sizes, 0)
        is_board = np.arange(self.given_roots.shape[1]) < sizes[:, np.newaxis]
        start = taken * boards_per_place
        boards = np.concatenate([self.given_boards[is_board], self.boards[start:]])
        roots = np.concatenate([self.given_roots[is_board], self.roots[start:]])
        return boards, roots


class Pool(NamedTuple):
    """The boards that all threads of a GPU share: they take from it, and give to it.

    A launch takes only what was there when it began. So no thread ever waits for another one's
    board to be written. Place p is in row p, or in row p - capacity.
    """

    boards: NDArray[Any]
    """(capacity, words): rows of a ``Shape``."""
    roots: NDArray[np.int64]
    """int64 (capacity): the roots of those boards."""
    state: NDArray[np.int64]
    """int64 (POOL_STATES): TAKEN, FILLED, GIVEN, END, BUSY and STOPPED."""


class Stack(NamedTuple):
    """What one thread has not explored yet, kept from call to call."""

    boards: NDArray[Any]
    """(depth, words): rows of a ``Shape``."""
    roots: NDArray[np.int64]
    """int64 (depth): the roots of those boards."""
    state: NDArray[np.int64]
    """int64 (STATES): TOP, IN_LANES, ENDS, BELOW and PLACE."""
    tally: NDArray[np.uint64]
    """uint64 (TALLIES): the statistics of this thread."""

    @classmethod
    def empty(cls, depth: int, shape: Shape) -> Stack:
        """A stack without a board; memory that is never touched is never taken."""
        stack = cls(
            np.zeros((depth, shape.words), shape.word),
            np.empty(depth, np.int64),
            isolated(STATES, np.int64),
            isolated(TALLIES, np.uint64),
        )
        stack.state[:] = -1
        return stack


class Found(NamedTuple):
    """What was found. Threads share the counts; those of a GPU share the rest, too."""

    counts: NDArray[np.uint64]
    """uint64 (roots): the solutions of every root. None can overflow: at a billion solutions a
    second, 2^64 take 584 years."""
    solutions: NDArray[np.uint8]
    """uint8 (room, n * n): solutions are written here, if there is room for any."""
    roots: NDArray[np.int64]
    """int64 (room): the root of each of them."""
    used: NDArray[np.int64]
    """int64 (1): the rows of ``solutions`` that are claimed; past the room, threads wait."""

    @classmethod
    def into(cls, counts: NDArray[np.uint64], room: int, cells: int) -> Found:
        """Solutions are to be added to these counts, and listed if there is room for any."""
        return cls(
            counts,
            np.empty((room, cells), np.uint8),
            np.empty(room, np.int64),
            isolated(1, np.int64),
        )

    @classmethod
    def empty(cls, roots: int, room: int, cells: int) -> Found:
        """Nothing found yet."""
        return cls.into(np.zeros(roots, np.uint64), room, cells)


class Lanes(NamedTuple):
    """The current boards of a thread, one in each lane."""

    memory: NDArray[Any]
    """(shape.memory_rows, lanes): their words and what is known of them."""
    roots: NDArray[np.int64]
    """int64 (lanes): the roots that they descend from."""

    @classmethod
    def empty(cls, shape: Shape) -> Lanes:
        """No boards yet."""
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
    def empty(cls, parents: int, shape: Shape) -> Children:
        """Room for two children of every parent."""
        return cls(
            np.zeros((2 * parents, shape.words), shape.word),
            np.empty(2 * parents, np.int64),
            np.empty(2 * parents, np.bool_),
        )


def limit_of(limit: int | None) -> np.uint64:
    """The limit as the kernels take it: no count reaches 2^64 - 1, see ``Found.counts``."""
    most = 2**64 - 1
    value: np.uint64 = np.uint64(most if limit is None else min(limit, most))
    return value
