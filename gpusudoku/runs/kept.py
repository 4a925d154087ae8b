"""What the file of a long run holds, read and checked."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isfinite
from typing import Any

from gpusudoku.engines.engine import WorkCounters
from gpusudoku.planning.portion import Found, Portion
from gpusudoku.results import decimal_digits
from gpusudoku.runs.database import Database
from gpusudoku.runs.identity import Identity
from gpusudoku.runs.owner import Owner
from gpusudoku.runs.rows import Row, number_of, portion_of, unsealed
from gpusudoku.runs.tasks import tasks_in

HISTORY = 60
"""Saves that are remembered, to tell a rate."""


@dataclass(frozen=True)
class Position:
    """How far ordered output has come: what is written, and stays written."""

    boards: int = 0
    """Boards that are done."""
    solutions: int = 0
    """Solutions done of the next board."""
    size: int = 0
    """Bytes of the output file."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Whatever else is needed to go on, as JSON."""


@dataclass(frozen=True)
class State:
    """What each save changes."""

    tasks: int = 0
    """Tasks of the whole run; 0 of ordered output."""
    end: int = 0
    """The number after the last of them."""
    count: int = 0
    """Solutions found."""
    seconds: float = 0.0
    """Seconds of work, of all processes that worked at it one after the other."""
    done: float = 0.0
    """The estimated share of the work, 0 to 1."""
    rows: int = 0
    """Rows of what was found."""
    portions: int = 0
    """Portions that are left."""
    tally: WorkCounters = field(default_factory=WorkCounters)
    """What was done."""
    finished: bool = False
    began: float = 0.0
    """When, by the clock of whoever did; shown, and used for nothing else."""
    saved: float = 0.0
    """When it was last saved, likewise."""
    history: tuple[tuple[float, float, int], ...] = ()
    """The last saves: seconds of work, share done, solutions found."""
    position: Position | None = None

    def later(self, seconds: float, done: float | None) -> State:
        """The state after some more seconds of work, as it is saved now."""
        total = self.seconds + max(0.0, seconds)
        share = 1.0 if self.finished else min(1.0, max(self.done, done or 0.0))
        history = (*self.history, (total, share, self.count))[-HISTORY:]
        return replace(self, seconds=total, done=share, history=history, saved=time.time())

    @property
    def json(self) -> str:
        """All of it as text; numbers of any size are texts in it."""
        history = [[*others, decimal_digits(count)] for *others, count in self.history]
        big = {"count": decimal_digits(self.count), "history": history}
        return json.dumps({**asdict(self), **big}, sort_keys=True)

    @classmethod
    def parse(cls, text: str) -> State:
        """What ``json`` gave.

        Raises
        ------
        ValueError, TypeError, KeyError
            If it is none.
        """
        found = json.loads(text)
        position = found["position"]
        if position is not None:
            position = Position(**position)
            _check([position.boards, position.solutions, position.size], int)
            if not isinstance(position.notes, dict):
                raise ValueError("not a position")
        history = tuple((seconds, done, number_of(n)) for seconds, done, n in found["history"])
        big = {"count": number_of(found["count"]), "history": history, "position": position}
        tally = WorkCounters(**found["tally"])
        made = cls(**{**found, **big, "tally": tally})
        _check([made.tasks, made.end, made.rows, made.portions], int)
        shares = [made.done, *(done for _, done, _ in history)]
        _check([made.seconds, made.began, made.saved, *shares], float)
        _check([seconds for seconds, _, _ in history], float)
        _check([*asdict(tally).values()], int)
        if not isinstance(made.finished, bool) or max(shares) > 1:
            raise ValueError("not a state")
        return made


@dataclass(frozen=True)
class Kept:
    """A long run as its file has it after the last save."""

    identity: Identity
    setup: Mapping[str, Any]
    """What it takes to go on; ``kind`` tells who knows how."""
    owner: Owner
    """Who works at it, or did last."""
    state: State
    found: Mapping[range, int]
    """Solutions of runs of tasks, of unfinished ones those so far."""
    left: Mapping[int, Portion]
    """What is left to do, by number."""

    @property
    def unfinished(self) -> list[Found]:
        """What was found of tasks that are begun and not finished."""
        begun = set().union(*(each.task_of.tolist() for each in self.left.values()))
        return [Found(*each) for each in self.found.items() if each[0].start in begun]

    @property
    def finished_tasks(self) -> int:
        """How many tasks are finished."""
        return self.state.tasks - tasks_in(self.left.values())


def load(database: Database) -> Kept:
    """All that is in a file.

    Raises
    ------
    InputError
        If it is damaged.
    """
    with database.reading():
        facts: dict[str, str] = dict(map(unsealed, _rows(database, "name, value, seal FROM facts")))
        identity = Identity.parse(facts["identity"])
        setup = json.loads(facts["setup"])
        if not (isinstance(setup, dict) and isinstance(setup.get("kind"), str)):
            raise ValueError("no setup")
        state = State.parse(facts["state"])
        found = {}
        for row in _rows(database, "first, after, count, seal FROM tasks ORDER BY first, after"):
            first, after, count = unsealed(row)
            if not (0 <= first < after <= state.end):
                raise ValueError("there are no such tasks")
            found[range(first, after)] = number_of(count)
        columns = "id, runs, words, boards, task_of, seal"
        rows = _rows(database, f"{columns} FROM portions ORDER BY id")
        left = {number: portion_of(tuple(row), state.end) for number, *row in rows}
        if (len(found), len(left)) != (state.rows, state.portions):
            raise ValueError("rows are missing")
        if state.end and sum(found.values()) != state.count:
            raise ValueError("the counts of its tasks do not add up")
        return Kept(identity, setup, Owner.parse(facts["owner"]), state, found, left)


def read_run(path: str | os.PathLike[str]) -> tuple[Kept, bool | None]:
    """A run that is kept in a file, and whether some process works at it (None: nobody can tell).

    The file stays as it is, and whoever works at it goes on.

    Raises
    ------
    InputError
        If there is none in it, or it is damaged.
    """
    with Database(path, write=False) as database:
        kept = load(database)
    return kept, database.is_locked()


def _rows(database: Database, what: str) -> Sequence[Row]:
    return database.run(f"SELECT {what}").fetchall()


def _check(values: Sequence[Any], kind: type) -> None:
    """Complain unless all values are numbers of a kind from 0 up."""
    for value in values:
        if type(value) not in (int, kind):
            raise ValueError("a number is of another kind")
        if not (isfinite(float(value)) and value >= 0):
            raise ValueError("a number is out of range")
