"""Threads that take turns under a clock of their own: what many cores would do, on one.

A world has a thread for each virtual thread, but only one of them runs at a time: the one whose
clock is the earliest. Whoever is charged seconds moves its clock on, and lets those go first that
are now behind it. So a program that shares its work among threads does on one core just what it
would do on many, in the order in which they would do it, and every run is the same.

Two kinds of work are told apart. ``work`` is compiled code, which any number of threads do at the
same time. ``python`` is done by one thread at a time, as Python has it: the others queue up.
Nothing here knows of Sudoku.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any


class World:
    """A clock, the threads that live by it, and what they were charged.

    Parameters
    ----------
    wake
        Seconds from waking a thread until it runs.
    """

    def __init__(self, wake: float = 0.0) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        """Seconds charged, by what for, of all threads together."""
        self.trace: list[tuple[str, float, float]] = []
        """Every charge: what for, from when, until when."""
        self._wake = wake
        self._numbers = count()
        self._ready: list[tuple[float, int, _Turn]] = []
        self._current = _Turn()
        self._python_free = 0.0

    def clock(self) -> float:
        """The time of the thread that calls, in seconds."""
        return self._current.now

    def work(self, what: str, seconds: float) -> None:
        """Charge the thread that calls some seconds that it takes beside the others."""
        self._charge(what, self._current.now, seconds)

    def python(self, what: str, seconds: float) -> None:
        """Charge it seconds in which no other thread runs Python; before, it waits for its turn."""
        start = max(self._python_free, self._current.now)
        self._python_free = start + seconds
        self._charge(what, start, seconds)

    def thread(self, target: Callable[..., None], args: Sequence[Any] = (), **_: Any) -> Thread:
        """A thread of this world; takes the arguments of ``threading.Thread``."""
        return Thread(self, target, args)

    def condition(self) -> Condition:
        """A condition of this world."""
        return Condition(self)

    def queue(self) -> Queue:
        """A queue of this world."""
        return Queue(self)

    def _charge(self, what: str, start: float, seconds: float) -> None:
        end = start + seconds
        self.spent[what] += seconds
        self.trace.append((what, start, end))
        self._be_ready(self._current, end)
        self._next(self._current)

    def _be_ready(self, turn: _Turn, now: float) -> None:
        turn.now = max(turn.now, now)
        heappush(self._ready, (turn.now, next(self._numbers), turn))

    def _next(self, mine: _Turn | None) -> None:
        """Let the earliest thread go on; returns once it is the turn of ``mine`` again."""
        if not self._ready:
            raise RuntimeError("all threads wait, and nobody is left to wake one")
        self._current = heappop(self._ready)[2]
        if self._current is mine:
            return
        self._current.given.release()
        if mine is not None:
            mine.given.acquire()


class _Turn:
    """A thread's clock, and the lock that it waits for while others have their turn."""

    def __init__(self) -> None:
        self.now = 0.0
        self.given = threading.Semaphore(0)


class Thread:
    """What a program uses of ``threading.Thread``, in a world."""

    def __init__(self, world: World, target: Callable[..., None], args: Sequence[Any]) -> None:
        self._world, self._target, self._args = world, target, args
        self._turn = _Turn()
        self._waiting: list[_Turn] = []
        self._alive = False
        self._real = threading.Thread(target=self._run, daemon=True)

    @property
    def ident(self) -> int | None:
        """None before it was started."""
        return self._real.ident

    def start(self) -> None:
        """Start it; it is ready at once."""
        self._alive = True
        self._real.start()
        self._world._be_ready(self._turn, self._world.clock())

    def is_alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._alive

    def join(self, timeout: float | None = None) -> None:
        """Wait until it has ended; who looks again after a timeout sees nothing else meanwhile."""
        world = self._world
        if self._alive:
            self._waiting.append(world._current)
            world._next(world._current)

    def _run(self) -> None:
        self._turn.given.acquire()
        world = self._world
        try:
            self._target(*self._args)
        finally:
            self._alive = False
            for turn in self._waiting:
                world._be_ready(turn, world.clock())
            world._next(None)


class Condition:
    """What a program uses of ``threading.Condition``, in a world: nobody else runs inside it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._waiting: list[_Turn] = []

    def __enter__(self) -> Condition:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def wait(self) -> None:
        """Wait until another thread notifies this one."""
        world = self._world
        self._waiting.append(world._current)
        world._next(world._current)

    def notify(self, number: int) -> None:
        """Wake some that wait, those first that have waited longest."""
        world = self._world
        woken, self._waiting = self._waiting[:number], self._waiting[number:]
        for turn in woken:
            world._be_ready(turn, world.clock() + world._wake)

    def notify_all(self) -> None:
        """Wake all that wait."""
        self.notify(len(self._waiting))


class Queue:
    """What a program uses of ``queue.SimpleQueue``, in a world: one thread waits for items."""

    def __init__(self, world: World) -> None:
        self._items: list[Any] = []
        self._change = Condition(world)

    def put(self, item: Any) -> None:
        """Add an item, and wake the thread that waits for one."""
        self._items.append(item)
        self._change.notify_all()

    def get(self, timeout: float | None = None) -> Any:
        """The first item; who looks again after a timeout sees nothing else meanwhile."""
        while not self._items:
            self._change.wait()
        return self._items.pop(0)
