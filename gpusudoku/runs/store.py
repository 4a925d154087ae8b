"""The file of a long run, one of SQLite: what the run is, what was found, and what is left.

It has two tables. ``facts`` are texts by name:

- ``identity``: the boards and all that the result depends on, see ``runs.identity``
- ``setup``: how to go on: the options, and of a command its folder and the place of its board
- ``owner``: the process that runs it, or was the last that did
- ``state``: solutions found, work done, the place in the output, and the digests of the portions
- ``record``: of a finished part, what ``merge`` joins
- ``written FORM``: of a finished count, or a data set in Parquet, the SHA-256 of the file
- ``digest``: the SHA-256 of all others

``portions`` are the work that is left, by number. A run on one machine has one, a cluster several.

Each save is one transaction, so the file has both what was found and what is left as they were
after one of them, however the process ends. The journal is SQLite's oldest, a file beside it that
is deleted with each commit, and the folder is synced with it (``synchronous`` EXTRA): what was
committed outlives a loss of power, and what was not is undone by the process that opens the file
next. The newer write-ahead log needs memory that processes share, which network file systems do not
have, and a copy of the file alone would lack what is in the log.

One process writes, any may read. The one that writes holds SQLite's RESERVED lock from opening the
file until closing it, which others see where the file system has locks, and which is gone when the
process is. It is let go for a moment at each commit. Hence a process that wants it takes it twice,
with a pause between.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from gpusudoku.engines.engine import WorkCounters
from gpusudoku.errors import InputError, SaveError, described, shown
from gpusudoku.jobs.interrupts import held_interrupts
from gpusudoku.planning.plan import Portion, StepResult
from gpusudoku.runs.identity import Identity

APPLICATION = 0x67537564
"""The mark of our files, in their header: ``gSud``."""
SCHEMA = 3
"""The version of the tables."""
TABLES = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE portions (id INTEGER PRIMARY KEY, data BLOB NOT NULL)",
)
FIRST_SECONDS, MAX_SECONDS = 2.0, 20.0
"""The time between two saves: if they cost little, and whatever they cost."""
SAVING_SHARE = 0.01
"""The share of the time that saves may cost."""
BUSY_SECONDS = 10.0
"""The time to wait for a process that reads or writes at the same moment."""
LOCK_SECONDS = 1.0
"""The time to wait for a lock: another process may only have looked whether it is held."""
TWICE_SECONDS = 0.05
"""The pause between taking the lock and taking it again."""
_SAVED_BEFORE = "; it has all up to the save before"
MAX_EXPECTED = 0.99
"""The largest share that is taken to be done by the expected work, as long as anything is left."""


@dataclass(frozen=True)
class Owner:
    """The process that runs a long run, or was the last that did."""

    host: str
    pid: int
    since: float
    """The time when it began, in seconds of Unix time by its clock: it tells processes of one
    number apart."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


