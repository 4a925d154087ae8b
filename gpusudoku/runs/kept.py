"""The file of a long run, one of SQLite: its lock, its checks, its rows and the run in them.

One process writes it, any may read. The journal is SQLite's oldest, a file beside it that is
deleted with each commit, and the folder is synced with it (``synchronous`` EXTRA): what was
committed outlives a loss of power, and what was not is undone by the process that opens the file
next. The newer write-ahead log needs memory that processes share, which network file systems do not
have, and a copy of the file alone would lack what is in the log. The price is that a commit waits
for readers, and they for it: reading takes milliseconds, and neither of them fails.

The process that writes holds SQLite's RESERVED lock from opening the file until closing it: only
one process can, all may read meanwhile, and it is gone when the process is, however that ends. It
is a lock of the operating system, so other hosts see it where the file system has locks. It is let
go for a moment at each commit. Hence a process that wants it takes it twice, with a pause between.

SQLite notices a torn file, but no bit that changed in it. So each row has a digest of itself, its
seal. It proves no origin: what is read is checked for its shape all the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import socket
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from gpusudoku.engines.engine import WorkCounters
from gpusudoku.errors import InputError, SaveError, described, shown
from gpusudoku.planning.plan import Portion
from gpusudoku.results import decimal_digits
from gpusudoku.runs.identity import Identity
from gpusudoku.runs.keeper import tasks_in

APPLICATION = 0x67537564
"""The mark of our files, in their header: ``gSud``."""
SCHEMA = 1
"""The version of the tables."""
TABLES = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL, seal TEXT NOT NULL)"
    " WITHOUT ROWID",
    "CREATE TABLE tasks (first INTEGER NOT NULL, after INTEGER NOT NULL, count TEXT NOT NULL,"
    " seal TEXT NOT NULL, PRIMARY KEY (first, after)) WITHOUT ROWID",
    "CREATE TABLE portions (id INTEGER PRIMARY KEY, runs TEXT NOT NULL, words INTEGER NOT NULL,"
    " boards BLOB NOT NULL, task_of BLOB NOT NULL, seal TEXT NOT NULL)",
)
"""``facts`` are JSON by name, ``tasks`` have the solutions found, ``portions`` the work left."""

BUSY_SECONDS = 10.0
"""The time to wait for a process that reads or writes at the same moment."""
LOCK_SECONDS = 1.0
"""The time to wait for a lock: another process may only have looked whether it is held."""
TWICE_SECONDS = 0.05
"""The pause between taking the lock and taking it again."""
HISTORY = 60
"""Saves that are remembered, for a rate."""

Row = tuple[Any, ...]
"""Integers, texts and bytes, as SQLite has them."""
_DIGITS = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_SEAL_DIGITS = 32


@dataclass(frozen=True)
class Owner:
    """The process that runs a long run, or was the last that did."""

    host: str
    pid: int
    since: float
    """The time when it began, in seconds of Unix time by its clock; only shown."""
    token: str
    """Random: tells processes of one number apart."""

    @classmethod
    def here(cls) -> Owner:
        """Describe this process."""
        return cls(socket.gethostname(), os.getpid(), time.time(), secrets.token_hex(8))

    @property
    def json(self) -> str:
        """All of it as text."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def parse(cls, text: str) -> Owner:
        """Read what ``json`` gave; raise a ValueError if it is anything else."""
        try:
            made = cls(**json.loads(text))
        except TypeError as error:
            raise ValueError(str(error)) from None
        kinds = (made.host, str), (made.pid, int), (made.since, float), (made.token, str)
        if not all(isinstance(value, kind) for value, kind in kinds):
            raise ValueError("not an owner")
        return made

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


