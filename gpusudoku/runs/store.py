"""The run file of a long run, an SQLite database: its identity, results and remaining work.

The table ``facts`` holds texts by name:

- ``identity``: the boards and everything else that the result depends on, see ``runs.identity``
- ``setup``: what a resume needs: the options; for a command also its folder and the place of its
  board
- ``owner``: the process that runs it, or the last one that did
- ``state``: the number of solutions, the work done, the position in the output, and the digests of
  the portions
- ``record``: the record of a finished part, for ``merge``
- ``written FORM``: the SHA-256 of the output file of a finished count or of a data set in Parquet
- ``digest``: the SHA-256 of all other facts

The table ``portions`` holds the remaining work, by number. A run on one machine has one portion, a
run on a cluster several.

**Saves.** Each save is one transaction. However the process ends, the file therefore holds the
results and the remaining work of the same moment. The journal is SQLite's rollback journal, a
second file that is deleted with each commit; then the folder is synced, too (``synchronous`` is
EXTRA). So a committed save survives a power failure. A save that was not committed is rolled back
by the process that opens the file next. The newer write-ahead log is not used: it needs memory
shared by processes, which network file systems do not have, and a copy of the file alone would
lack the content of the log.

**Locks.** One process writes, and any number may read. The writing process holds SQLite's RESERVED
lock from opening the file until closing it. Other processes see the lock if the file system has
locks, and it ends with the process. Each commit releases the lock for a moment. A process that
wants the lock therefore takes it twice, with a pause between.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from gpusudoku.engines.engine import WorkCounters
from gpusudoku.errors import InputError, SaveError, shown
from gpusudoku.jobs.interrupts import held_interrupts
from gpusudoku.planning.plan import Portion, StepResult
from gpusudoku.runs.identity import Identity
from gpusudoku.runs.sqlite_files import (
    APPLICATION_ID,
    check_application,
    check_readable,
    commit_and_lock,
    connect,
    error_code,
    is_new_file,
    message_at_start,
    path_text,
    raising_input_errors,
    rolling_back,
)

SCHEMA = 3
"""The version of the tables and of the JSON in them."""
TABLES = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE portions (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
)
FIRST_SECONDS = 2.0
"""The time between two saves, if a save costs little."""
MAX_SECONDS = 20.0
"""The longest time between two saves, whatever a save costs."""
SAVING_SHARE = 0.01
"""The share of the time that saves may cost."""
BUSY_SECONDS = 10.0
"""The longest wait for a process that reads or writes at the same moment."""
LOCK_SECONDS = 1.0
"""The longest wait for the lock when a run begins: ``is_running`` takes it for a moment."""
LOCK_PAUSE_SECONDS = 0.05
"""The pause between taking the lock and taking it again."""
MAX_EXPECTED_SHARE = 0.99
"""The largest finished share that is derived from the expected number of nodes."""


@dataclass(frozen=True)
class Owner:
    """The process that runs a long run, or the last one that did."""

    host: str
    pid: int
    since: float
    """The start time, in seconds of Unix time by its clock. It distinguishes processes that have
    the same number, one after the other."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


# The names of all fields of `Owner`, `Position` and `RunState` are keys in run files.