@dataclass(frozen=True)
class Position:
    """A place in ordered output, up to which it is written."""

    boards: int = 0
    """Boards that are done."""
    solutions: int = 0
    """Solutions done of the next board."""
    size: int = 0
    """Bytes of the output file."""
    end: str = ""
    """What tells the file from others, see ``end_of_file`` of ``cli.output``."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """More that is needed to go on, as JSON."""


@dataclass(frozen=True)
class RunState:
    """The facts that each save changes."""

    tasks: int = 0
    """Tasks of the whole run; 0 of ordered output."""
    tasks_left: int = 0
    """Those of them that are not finished."""
    count: int = 0
    """Solutions found."""
    seconds: float = 0.0
    """Seconds of work, of all processes that ran it one after the other."""
    done: float = 0.0
    """The estimated share of the work, 0 to 1."""
    tally: WorkCounters = field(default_factory=WorkCounters)
    finished: bool = False
    began: float = 0.0
    """The time when, in seconds of Unix time; only shown."""
    saved: float = 0.0
    """The time of the last save, likewise."""
    position: Position | None = None
    portions: Mapping[str, str] = field(default_factory=dict)
    """The digest of each portion that is left, by number."""

    @property
    def json(self) -> str:
        """All of it as text; the count in base 16, which Python reads at any length."""
        return json.dumps({**asdict(self), "count": hex(self.count)})

    @classmethod
    def parse(cls, text: str) -> RunState:
        """Read what ``json`` gave."""
        facts = json.loads(text)
        position = facts["position"]
        facts["position"] = None if position is None else Position(**position)
        facts["tally"] = WorkCounters(**facts["tally"])
        return cls(**{**facts, "count": int(facts["count"], 16)})


@dataclass(frozen=True)
class RunSnapshot:
    """A long run as its file has it after the last save, but for the work that is left."""

    identity: Identity
    setup: Mapping[str, Any]
    """The facts needed to go on, as JSON."""
    owner: Owner
    state: RunState
    record: str | None
    """The record of a part that is finished."""


class RunStore:
    """A long run in a file, or in memory if there is no path. A context manager for one thread.

    Making one checks and locks the file, which may be missing or empty, and writes nothing; an
    InputError says why it cannot be used. ``begin`` comes next, once the identity is known. After a
    SaveError the file has all up to the save before.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.snapshot: RunSnapshot | None = None
        """The run in the file when it was opened; None if there was none."""
        self.state = RunState()
        self.nodes = inf
        """The expected nodes of all searches together; infinite if unknown."""
        self.path, self.hint = "", ""
        """The file as it was named, and the end of a message about an interrupt: how to go on."""
        self._left: dict[int, Portion] = {}
        self._facts: dict[str, str] = {}
        self._connection: sqlite3.Connection | None = None
        if path is None:
            return
        self.path = _name(path)
        self.hint = f"; 'gpusudoku resume {self.path}' goes on"
        if not _is_new(self.path, write=True):
            _check_application(self.path)
        self._is_made = not Path(self.path).exists()
        with _refusing(self.path):
            self._connection = _connect(self.path, "rwc", LOCK_SECONDS)
        try:
            with _refusing(self.path):
                self._lock(self._connection)
                if self._connection.execute("SELECT 1 FROM sqlite_schema").fetchall():
                    self._facts, self.snapshot, rows = _read(self._connection, self.path)
                    self.state = self.snapshot.state
                    self._left = {number: _unpacked(data) for number, data in rows.items()}
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, *_: object) -> None:
        """Let the file go; one that was made here, and is empty, is removed."""
        if self._connection is None:
            return
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.rollback()
        self._connection.close()
        with suppress(OSError):
            if self._is_made and not self._facts and not Path(self.path).stat().st_size:
                Path(self.path).unlink()

    @property
    def position(self) -> Position:
        """The place up to which ordered output is written."""
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
        """Begin a run, or go on with the one that the file holds, which keeps its setup.

        ``portion`` is all that is to be done, in whole tasks; None for ordered output. A run with a
        ``position`` is finished once ``move`` says so, others when nothing is left.
        """
        before = self.snapshot
        state = self.state
        left = self._left
        self.check(identity)
        if before is not None and state.finished:  # it stays as it is, with its last owner
            return
        facts = dict[str, str]()
        if before is None:
            facts["identity"] = identity.json
            facts["setup"] = json.dumps(setup, default=int)  # NumPy's integers, too
            left = {1: portion} if portion else {}
            finished = position is None and not portion
            tasks = len(portion or ())
            state = RunState(tasks, tasks, finished=finished, began=time.time(), position=position)
        owner = Owner(socket.gethostname(), os.getpid(), time.time())
        facts["owner"] = json.dumps(asdict(owner))
        try:
            self._commit(state, left, facts)
        except SaveError as error:
            raise InputError(str(error).removesuffix(_SAVED_BEFORE)) from None

    def split(
        self, max_portions: int = 1, numbers: Iterable[int] | None = None
    ) -> dict[int, Portion]:
        """Divide the remaining portions, or some of them, into at most ``max_portions``.

        Returns them by their numbers, under which ``save`` takes their results.
        """
        selected = list(self._left if numbers is None else numbers)
        if selected and len(selected) != max_portions:
            joined = Portion.joined([self._left[number] for number in selected])
            new = dict(enumerate(joined.split(max_portions), max(self._left) + 1))
            kept = {
                number: portion for number, portion in self._left.items() if number not in selected
            }
            self._commit(self.state, kept | new)
            selected = list(new)
        return {number: self._left[number] for number in selected}

    def save(self, number: int, step: StepResult, position: Position | None = None) -> None:
        """Save what came of working on a portion for a while; what is left keeps its number.

        ``position`` is the end of the output that has all of the step, in any order.
        """
        left = {other: each for other, each in self._left.items() if other != number}
        if step.remaining:
            left[number] = step.remaining
        tally = replace(self.state.tally)
        tally.add(step.counters)
        # Many tasks may be begun before one is finished: then the work tells more, if it is known.
        begun = np.concatenate([[], *(each.task_of for each in left.values())])
        whole = sum(len(run) for each in left.values() for run in each.tasks)
        tasks_left = whole + len(np.unique(begun))
        finished_share = 1 - tasks_left / max(1, self.state.tasks)
        done = max(finished_share, min(tally.nodes / self.nodes, MAX_EXPECTED)) if left else 1.0
        state = replace(
            self.state,
            tasks_left=tasks_left,
            count=self.state.count + step.count,
            seconds=self.state.seconds + step.seconds,
            done=max(self.state.done, done),
            tally=tally,
            finished=not left and self.state.position is None,
            position=position or self.state.position,
        )
        self._commit(state, left)

    def move(
        self,
        position: Position,
        *,
        count: int,
        seconds: float,
        done: float | None = None,
        finished: bool = False,
    ) -> None:
        """Save the place up to which ordered output is written, and on the disk.

        ``seconds`` are those since the last save.
        """
        state = replace(
            self.state,
            position=position,
            count=count,
            seconds=self.state.seconds + seconds,
            done=1.0 if finished else max(self.state.done, done or 0.0),
            finished=finished,
        )
        self._commit(state, self._left)

    def written(self, form: str | None) -> str | None:
        """Return the SHA-256 of a finished answer in a form, once it is to be written."""
        return self._facts.get(f"written {form}")

    def keep(self, facts: Mapping[str, str]) -> None:
        """Save other facts of a finished run, such as its record."""
        if facts.items() - self._facts.items():
            self._commit(self.state, self._left, facts)

    def pause_after(self, cost: float) -> float:
        """Return the seconds until the next save, by those that the last one cost."""
        return max(FIRST_SECONDS, min(cost / SAVING_SHARE, MAX_SECONDS))

    def _commit(
        self, state: RunState, left: dict[int, Portion], facts: Mapping[str, str] | None = None
    ) -> None:
        """Save a state, what is left, and other facts: all or nothing, here and in the file."""
        with held_interrupts():  # so that this object knows what is saved
            if self._connection is not None:
                run = self._connection.execute
                with _saving(self._connection, self.path):
                    if "owner" in self._facts:  # the lock is let go for a moment at each commit
                        [(text,)] = run("SELECT value FROM facts WHERE name = 'owner'")
                        if text != self._facts["owner"]:
                            owner = Owner(**json.loads(text))
                            raise SaveError(f"{self.path}: {owner} is running it now")
                    if not self._facts:
                        run(f"PRAGMA application_id = {APPLICATION}")
                        run(f"PRAGMA user_version = {SCHEMA}")
                        for table in TABLES:
                            run(table)
                    digests = dict(self.state.portions)
                    for number in self._left.keys() | left.keys():
                        portion = left.get(number)
                        if portion is None:
                            run("DELETE FROM portions WHERE id = ?", (number,))
                            digests.pop(str(number), None)
                        elif portion is not self._left.get(number) or str(number) not in digests:
                            data = _packed(portion)
                            run("REPLACE INTO portions VALUES (?, ?)", (number, data))
                            digests[str(number)] = hashlib.sha256(data).hexdigest()
                    state = replace(state, saved=time.time(), portions=digests)
                    new = {**self._facts, **(facts or {}), "state": state.json}
                    new["digest"] = _digest(new)
                    changed = new.items() - self._facts.items()
                    self._connection.executemany("REPLACE INTO facts VALUES (?, ?)", changed)
                    _commit_and_lock(self._connection)
                self._facts = new
            self.state = state
            self._left = left

    def _lock(self, connection: sqlite3.Connection) -> None:
        for setting in ("trusted_schema = OFF", "cache_spill = OFF", "synchronous = EXTRA"):
            connection.execute(f"PRAGMA {setting}")  # a spill would keep readers out too early
        for again in (False, True):
            if again:
                connection.rollback()
                time.sleep(TWICE_SECONDS)
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY:
                    raise
                holder = "another process"
                with suppress(sqlite3.Error, ValueError, TypeError):
                    [(text,)] = connection.execute("SELECT value FROM facts WHERE name = 'owner'")
                    holder = str(Owner(**json.loads(text)))
                raise InputError(f"{self.path}: {holder} is running it") from None
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


