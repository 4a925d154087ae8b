"""Writing the file of a long run: what was found, and what is left, always together.

Each save is one transaction, so the file has both as they were after one of them, even if the
process is killed or the machine loses power. What is left is kept in portions, each with a number:
a run on one machine has one, a cluster one for each worker, done in any order.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import Any

from gpusudoku.engines.engine import WorkCounters
from gpusudoku.errors import InputError, SaveError
from gpusudoku.jobs.interrupts import held_interrupts
from gpusudoku.planning.plan import Portion, StepResult, TaskCount
from gpusudoku.results import decimal_digits
from gpusudoku.runs.identity import Identity
from gpusudoku.runs.keeper import check_step, share_done
from gpusudoku.runs.kept import (
    Database,
    Kept,
    Owner,
    Position,
    RunState,
    load,
    number_of,
    row_of,
    sealed,
    unsealed,
)


class SqliteRunStore:
    """A long run in a file, for this process alone. A context manager; for one thread at a time.

    Making one checks and locks the file, which may be missing or empty, and writes nothing; an
    InputError says why it cannot be used. ``begin`` comes next, once the identity is known.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._database = Database(path, write=True)
        self.path, self.nodes = self._database.path, inf
        """The file, as it was named, and ``Keeper.nodes``."""
        self.hint = f"; 'gpusudoku resume {self.path}' goes on"
        self._kept: Kept | None = None
        try:
            if not self._database.is_new:
                self._kept = load(self._database)
        except BaseException:
            self._database.close()
            raise
        self._left: dict[int, Portion] = dict(self._kept.left) if self._kept else {}
        self._state = self._kept.state if self._kept else RunState()

    def __enter__(self) -> SqliteRunStore:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    @property
    def identity(self) -> Identity | None:
        """The identity of the run in the file; None if there is none yet."""
        return None if self._kept is None else self._kept.identity

    @property
    def count(self) -> int:
        """Solutions found, in all."""
        return self._state.count

    @property
    def seconds(self) -> float:
        """Seconds of work, in all."""
        return self._state.seconds

    @property
    def tally(self) -> WorkCounters:
        """The work done, in all."""
        return self._state.tally

    @property
    def done(self) -> float:
        """The estimated share of the work that is done, 0 to 1."""
        return self._state.done

    @property
    def finished(self) -> bool:
        """True if nothing is left."""
        return self._state.finished

    @property
    def position(self) -> Position:
        """The place up to which ordered output is written."""
        return self._state.position or Position()

    def begin(
        self, identity: Identity, setup: Mapping[str, Any], portion: Portion | None = None
    ) -> None:
        """Begin a run, or go on with the one that the file holds, which keeps its setup.

        ``portion`` is all that is to be done, in whole tasks; None for ordered output.
        """
        kept = self._kept
        if kept is not None and (different := identity.difference(kept.identity)):
            raise InputError(f"{self.path}: holds another run: {different}")
        try:
            with held_interrupts(), self._transaction():
                if kept is None:
                    self._database.make()
                    self._put("identity", identity.json)
                    self._put("setup", json.dumps(setup, default=int))  # NumPy's integers, too
                    state = RunState(
                        began=time.time(), finished=portion is not None and not portion
                    )
                    if portion:
                        self._put_portion(1, portion)
                        end = max(run.stop for run in portion.tasks)
                        state = replace(state, tasks=len(portion), end=end, portions=1)
                    self._put_state(state)
                if not self.finished:  # its last owner stays known
                    self._put("owner", Owner.here().json)
        except SaveError as error:
            raise InputError(str(error).partition(";")[0]) from None
        self._kept = load(self._database)
        self._state, self._left = self._kept.state, dict(self._kept.left)

    def deal(self, hands: int = 1, ids: Iterable[int] | None = None) -> dict[int, Portion]:
        """See ``Keeper``; a SaveError says if that cannot be saved."""
        old = list(self._left if ids is None else ids)
        if len(old) == hands or not old:
            return {number: self._left[number] for number in old}
        joined = Portion.joined([self._left[number] for number in old])
        first = max(self._left, default=0) + 1
        new = dict(enumerate(joined.dealt(hands), first)) if joined else {}
        left = {number: each for number, each in self._left.items() if number not in old} | new
        with held_interrupts():
            with self._transaction():
                for number in old:
                    self._database.run("DELETE FROM portions WHERE id = ?", (number,))
                for number, portion in new.items():
                    self._put_portion(number, portion)
                state = self._put_state(replace(self._state, portions=len(left)))
            self._left, self._state = left, state
        return new

    def save(
        self,
        number: int,
        step: StepResult,
        done: float | None = None,
        position: Position | None = None,
    ) -> None:
        """Save what came of working on a portion for a while; see ``Keeper``.

        ``done`` is the estimated share of the whole work that is done, by default that of the
        tasks; ``position`` the end of the output that has all of the step, in any order. After a
        SaveError the file has all up to the save before.
        """
        check_step(self._left[number], step)
        left = {other: each for other, each in self._left.items() if other != number}
        if step.left:
            left[number] = step.left
        if done is None:
            nodes = self.tally.nodes + step.tally.nodes
            done = share_done(left.values(), self._state.tasks, nodes / self.nodes)
        with held_interrupts():  # so that this object knows what is saved
            with self._transaction():
                rows = sum(self._add(found) for found in step.found)
                self._database.run("DELETE FROM portions WHERE id = ?", (number,))
                if step.left:
                    self._put_portion(number, step.left)
                tally = replace(self.tally)
                tally.add(step.tally)
                changed = replace(
                    self._state,
                    tally=tally,
                    count=self._state.count + step.count,
                    rows=self._state.rows + rows,
                    portions=len(left),
                    finished=not left,
                    position=position or self._state.position,
                )
                state = self._put_state(changed, step.seconds, done)
            self._left, self._state = left, state

    def move(
        self,
        position: Position,
        *,
        count: int,
        seconds: float,
        done: float | None = None,
        finished: bool = False,
    ) -> None:
        """Save the place up to which ordered output is written, and on the disk; see ``save``."""
        with held_interrupts():
            with self._transaction():
                changed = replace(self._state, position=position, count=count, finished=finished)
                state = self._put_state(changed, seconds, done)
            self._state = state

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Save all that a block does, or nothing of it."""
        with self._database.saving():
            if self._kept is not None:  # the lock is let go for a moment at each commit
                [(text,)] = self._database.run("SELECT value FROM facts WHERE name = 'owner'")
                if text != self._kept.owner.json:
                    raise SaveError(f"{self.path}: {Owner.parse(text)} is running it now")
            yield
            self._database.commit()

    def _put(self, name: str, value: str) -> None:
        self._database.run("REPLACE INTO facts VALUES (?, ?, ?)", sealed(name, value))

    def _put_portion(self, number: int, portion: Portion) -> None:
        self._database.run("INSERT INTO portions VALUES (?,?,?,?,?,?)", (number, *row_of(portion)))

    def _put_state(
        self, state: RunState, seconds: float = 0.0, done: float | None = None
    ) -> RunState:
        """Write the state after some more seconds of work, and return it."""
        state = state.later(seconds, done)
        self._put("state", state.json)
        return state

    def _add(self, found: TaskCount) -> int:
        """Add the solutions found of some tasks; return the number of new rows."""
        key = (found.tasks.start, found.tasks.stop)
        rows = self._database.run(
            "SELECT first, after, count, seal FROM tasks WHERE first = ? AND after = ?", key
        ).fetchall()
        before = sum((number_of(unsealed(row)[2]) for row in rows), 0)
        row = sealed(*key, decimal_digits(before + found.solutions))
        self._database.run("REPLACE INTO tasks VALUES (?, ?, ?, ?)", row)
        return 1 - len(rows)
