"""Fork and join: how the threads of a CPU take boards from each other, without locks.

``arguments`` describes the pool. A thread whose stack is empty takes a place of it; a thread that
has boards to spare sees that more places are taken than given, and gives the older half of its
stack, the boards that were split least. It keeps the others: they are smaller, and in its cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpusudoku.kernels.atomics import (
    add,
    compare_exchange,
    load,
    load_relaxed,
    pause,
    sleep,
    store,
)
from gpusudoku.kernels.kernel import Jit
from gpusudoku.kernels.search.arguments import (
    BOARDS_PER_PLACE,
    FILLED,
    GIVEN,
    JOINED,
    PLACE,
    TAKEN,
)
from gpusudoku.kernels.search.shape import Shape

PAUSES = 100
"""Checks before a thread that waits begins to sleep: some microseconds, less than a switch of
threads takes."""
SLEEPS = 70
"""Sleeps before it returns to Python, after 50 ms in all."""
SLEEP_MICROSECONDS = 20
"""The first sleep; each one is longer than the one before by as much."""


class Sharing(NamedTuple):
    """Functions by which threads share the boards of a shape."""

    take: Callable[..., int]
    """``take(pool, stack)``: move boards of the frontier to the stack, which is empty. Returns how
    many; 0 if all are taken."""
    receive: Callable[..., int]
    """``receive(pool, stack, recalls, recalls_seen)``: wait until another thread gives boards, and
    move them to the stack. The thread has none left, and the frontier is taken.

    Returns how many; 0 if the thread is to return to Python, NONE_LEFT if no thread has any.
    """
    give: Callable[..., int]
    """``give(pool, stack, low, height)``: give the lower half of the stack, rows from ``low`` on,
    to a thread that waits. Returns how many boards: 0 if none waits, or its row is not free yet."""


NONE_LEFT = -1
"""Returned instead of a number of boards: no thread has any left."""


def build_sharing(shape: Shape, jit: Jit) -> Sharing:
    """Make the functions."""
    planes = shape.planes
    lanes = shape.lanes

    @jit
    def copy(boards, roots, start, target_boards, target_roots, number):
        """Copy boards, in reverse: those that are taken first are the last on a stack."""
        for i in range(number):
            row = start + number - 1 - i
            for w in range(planes):
                target_boards[i, w] = boards[row, w]
            target_roots[i] = roots[row]

    @jit
    def take(pool, stack):
        # Not by an addition: a thread that takes a place behind the frontier has to wait there.
        place = load(pool.state, TAKEN)
        filled = pool.state[FILLED]
        while place < filled and not compare_exchange(pool.state, TAKEN, place, place + 1):
            place = load(pool.state, TAKEN)
        if place >= filled:
            return 0
        start = place * pool.state[BOARDS_PER_PLACE]
        number = min(pool.state[BOARDS_PER_PLACE], pool.boards.shape[0] - start)
        copy(pool.boards, pool.roots, start, stack.boards, stack.roots, number)
        return number

    @jit
    def await_boards(pool, row, place, recalls, recalls_seen):
        """Wait until boards are in a place; return 1 then, 0 to return to Python, or NONE_LEFT."""
        state = pool.state
        for check in range(PAUSES + SLEEPS):
            if load(pool.turns, row) == place + 1:
                return 1
            # TAKEN is read first. As GIVEN and JOINED only grow, the test may succeed too late, but
            # never too early.
            taken = load(state, TAKEN)
            waiting = taken - load(state, GIVEN)
            if waiting >= load(state, JOINED):
                return NONE_LEFT
            if load_relaxed(recalls, 0) != recalls_seen:
                return 0
            if check < PAUSES:
                pause()
            else:
                sleep(SLEEP_MICROSECONDS * (check - PAUSES + 1))
        return 0

    @jit
    def receive(pool, stack, recalls, recalls_seen):
        place = stack.state[PLACE]
        if place < 0:
            place = add(pool.state, TAKEN, 1)
            stack.state[PLACE] = place
        rows = pool.turns.shape[0]
        row = (place - pool.state[FILLED]) % rows
        outcome = await_boards(pool, row, place, recalls, recalls_seen)
        if outcome != 1:
            return outcome
        number = pool.sizes[row]
        copy(pool.given_boards[row], pool.given_roots[row], 0, stack.boards, stack.roots, number)
        store(pool.turns, row, place + rows)
        stack.state[PLACE] = -1
        return number

    @jit
    def give(pool, stack, low, height):
        place = load(pool.state, GIVEN)
        if place >= load(pool.state, TAKEN):
            return 0
        row = (place - pool.state[FILLED]) % pool.turns.shape[0]
        if load(pool.turns, row) != place:
            return 0
        if not compare_exchange(pool.state, GIVEN, place, place + 1):
            return 0
        number = min(lanes, (height - low + 1) // 2)
        copy(stack.boards, stack.roots, low, pool.given_boards[row], pool.given_roots[row], number)
        pool.sizes[row] = number
        store(pool.turns, row, place + 1)
        return number

    return Sharing(take, receive, give)
