"""What a search reads and writes, in named groups: the same for the CPU, for CUDA and in Python.

A search is ``run(work, stack, found, budget, limit, lanes)``. It takes boards from ``work``,
explores them on ``stack``, and reports to ``found``; the last is its own affair. Shapes are
those of one thread. A CUDA kernel gets a ``Pool`` for work, to which threads give boards back, and
the stacks of all threads, with one axis more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
STATES = 3

# Words of Pool.state. Boards lie in a ring: place p is in row p, or in row p - capacity.
TAKEN = 0
"""The place of the next board to take; at first in a row of this number."""
FILLED = 1
"""The place at which they end: what this launch gives may be taken in the next one."""
GIVEN = 2
"""The place for the next board that a thread gives."""
END = 3
"""The place at which there is no room for more."""
BUSY = 4
"""The threads that had boards left when the launch ended, and can go on with them."""
STOPPED = 5
"""The warps that have spent their budget of rounds: once there is one, all others stop."""
POOL_STATES = 6


class Work(NamedTuple):
    """The boards to search: the frontier, or a part of it. Threads share it."""

    boards: NDArray[Any]
    """(B, words): rows of a ``Shape``."""
    roots: NDArray[np.int64]
    """int64 (B): the root that each board descends from, an index into ``Found.counts``."""
    cursor: NDArray[np.int64]
    """int64 (1): the next board to take."""

    @classmethod
    def empty(cls, shape: Shape) -> Work:
        """No boards."""
        boards = np.empty((0, shape.words), shape.word)
        return cls(boards, np.empty(0, np.int64), np.zeros(1, np.int64))


class Pool(NamedTuple):
    """The boards that all threads of a GPU share: they take from it, and give to it.

    A launch takes only what was there when it began. So no thread ever waits for another one's
    board to be written.
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
    """int64 (STATES): TOP, IN_LANES and ENDS."""
    tally: NDArray[np.uint64]
    """uint64 (TALLIES): the statistics of this thread."""

    @classmethod
    def empty(cls, depth: int, shape: Shape) -> Stack:
        """A stack without a board; memory that is never touched is never taken."""
        return cls(
            np.zeros((depth, shape.words), shape.word),
            np.empty(depth, np.int64),
            np.full(STATES, -1, np.int64),
            np.zeros(TALLIES, np.uint64),
        )


class Found(NamedTuple):
    """What was found. Threads of a GPU share it; a thread of a CPU has its own."""

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
    def empty(cls, roots: int, room: int, cells: int) -> Found:
        """Nothing found yet."""
        return cls(
            np.zeros(roots, np.uint64),
            np.empty((room, cells), np.uint8),
            np.empty(room, np.int64),
            np.zeros(1, np.int64),
        )


class Lanes(NamedTuple):
    """The current boards of a thread, one in each lane."""

    memory: NDArray[Any]
    """(shape.memory_rows, lanes): their words and what is known of them."""
    roots: NDArray[np.int64]
    """int64 (lanes): the roots that they descend from."""

    @classmethod
    def empty(cls, shape: Shape) -> Lanes:
        """No boards yet."""
        return cls(shape.memory(shape.lanes), np.zeros(shape.lanes, np.int64))


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
