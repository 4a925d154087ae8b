"""One SQLite file that one process writes and any may read: its checks, its lock, its errors.

The journal is SQLite's oldest, a file beside it that is deleted with each commit, and the folder is
synced with it (``synchronous`` EXTRA): what was committed outlives a loss of power, and what was
not is undone by whoever opens the file next. The newer write-ahead log needs memory that processes
share, which network file systems do not have, and a copy of the file alone would lack what is in
the log. The price is that a commit waits for those who read just then, and they for it: reading
takes milliseconds, and neither of them fails.

Who writes holds SQLite's RESERVED lock from the opening of the file until it is closed: only one
process can, all may read meanwhile, and it is gone when the process is, however that ends. It is a
lock of the operating system, so it is seen from other hosts where the file system has locks. It is
let go for a moment at each commit. Hence who wants it takes it twice, with a pause between.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from gpusudoku.errors import InputError, SaveError, described, shown
from gpusudoku.runs.owner import Owner

APPLICATION = 0x67537564
"""What marks the file as one of ours, in its header: ``gSud``."""
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
"""``facts`` are JSON by name, ``tasks`` what was found, ``portions`` what is left to do."""

BUSY_SECONDS = 10.0
"""So long is waited for somebody who reads or writes at the same moment."""
LOCK_SECONDS = 1.0
"""So long is waited for a lock: somebody may only have looked whether it is held."""
TWICE_SECONDS = 0.05
"""Between taking it and taking it again."""


class Database:
    """The file, open and checked. A context manager.

    Parameters
    ----------
    path
        The file; if it is to be written, it may be missing or empty.
    write
        Whether this process is going to write. It is locked then; nothing is written here.

    Raises
    ------
    InputError
        If it is no file of ours, is damaged, cannot be read or written, or another process has it.
    """

    def __init__(self, path: str | os.PathLike[str], *, write: bool) -> None:
        self.path = _name(path)
        self.is_new = _is_new(self.path, write)
        """Whether there is nothing in it yet."""
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
        """Commit, and keep the lock. Who reads just now is waited for, as long as it takes."""
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
        """Whether some process writes; None if that cannot be told, as the file is read-only."""
        try:
            with closing(_connect(self.path, "rw", 0.0)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.rollback()
        except sqlite3.Error as error:
            return True if _code(error) == sqlite3.SQLITE_BUSY else None
        return False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let every error in here be one line about the file; it is bad input."""
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
        """Undo all in here after an error; one of the file is a ``SaveError``."""
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
                raise InputError(f"{self.path}: {self._holder()} works at it") from None
        self.run(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")

    def _holder(self) -> str:
        """Who has the lock, as far as that is known."""
        try:
            [(text,)] = self.run("SELECT value FROM facts WHERE name = 'owner'").fetchall()
            return str(Owner.parse(text))
        except (sqlite3.Error, ValueError, RecursionError):
            return "another process"

    def _check(self) -> None:
        """Complain unless the tables are those that were made here, and whole."""
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
    """A path as text, not empty; complains about what is none."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str) or not name:
        raise InputError(f"{described(path)}: expected the name of a file")
    return name


def _is_new(path: str, write: bool) -> bool:
    """Whether a file is missing or empty; complains about what cannot hold a run."""
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
    """Complain about a file of somebody else before SQLite could repair anything in it.

    No other means leaves the file alone: to open it as a file and to close it would let go the
    locks that this process may have on it. It may be in the middle of a commit, so that not more
    than this can be told from it.
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
    """The number of an error without its details."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _words(error: sqlite3.Error) -> str:
    """What is wrong, in words."""
    code = _code(error)
    known = {
        sqlite3.SQLITE_NOTADB: "not made by --checkpoint",
        sqlite3.SQLITE_FULL: "the disk is full",
        sqlite3.SQLITE_READONLY: "it is read-only, or its folder is",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened, or nothing can be written to its folder",
        sqlite3.SQLITE_BUSY: "another process works at it",
        sqlite3.SQLITE_IOERR: f"reading or writing failed ({error})",
    }
    return known.get(code) or f"damaged: {error}"
