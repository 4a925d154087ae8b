"""Fork and join: how the threads of a CPU take boards from each other, without locks.

``arguments`` describes the pool. A thread whose stack is empty takes a place of the pool. If more
places are taken than given, a thread with several boards gives the older half of its stack: the
boards that were split least. It keeps the other half: they are smaller, and in its cache.
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
    AWAITED_PLACE,
    BOARDS_PER_PLACE,
    FILLED,
    JOINED,
    NEXT_TO_FILL,
    NEXT_TO_TAKE,
)
from gpusudoku.kernels.search.shape import Shape

PAUSES = 100
"""Checks before a waiting thread begins to sleep. They take some microseconds, less than a switch
of threads."""
SLEEPS = 70
"""Sleeps before a waiting thread returns to Python, after 50 ms in all."""
SLEEP_MICROSECONDS = 20
"""The length of the first sleep. Each one is longer by this than the one before."""


class Sharing(NamedTuple):
    """Functions by which threads share the boards of a shape."""

    take: Callable[..., int]
    """``take(pool, stack)``: move boards of the frontier to the stack, which is empty. Returns the
    number of boards; 0 if all of the frontier is taken."""
    receive: Callable[..., int]
    """``receive(pool, stack, recalls, recalls_seen)``: wait until another thread gives boards, and
    move them to the stack. The stack is empty, and all of the frontier is taken.

    Returns the number of boards; 0 if the thread must return to Python, NONE_LEFT if no thread has
    any boards."""
    give: Callable[..., int]
    """``give(pool, stack, low, height)``: give the lower half of the stack, rows from ``low`` up to
    ``height`` exclusive, to a thread that waits. Returns the number of boards; 0 if no thread waits
    or the row of the pool is not free yet."""


NONE_LEFT = -1
"""Returned instead of a number of boards: no thread has any, and the search is over."""


def build_sharing(shape: Shape, jit: Jit) -> Sharing:
    """Make the functions."""
    planes = shape.planes
    lanes = shape.lanes

    @jit
    def copy(boards, roots, start, target_boards, target_roots, count):
        """Copy boards in reverse order: those that are taken first come last on a stack."""
        for i in range(count):
            row = start + count - 1 - i
            for w in range(planes):
                target_boards[i, w] = boards[row, w]
            target_roots[i] = roots[row]

    @jit
    def take(pool, stack):
        # Not by an addition: a thread that takes a place after the frontier has to wait there.
        place = load(pool.state, NEXT_TO_TAKE)
        filled_places = pool.state[FILLED]
        while place < filled_places and not compare_exchange(
            pool.state, NEXT_TO_TAKE, place, place + 1
        ):
            place = load(pool.state, NEXT_TO_TAKE)
        if place >= filled_places:
            return 0
        start = place * pool.state[BOARDS_PER_PLACE]
        count = min(pool.state[BOARDS_PER_PLACE], pool.boards.shape[0] - start)
        copy(pool.boards, pool.roots, start, stack.boards, stack.roots, count)
        return count

    @jit
    def await_boards(pool, row, place, recalls, recalls_seen):
        """Wait until a place has boards, and return 1; or 0 to return to Python, or NONE_LEFT."""
        state = pool.state
        for check in range(PAUSES + SLEEPS):
            if load(pool.turns, row) == place + 1:
                return 1
            # NEXT_TO_TAKE is read first. As NEXT_TO_FILL and JOINED only grow, the condition may
            # become true too late, but never too early.
            taken_places = load(state, NEXT_TO_TAKE)
            waiting_threads = taken_places - load(state, NEXT_TO_FILL)
            if waiting_threads >= load(state, JOINED):
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
        # A thread that returned to Python while it waited keeps its place.
        place = stack.state[AWAITED_PLACE]
        if place < 0:
            place = add(pool.state, NEXT_TO_TAKE, 1)
            stack.state[AWAITED_PLACE] = place
        rows = pool.turns.shape[0]
        row = (place - pool.state[FILLED]) % rows
        outcome = await_boards(pool, row, place, recalls, recalls_seen)
        if outcome != 1:
            return outcome
        count = pool.sizes[row]
        copy(pool.given_boards[row], pool.given_roots[row], 0, stack.boards, stack.roots, count)
        store(pool.turns, row, place + rows)  # the row is free for that place
        stack.state[AWAITED_PLACE] = -1
        return count

    @jit
    def give(pool, stack, low, height):
        place = load(pool.state, NEXT_TO_FILL)
        if place >= load(pool.state, NEXT_TO_TAKE):
            return 0  # no thread waits
        row = (place - pool.state[FILLED]) % pool.turns.shape[0]
        if load(pool.turns, row) != place:
            return 0  # the row's boards of an earlier place have not been read
        if not compare_exchange(pool.state, NEXT_TO_FILL, place, place + 1):
            return 0  # another thread gives to this place
        count = min(lanes, (height - low + 1) // 2)
        copy(stack.boards, stack.roots, low, pool.given_boards[row], pool.given_roots[row], count)
        pool.sizes[row] = count
        store(pool.turns, row, place + 1)  # publishes the boards: they are written before this
        return count

    return Sharing(take, receive, give)