class Database:
    """The file, open and checked, and locked if it is opened to write. A context manager."""

    def __init__(self, path: str | os.PathLike[str], *, write: bool) -> None:
        self.path = _name(path)
        self.is_new = _is_new(self.path, write)
        """True if there is nothing in it yet."""
        if not self.is_new:
            _look(self.path)
        with self.reading():
            mode, timeout = ("rwc", LOCK_SECONDS) if write else ("rw", BUSY_SECONDS)
            self.connection = _connect(self.path, mode, timeout)
        try:
            with self.reading():
                self.run("PRAGMA trusted_schema = OFF")
                self.run("PRAGMA cache_spill = OFF")  # it would keep readers out before the commit
                self.run("PRAGMA synchronous = EXTRA")
                if write:
                    self._lock()
                    # Another process may have made it while this one waited.
                    self.is_new = not self.run("SELECT 1 FROM sqlite_schema").fetchall()
                else:
                    self.run("BEGIN")
                if not self.is_new:
                    self._check()
        except BaseException:
            self.connection.close()
            raise

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go; what was not committed is not in it. An empty one is removed."""
        with suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.rollback()
        self.connection.close()
        with suppress(OSError):
            if self.is_new and not Path(self.path).stat().st_size:
                Path(self.path).unlink()

    def run(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        """Run a statement."""
        return self.connection.execute(statement, values)

    def make(self) -> None:
        """Make the tables, as a part of the first commit."""
        self.run(f"PRAGMA application_id = {APPLICATION}")
        self.run(f"PRAGMA user_version = {SCHEMA}")
        for table in TABLES:
            self.run(table)

    def commit(self) -> None:
        """Commit, and keep the lock; wait for readers as long as it takes."""
        while True:
            try:
                self.connection.commit()
                self.is_new = False
                break
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY:
                    raise
        self.run("BEGIN IMMEDIATE")

    def is_locked(self) -> bool | None:
        """Tell whether some process writes; None if that is unknown, as the file is read-only."""
        try:
            with closing(_connect(self.path, "rw", 0.0)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.rollback()
        except sqlite3.Error as error:
            return True if _code(error) == sqlite3.SQLITE_BUSY else None
        return False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn every error of a block into an InputError, one line about the file."""
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: {_words(error)}") from None
        except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{self.path}: damaged: {error}") from None

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Undo all of a block after an error; one of the file becomes a SaveError."""
        try:
            if not self.connection.in_transaction:
                raise SaveError(f"{self.path}: cannot be saved: an earlier save failed")
            yield
        except BaseException as error:
            with suppress(sqlite3.Error):
                self.connection.rollback()
            if not isinstance(error, sqlite3.Error):
                raise
            words = f"{self.path}: cannot be saved: {_words(error)}"
            raise SaveError(f"{words}; it has all up to the save before") from None

    def _lock(self) -> None:
        for again in (False, True):
            if again:
                self.connection.rollback()
                time.sleep(TWICE_SECONDS)
            try:
                self.run("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY:
                    raise
                holder = "another process"
                with suppress(sqlite3.Error, ValueError, RecursionError):
                    [(text,)] = self.run("SELECT value FROM facts WHERE name = 'owner'").fetchall()
                    holder = str(Owner.parse(text))
                raise InputError(f"{self.path}: {holder} is running it") from None
        self.run(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")

    def _check(self) -> None:
        """Refuse tables that were not made here, or are damaged."""
        [(version,)] = self.run("PRAGMA user_version")
        if version != SCHEMA:
            raise InputError(
                f"{self.path}: made by another version of gpusudoku: schema {version}, not {SCHEMA}"
            )
        if self.run("PRAGMA journal_mode").fetchall() != [("delete",)]:
            raise InputError(f"{self.path}: another program has set another journal mode")
        for (said,) in self.run("PRAGMA quick_check(1)"):
            if said != "ok":
                raise InputError(f"{self.path}: damaged: {shown(said)}")
        tables = self.run("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
        if sorted(sql for (sql,) in tables) != sorted(TABLES):
            raise InputError(f"{self.path}: damaged: its tables are not those of a long run")


def _name(path: object) -> str:
    """Return a path as text; refuse an empty one, and what is none."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str) or not name:
        raise InputError(f"{described(path)}: expected the name of a file")
    return name


def _is_new(path: str, write: bool) -> bool:
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


def _look(path: str) -> None:
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