def read_run(path: str | os.PathLike[str]) -> RunSnapshot:
    """Read the run in a file; an InputError says why there is none, or how it is damaged."""
    name = _name(path)
    _is_new(name, write=False)
    _check_application(name)
    with _refusing(name), closing(_connect(name, "rw", BUSY_SECONDS)) as connection:
        connection.execute("BEGIN")
        return _read(connection, name)[1]


def is_running(path: str | os.PathLike[str]) -> bool | None:
    """Tell whether some process writes a file; None if that is unknown, as it is read-only."""
    try:
        with closing(_connect(os.fspath(path), "rw", 0.0)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.rollback()
    except sqlite3.Error as error:
        return True if _code(error) == sqlite3.SQLITE_BUSY else None
    return False


def _name(path: object) -> str:
    """Return a path as text; refuse an empty one, and what is none."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str) or not name:
        raise InputError(f"{described(path)}: expected the name of a file")
    return name


def _is_new(path: str, *, write: bool) -> bool:
    """Tell whether a file is missing or empty; refuse one that cannot hold a run."""
    folder = Path(path).absolute().parent
    try:
        found = Path(path).stat()
    except FileNotFoundError:
        if not write:
            raise InputError(f"{path}: no such file") from None
        if not folder.is_dir():
            raise InputError(f"{path}: there is no folder {folder}") from None
        found = None
    except OSError as error:
        raise InputError(f"{path}: cannot be opened: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{shown(path)}: cannot be opened: {error}") from None
    if found is not None and not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "no ordinary file"
        raise InputError(f"{path}: is {what}")
    if write and found is not None and not os.access(path, os.W_OK):
        raise InputError(f"{path}: cannot be written: it is read-only")
    if write and not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: cannot be written: its folder is read-only")
    if found is not None and found.st_size:
        return False
    if not write:
        raise InputError(f"{path}: empty: no run is kept in it")
    return True


def _connect(path: str, mode: str, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{Path(path).absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=timeout,
        isolation_level=None,
    )


def _check_application(path: str) -> None:
    """Refuse a file of another program before SQLite could repair anything in it.

    No other means leaves the file alone: opening and closing it as a file would let go the locks
    that this process may have on it. In the middle of a commit no more than this can be read.
    """
    try:
        with closing(_connect(path, "ro&immutable=1", 0.0)) as connection:
            [(application,)] = connection.execute("PRAGMA application_id")
    except sqlite3.Error as error:
        if _code(error) == sqlite3.SQLITE_CORRUPT:
            return
        raise InputError(f"{path}: {_words(error)}") from None
    if application != APPLICATION:
        raise InputError(f"{path}: not made by --checkpoint")


def _read(
    connection: sqlite3.Connection, path: str
) -> tuple[dict[str, str], RunSnapshot, dict[int, bytes]]:
    """Read all facts and portions; refuse a file of another version, and one that was changed."""
    [(version,)] = connection.execute("PRAGMA user_version")
    if version != SCHEMA:
        raise InputError(
            f"{path}: made by another version of gpusudoku: schema {version}, not {SCHEMA}"
        )
    if connection.execute("PRAGMA journal_mode").fetchall() != [("delete",)]:
        raise InputError(f"{path}: another program has set another journal mode")
    for (said,) in connection.execute("PRAGMA quick_check(1)"):
        if said != "ok":
            raise InputError(f"{path}: damaged: {shown(said)}")
    facts: dict[str, str] = dict(connection.execute("SELECT name, value FROM facts"))
    state = RunState.parse(facts["state"])
    rows: dict[int, bytes] = dict(connection.execute("SELECT id, data FROM portions ORDER BY id"))
    portions = {str(number): hashlib.sha256(data).hexdigest() for number, data in rows.items()}
    if (facts["digest"], state.portions) != (_digest(facts), portions):
        raise ValueError("it was changed")
    run = RunSnapshot(
        Identity.parse(facts["identity"]),
        json.loads(facts["setup"]),
        Owner(**json.loads(facts["owner"])),
        state,
        facts.get("record"),
    )
    return facts, run, rows


def _digest(facts: Mapping[str, str]) -> str:
    """Return the SHA-256 of all facts but itself. It shows damage, and proves no origin."""
    others = sorted((name, value) for name, value in facts.items() if name != "digest")
    return hashlib.sha256(json.dumps(others).encode()).hexdigest()


def _packed(portion: Portion) -> bytes:
    """Write a portion: a line with its runs and the words of a board, its boards, their tasks."""
    runs = [[run.start, run.stop] for run in portion.tasks]
    head = json.dumps([runs, int(portion.boards.shape[1])]).encode()
    boards = portion.boards.astype("<u8")
    task_of = portion.task_of.astype("<u8")
    return b"\n".join([head, boards.tobytes() + task_of.tobytes()])


def _unpacked(data: bytes) -> Portion:
    """Read what ``_packed`` wrote."""
    head, _, body = data.partition(b"\n")
    runs, words = json.loads(head)
    numbers = np.frombuffer(body, "<u8").astype(np.uint64)
    boards, task_of = np.split(numbers, [len(numbers) // (words + 1) * words])
    tasks = tuple(range(start, stop) for start, stop in runs)
    return Portion(tasks, boards.reshape(len(task_of), words), task_of.astype(np.int64))


def _commit_and_lock(connection: sqlite3.Connection) -> None:
    """Commit, and keep the lock; wait for readers as long as it takes."""
    while True:
        try:
            connection.commit()
            break
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY:
                raise
    connection.execute("BEGIN IMMEDIATE")


@contextmanager
def _refusing(path: str) -> Iterator[None]:
    """Turn every error of a block into an InputError, one line about the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(f"{path}: {_words(error)}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: damaged: {error}") from None


@contextmanager
def _saving(connection: sqlite3.Connection, path: str) -> Iterator[None]:
    """Undo all of a block after an error; one of the file becomes a SaveError."""
    try:
        if not connection.in_transaction:
            raise SaveError(f"{path}: cannot be saved: an earlier save failed")
        yield
    except BaseException as error:
        with suppress(sqlite3.Error):
            connection.rollback()
        if not isinstance(error, sqlite3.Error):
            raise
        words = f"{path}: cannot be saved: {_words(error)}"
        raise SaveError(f"{words}{_SAVED_BEFORE}") from None


def _code(error: sqlite3.Error) -> int:
    """Return the number of an error without its details."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _words(error: sqlite3.Error) -> str:
    """Describe an error in words."""
    code = _code(error)
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED:
        return "it was moved or deleted meanwhile"
    known = {
        sqlite3.SQLITE_NOTADB: "not made by --checkpoint",
        sqlite3.SQLITE_FULL: "the disk is full",
        sqlite3.SQLITE_READONLY: "it is read-only, or its folder is",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened, or nothing can be written to its folder",
        sqlite3.SQLITE_BUSY: "another process is using it",
        sqlite3.SQLITE_PROTOCOL: "its file system has no locks: keep it in another folder",
        sqlite3.SQLITE_IOERR: f"reading or writing failed ({error})",
    }
    return known.get(code) or f"damaged: {error}"