@dataclass(frozen=True)
class Position:
    """A position in ordered output: everything before it is written."""

    boards: int = 0
    """The number of finished boards."""
    solutions: int = 0
    """The number of written solutions of the next board."""
    size: int = 0
    """The size of the output file in bytes."""
    end: str = ""
    """A digest that identifies the output file, see ``end_of_file`` in ``pipeline.output``."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """Further state that a resume needs, as JSON."""


@dataclass(frozen=True)
class RunState:
    """The facts that change with each save."""

    tasks: int = 0
    """The number of tasks of the whole run; 0 for ordered output."""
    tasks_left: int = 0
    """The number of tasks that are not finished."""
    count: int = 0
    """The number of solutions so far."""
    seconds: float = 0.0
    """Seconds of work, summed over the processes that ran it one after the other."""
    done: float = 0.0
    """The estimated finished share of the work, 0 to 1."""
    tally: WorkCounters = field(default_factory=WorkCounters)
    finished: bool = False
    began: float = 0.0
    """The start time, in seconds of Unix time. It is only shown to the user."""
    saved: float = 0.0
    """The time of the last save, likewise."""
    position: Position | None = None
    portions: Mapping[str, str] = field(default_factory=dict)
    """The digest of each remaining portion, by number."""

    @property
    def json(self) -> str:
        """The state as JSON. The count is in base 16, which Python reads at any length."""
        return json.dumps({**asdict(self), "count": hex(self.count)})

    @classmethod
    def parse(cls, text: str) -> RunState:
        """Read a state that ``json`` wrote."""
        facts = json.loads(text)
        position = facts["position"]
        facts["position"] = None if position is None else Position(**position)
        facts["tally"] = WorkCounters(**facts["tally"])
        facts["count"] = int(facts["count"], 16)
        return cls(**facts)


@dataclass(frozen=True)
class RunSnapshot:
    """A long run as its file describes it after the last save, without the remaining work."""

    identity: Identity
    setup: Mapping[str, Any]
    """What a resume needs, as JSON."""
    owner: Owner
    state: RunState
    record: str | None
    """The record of a part, once it is finished."""


class RunStore:
    """A long run in a file, or in memory if there is no path. Not thread-safe.

    The constructor checks and locks the file, which may be missing or empty, and writes nothing. It
    raises an InputError if the file cannot be used. Call ``begin`` next, once the identity is
    known. After a SaveError the file has the state of the previous save. The context manager closes
    the file.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.snapshot: RunSnapshot | None = None
        """The run in the file when it was opened; None if the file held no run."""
        self.state = RunState()
        self.nodes = inf
        """The expected number of nodes of all searches together; infinite if unknown."""
        self.path = ""
        """The file, as the caller named it."""
        self.hint = ""
        """The end of the message of an interrupt: how to resume."""
        self._portions: dict[int, Portion] = {}
        """The remaining work, by number."""
        self._facts: dict[str, str] = {}
        """The content of the table ``facts``; empty if there are no tables yet."""
        self._connection: sqlite3.Connection | None = None
        if path is None:
            return
        self.path = path_text(path)
        self.hint = f"; 'gpusudoku resume {self.path}' continues the run"
        if not is_new_file(self.path):
            check_application(self.path)
        self._is_created = not Path(self.path).exists()
        with raising_input_errors(self.path):
            self._connection = connect(self.path, "rwc", LOCK_SECONDS)
        try:
            with raising_input_errors(self.path):
                self._lock(self._connection)
                if self._connection.execute("SELECT 1 FROM sqlite_schema").fetchall():
                    self._facts, self.snapshot, rows = _read(self._connection, self.path)
                    self.state = self.snapshot.state
                    self._portions = {number: _unpack(data) for number, data in rows.items()}
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file. Remove it if this object has created it and saved nothing."""
        if self._connection is None:
            return
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.rollback()
        self._connection.close()
        with suppress(OSError):
            is_unused = self._is_created and not self._facts
            # Another process may have begun a run in the file since it was closed.
            if is_unused and not Path(self.path).stat().st_size:
                Path(self.path).unlink()

    @property
    def position(self) -> Position:
        """The position in ordered output."""
        return self.state.position or Position()

    def check(self, identity: Identity) -> None:
        """Raise an InputError if the file holds another run."""
        if self.snapshot and (different := identity.difference(self.snapshot.identity)):
            raise InputError(f"{self.path}: holds another run: {different}")

    def begin(
        self,
        identity: Identity,
        setup: Mapping[str, Any],
        portion: Portion | None = None,
        position: Position | None = None,
    ) -> None:
        """Begin a run, or continue the run in the file, which keeps its setup.

        ``portion`` is all the work, in whole tasks; None for ordered output. A run with a
        ``position`` is finished once ``save_position`` says so, other runs when no work remains.
        """
        self.check(identity)
        is_resumed = self.snapshot is not None
        if is_resumed and self.state.finished:  # the file keeps its last owner
            return
        state = self.state
        portions = self._portions
        facts = dict[str, str]()
        if not is_resumed:
            facts["identity"] = identity.json
            facts["setup"] = json.dumps(setup, default=int)  # NumPy's integers become int
            portions = {1: portion} if portion else {}
            task_count = len(portion or ())
            state = RunState(
                tasks=task_count,
                tasks_left=task_count,
                finished=position is None and not portion,
                began=time.time(),
                position=position,
            )
        owner = Owner(socket.gethostname(), os.getpid(), time.time())
        facts["owner"] = json.dumps(asdict(owner))
        try:
            self._commit(state, portions, facts)
        except SaveError as error:
            raise InputError(message_at_start(error)) from None

    def split(
        self, max_portions: int = 1, numbers: Iterable[int] | None = None
    ) -> dict[int, Portion]:
        """Divide the remaining portions, or those of ``numbers``, into at most ``max_portions``.

        Returns the portions by number. ``save`` takes the results of a portion by its number.
        """
        selected_numbers = list(self._portions if numbers is None else numbers)
        if selected_numbers and len(selected_numbers) != max_portions:
            joined_portion = Portion.joined([self._portions[number] for number in selected_numbers])
            # New numbers, so that results of the old portions cannot be saved any more.
            next_number = max(self._portions) + 1
            new_portions = dict(enumerate(joined_portion.split(max_portions), next_number))
            unselected_portions = {
                number: portion
                for number, portion in self._portions.items()
                if number not in selected_numbers
            }
            self._commit(self.state, unselected_portions | new_portions)
            selected_numbers = list(new_portions)
        return {number: self._portions[number] for number in selected_numbers}

    def save(self, number: int, step: StepResult, position: Position | None = None) -> None:
        """Save the results of a step of a portion. The remaining work keeps the portion's number.

        ``position`` is the position behind the solutions of this step, in output of any order.
        """
        portions = dict(self._portions)
        del portions[number]
        if step.remaining:
            portions[number] = step.remaining

        begun_tasks = np.concatenate([[], *(portion.task_of for portion in portions.values())])
        whole_task_count = sum(
            len(tasks) for portion in portions.values() for tasks in portion.tasks
        )
        tasks_left = whole_task_count + len(np.unique(begun_tasks))

        tally = replace(self.state.tally)
        tally.add(step.counters)

        share = 1.0
        if portions:
            # Many tasks may begin before the first one is finished. Then the number of nodes says
            # more about the progress, if the expected number is known.
            task_share = 1 - tasks_left / max(1, self.state.tasks)
            node_share = min(tally.nodes / self.nodes, MAX_EXPECTED_SHARE)
            share = max(task_share, node_share)
        state = replace(
            self.state,
            tasks_left=tasks_left,
            count=self.state.count + step.count,
            seconds=self.state.seconds + step.seconds,
            done=max(self.state.done, share),
            tally=tally,
            finished=not portions and self.state.position is None,
            position=position or self.state.position,
        )
        self._commit(state, portions)

    def save_position(
        self,
        position: Position,
        *,
        count: int,
        seconds: float,
        done: float | None = None,
        finished: bool = False,
    ) -> None:
        """Save the position in ordered output. The caller has synced the output to the disk.

        ``seconds`` are the seconds of work since the last save.
        """
        state = replace(
            self.state,
            position=position,
            count=count,
            seconds=self.state.seconds + seconds,
            done=1.0 if finished else max(self.state.done, done or 0.0),
            finished=finished,
        )
        self._commit(state, self._portions)

    def saved_digest(self, form: str | None) -> str | None:
        """Return the SHA-256 of the output file of a finished run in a form, once it is saved."""
        return self._facts.get(f"written {form}")

    def save_facts(self, facts: Mapping[str, str]) -> None:
        """Save further facts of a finished run, such as its record."""
        if facts.items() - self._facts.items():
            self._commit(self.state, self._portions, facts)

    def pause_after(self, cost: float) -> float:
        """Return the seconds until the next save, given the seconds that the last one cost."""
        return max(FIRST_SECONDS, min(cost / SAVING_SHARE, MAX_SECONDS))

    def _commit(
        self,
        state: RunState,
        portions: dict[int, Portion],
        facts: Mapping[str, str] | None = None,
    ) -> None:
        """Save a state, the remaining portions and further facts, in this object and in the file.

        After an error neither has changed.
        """
        # A signal between the commit and the assignments would leave this object with an older
        # state than the file. The next save would then overwrite newer results.
        with held_interrupts():
            if self._connection is not None:
                with rolling_back(self._connection, self.path):
                    state, all_facts = self._write(self._connection, state, portions, facts or {})
                    commit_and_lock(self._connection)
                self._facts = all_facts
            self.state = state
            self._portions = portions

    def _write(
        self,
        connection: sqlite3.Connection,
        state: RunState,
        portions: dict[int, Portion],
        facts: Mapping[str, str],
    ) -> tuple[RunState, dict[str, str]]:
        """Write what has changed, without a commit; return the written state and all facts."""
        if "owner" in self._facts:
            self._check_owner(connection)
        if not self._facts:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
            for table in TABLES:
                connection.execute(table)
        digests = self._write_portions(connection, portions)
        state = replace(state, saved=time.time(), portions=digests)
        all_facts = {**self._facts, **facts, "state": state.json}
        all_facts["digest"] = _digest(all_facts)
        changed_facts = all_facts.items() - self._facts.items()
        connection.executemany("REPLACE INTO facts VALUES (?, ?)", changed_facts)
        return state, all_facts

    def _check_owner(self, connection: sqlite3.Connection) -> None:
        """Raise a SaveError if another process has taken the run over.

        A commit releases the lock for a moment, in which that is possible.
        """
        [(text,)] = connection.execute("SELECT value FROM facts WHERE name = 'owner'")
        if text != self._facts["owner"]:
            owner = Owner(**json.loads(text))
            raise SaveError(f"{self.path}: {owner} is running it now")

    def _write_portions(
        self, connection: sqlite3.Connection, portions: dict[int, Portion]
    ) -> dict[str, str]:
        """Write the portions that have changed; return the digests of all, by number."""
        digests = dict(self.state.portions)
        for number in self._portions.keys() | portions.keys():
            portion = portions.get(number)
            if portion is None:
                connection.execute("DELETE FROM portions WHERE id = ?", (number,))
                digests.pop(str(number), None)
            elif portion is not self._portions.get(number) or str(number) not in digests:
                packed_portion = _pack(portion)
                connection.execute("REPLACE INTO portions VALUES (?, ?)", (number, packed_portion))
                digests[str(number)] = hashlib.sha256(packed_portion).hexdigest()
        return digests

    def _lock(self, connection: sqlite3.Connection) -> None:
        """Take the lock; raise an InputError if another process holds it."""
        connection.execute("PRAGMA trusted_schema = OFF")
        # If the cache spilled to the file before the commit, readers would be locked out that long.
        connection.execute("PRAGMA cache_spill = OFF")
        connection.execute("PRAGMA synchronous = EXTRA")
        _begin_or_refuse(connection, self.path)
        # The first time may have hit the moment of a commit, in which the process that runs it has
        # released the lock. During the pause that process takes it again.
        connection.rollback()
        time.sleep(LOCK_PAUSE_SECONDS)
        _begin_or_refuse(connection, self.path)
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


def _begin_or_refuse(connection: sqlite3.Connection, path: str) -> None:
    """Begin a transaction with the RESERVED lock; raise an InputError if it is held."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error_code(error) != sqlite3.SQLITE_BUSY:
            raise
        holder = "another process"
        # The holder may not have written its first save, or the file may be damaged.
        with suppress(sqlite3.Error, ValueError, TypeError):
            [(text,)] = connection.execute("SELECT value FROM facts WHERE name = 'owner'")
            holder = str(Owner(**json.loads(text)))
        raise InputError(f"{path}: {holder} is running it") from None