def _connect(path: str, mode: str, timeout: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{Path(path).absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=timeout,
        isolation_level=None,
        check_same_thread=False,
    )


def _code(error: sqlite3.Error) -> int:
    """Return the number of an error without its details."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _words(error: sqlite3.Error) -> str:
    """Describe an error in words."""
    code = _code(error)
    known = {
        sqlite3.SQLITE_NOTADB: "not made by --checkpoint",
        sqlite3.SQLITE_FULL: "the disk is full",
        sqlite3.SQLITE_READONLY: "it is read-only, or its folder is",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened, or nothing can be written to its folder",
        sqlite3.SQLITE_BUSY: "another process is using it",
        sqlite3.SQLITE_IOERR: f"reading or writing failed ({error})",
    }
    return known.get(code) or f"damaged: {error}"


def sealed(*values: str | int | bytes) -> Row:
    """Append its seal to a row."""
    return (*values, _seal(values))


def unsealed(row: Row) -> Row:
    """Return a row without its seal; raise a ValueError if that is not the seal of the row."""
    *values, seal = row
    if seal != _seal(values):
        raise ValueError("a row was changed")
    return tuple(values)


def number_of(text: str) -> int:
    """Read a number from 0 up of any size; ``int`` refuses one of more than 4300 digits."""
    if not _DIGITS.fullmatch(text):
        raise ValueError("not a number")
    return int(Decimal(text))


def row_of(portion: Portion) -> Row:
    """Return a portion as (runs, words, boards, task_of, seal)."""
    runs = [[run.start, run.stop] for run in portion.tasks]
    boards, task_of = portion.boards.astype("<u8"), portion.task_of.astype("<i8")
    return sealed(
        json.dumps(runs), int(portion.boards.shape[1]), boards.tobytes(), task_of.tobytes()
    )


def portion_of(row: Row, end: int) -> Portion:
    """Read a portion of tasks before ``end``; raise a ValueError if the row cannot be one."""
    text, words, boards, numbers = unsealed(row)
    if not (isinstance(text, str) and isinstance(words, int)):
        raise ValueError("a portion is of another kind")
    if not (isinstance(boards, bytes) and isinstance(numbers, bytes)):
        raise ValueError("the boards of a portion are of another kind")
    runs = tuple(range(start, stop) for start, stop in json.loads(text))
    number, odd = divmod(len(numbers), 8)
    if odd or words < 0 or len(boards) != 8 * words * number or (number and not words):
        raise ValueError("the boards of a portion have another size")
    packed = np.frombuffer(boards, "<u8").reshape(number, words).astype(np.uint64)
    task_of = np.frombuffer(numbers, "<i8").astype(np.int64)
    begun = [range(task, task + 1) for task in np.unique(task_of).tolist()]
    pieces = sorted([*runs, *begun], key=lambda run: run.start)
    ends = [0, *(run.stop for run in pieces)]
    for before, run in zip(ends, pieces, strict=False):
        if not (before <= run.start < run.stop <= end):
            raise ValueError("the tasks of a portion do not follow each other")
    return Portion(runs, packed, task_of)


def _seal(values: Iterable[str | int | bytes]) -> str:
    made = hashlib.sha256()
    for value in values:
        data = value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")
        made.update(b"%s %d:" % (type(value).__name__.encode(), len(data)))
        made.update(data)
    return made.hexdigest()[:_SEAL_DIGITS]


@dataclass(frozen=True)
class Position:
    """A place in ordered output, up to which it is written."""

    boards: int = 0
    """Boards that are done."""
    solutions: int = 0
    """Solutions done of the next board."""
    size: int = 0
    """Bytes of the output file."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """More that is needed to go on, as JSON."""


@dataclass(frozen=True)
class RunState:
    """The facts that each save changes."""

    tasks: int = 0
    """Tasks of the whole run; 0 of ordered output."""
    end: int = 0
    """The number after the last of them."""
    count: int = 0
    """Solutions found."""
    seconds: float = 0.0
    """Seconds of work, of all processes that ran it one after the other."""
    done: float = 0.0
    """The estimated share of the work, 0 to 1."""
    rows: int = 0
    """Rows of what was found."""
    portions: int = 0
    """Portions that are left."""
    tally: WorkCounters = field(default_factory=WorkCounters)
    finished: bool = False
    began: float = 0.0
    """The time when, in seconds of Unix time; only shown."""
    saved: float = 0.0
    """The time of the last save, likewise."""
    history: tuple[tuple[float, float, int], ...] = ()
    """The last saves: seconds of work, share done, solutions found."""
    position: Position | None = None

    def later(self, seconds: float, done: float | None) -> RunState:
        """Return the state after some more seconds of work, as it is saved now."""
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
    def parse(cls, text: str) -> RunState:
        """Read what ``json`` gave; raise a ValueError, TypeError or KeyError if it is no state."""
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
    """The facts needed to go on; ``kind`` names the function that does."""
    owner: Owner
    state: RunState
    found: Mapping[range, int]
    """Solutions of runs of tasks, of unfinished ones those so far."""
    left: Mapping[int, Portion]
    """The portions that are left, by number."""

    @property
    def finished_tasks(self) -> int:
        """The number of finished tasks."""
        return self.state.tasks - tasks_in(self.left.values())


def load(database: Database) -> Kept:
    """Read all that is in a file; an InputError says how it is damaged."""
    with database.reading():
        facts: dict[str, str] = dict(
            map(unsealed, database.run("SELECT name, value, seal FROM facts"))
        )
        identity = Identity.parse(facts["identity"])
        setup = json.loads(facts["setup"])
        if not (isinstance(setup, dict) and isinstance(setup.get("kind"), str)):
            raise ValueError("no setup")
        state = RunState.parse(facts["state"])
        found = {}
        for row in database.run(
            "SELECT first, after, count, seal FROM tasks ORDER BY first, after"
        ):
            first, after, count = unsealed(row)
            if not (0 <= first < after <= state.end):
                raise ValueError("there are no such tasks")
            found[range(first, after)] = number_of(count)
        columns = "id, runs, words, boards, task_of, seal"
        rows = database.run(f"SELECT {columns} FROM portions ORDER BY id")
        left = {number: portion_of(tuple(row), state.end) for number, *row in rows}
        if (len(found), len(left)) != (state.rows, state.portions):
            raise ValueError("rows are missing")
        if state.end and sum(found.values()) != state.count:
            raise ValueError("the counts of its tasks do not add up")
        return Kept(identity, setup, Owner.parse(facts["owner"]), state, found, left)


def read_run(path: str | os.PathLike[str]) -> tuple[Kept, bool | None]:
    """Read the run in a file, and tell whether some process runs it; None if that is unknown."""
    with Database(path, write=False) as database:
        kept = load(database)
    return kept, database.is_locked()


def _check(values: Sequence[Any], kind: type) -> None:
    """Refuse values that are no numbers of a kind from 0 up."""
    for value in values:
        if type(value) not in (int, kind):
            raise ValueError("a number is of another kind")
        if not (isfinite(float(value)) and value >= 0):
            raise ValueError("a number is out of range")