def read_run(path: str | os.PathLike[str]) -> RunSnapshot:
    """Read the run in a file; raise an InputError if it holds none, or is damaged."""
    file_name = path_text(path)
    check_readable(file_name)
    check_application(file_name)
    with (
        raising_input_errors(file_name),
        closing(connect(file_name, "rw", BUSY_SECONDS)) as connection,
    ):
        connection.execute("BEGIN")  # all queries see the same save
        _, snapshot, _ = _read(connection, file_name)
        return snapshot


def is_running(path: str | os.PathLike[str]) -> bool | None:
    """Tell whether a process is writing a file; None if that is unknown, as it is read-only."""
    try:
        with closing(connect(os.fspath(path), "rw", 0.0)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.Error as error:
        return True if error_code(error) == sqlite3.SQLITE_BUSY else None
    return False


def _read(
    connection: sqlite3.Connection, path: str
) -> tuple[dict[str, str], RunSnapshot, dict[int, bytes]]:
    """Read and check a file; return its facts, the run, and the packed portions by number.

    Raises
    ------
    InputError
        If another version has made the file, or it is damaged in a way that has its own message.
    ValueError
        If anything else shows that the file was changed. Damage may also raise a KeyError and
        others, see ``raising_input_errors``.
    """
    [(version,)] = connection.execute("PRAGMA user_version")
    if version != SCHEMA:
        raise InputError(
            f"{path}: made by another version of gpusudoku: schema {version}, not {SCHEMA}"
        )
    if connection.execute("PRAGMA journal_mode").fetchall() != [("delete",)]:
        raise InputError(f"{path}: another program has set another journal mode")
    for (report,) in connection.execute("PRAGMA quick_check(1)"):
        if report != "ok":
            raise InputError(f"{path}: damaged: {shown(report)}")
    facts: dict[str, str] = dict(connection.execute("SELECT name, value FROM facts"))
    state = RunState.parse(facts["state"])
    rows: dict[int, bytes] = dict(connection.execute("SELECT id, data FROM portions ORDER BY id"))
    digests = {str(number): hashlib.sha256(data).hexdigest() for number, data in rows.items()}
    if (facts["digest"], state.portions) != (_digest(facts), digests):
        raise ValueError("it was changed")
    snapshot = RunSnapshot(
        Identity.parse(facts["identity"]),
        json.loads(facts["setup"]),
        Owner(**json.loads(facts["owner"])),
        state,
        facts.get("record"),
    )
    return facts, snapshot, rows


def _digest(facts: Mapping[str, str]) -> str:
    """Return the SHA-256 of all facts but ``digest``. It shows damage, but proves no origin."""
    other_facts = sorted((name, value) for name, value in facts.items() if name != "digest")
    return hashlib.sha256(json.dumps(other_facts).encode()).hexdigest()


# A packed portion is one line of JSON, and two arrays of 64-bit little-endian integers:
#
#     [[[start, stop], ...], words]\n   boards (k x words)   task_of (k)
#
# The pairs are the ranges of whole tasks. `words` is the number of integers of one board.


def _pack(portion: Portion) -> bytes:
    """Write a portion as bytes."""
    task_ranges = [[tasks.start, tasks.stop] for tasks in portion.tasks]
    words = int(portion.boards.shape[1])
    header = json.dumps([task_ranges, words]).encode()
    boards = portion.boards.astype("<u8")
    task_of = portion.task_of.astype("<u8")
    return header + b"\n" + boards.tobytes() + task_of.tobytes()


def _unpack(data: bytes) -> Portion:
    """Read a portion that ``_pack`` wrote."""
    header, _, body = data.partition(b"\n")
    task_ranges, words = json.loads(header)
    integers = np.frombuffer(body, "<u8").astype(np.uint64)
    board_count = len(integers) // (words + 1)
    boards, task_of = np.split(integers, [board_count * words])
    tasks = tuple(range(start, stop) for start, stop in task_ranges)
    return Portion(tasks, boards.reshape(len(task_of), words), task_of.astype(np.int64))
