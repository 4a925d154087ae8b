"""Run files as SQLite databases: checks before they are opened, and messages of SQLite's errors."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from gpusudoku.errors import InputError, SaveError, described, shown

APPLICATION_ID = 0x67537564
"""Marks a database as a run file, in the header of the file: ``gSud`` in ASCII."""
NOT_A_RUN_FILE = "not made by --checkpoint"
_UP_TO_PREVIOUS_SAVE = "; it contains everything up to the previous save"
"""The end of the message of a SaveError."""


def path_text(path: object) -> str:
    """Return a path as text; raise an InputError if it is empty or no path."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text:
        raise InputError(f"{described(path)}: expected the name of a file")
    return text


def check_readable(path: str) -> None:
    """Raise an InputError unless a file exists that may contain a run."""
    status = _file_status(path)
    if status is None:
        raise InputError(f"{path}: no such file")
    if not status.st_size:
        raise InputError(f"{path}: is an empty file, not a run")


def is_new_file(path: str) -> bool:
    """Tell whether a file is missing or empty, so that a run can begin in it.

    Raises
    ------
    InputError
        If a run can neither begin nor continue in this file.
    """
    status = _file_status(path)
    folder = Path(path).absolute().parent
    if status is None and not folder.is_dir():
        raise InputError(f"{path}: there is no folder {folder}")
    if status is not None and not os.access(path, os.W_OK):
        raise InputError(f"{path}: cannot be written: it is read-only")
    # SQLite creates its journal in the folder.
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: cannot be written: its folder is read-only")
    return status is None or not status.st_size


def _file_status(path: str) -> os.stat_result | None:
    """Return the status of a regular file, or None if it does not exist."""
    try:
        status = Path(path).stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{path}: cannot be opened: {error.strerror}") from None
    except ValueError as error:  # a null byte
        raise InputError(f"{shown(path)}: cannot be opened: {error}") from None
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: is not a regular file")
    return status


def connect(path: str, mode: str, timeout: float) -> sqlite3.Connection:
    """Open a database.

    ``mode`` is that of SQLite's URIs: ``ro``, ``rw`` or ``rwc``. ``timeout`` is the longest wait
    for a lock, in seconds.
    """
    return sqlite3.connect(
        f"{Path(path).absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=timeout,
        isolation_level=None,  # transactions begin only where the code says so
    )


def check_application(path: str) -> None:
    """Raise an InputError if a file belongs to another program.

    This comes before SQLite opens the file for writing, as that could repair something in it.
    """
    # Only SQLite may open the file. If this process opened and closed it in any other way, POSIX
    # would release all locks that the process holds on it. With ``immutable`` SQLite uses no lock
    # and no journal. While another process commits, no more than the application ID can be read.
    try:
        with closing(connect(path, "ro&immutable=1", 0.0)) as connection:
            [(application_id,)] = connection.execute("PRAGMA application_id")
    except sqlite3.Error as error:
        if error_code(error) == sqlite3.SQLITE_CORRUPT:
            return  # reading the file reports the damage
        raise InputError(f"{path}: {describe_error(error)}") from None
    if application_id != APPLICATION_ID:
        raise InputError(f"{path}: {NOT_A_RUN_FILE}")


def commit_and_lock(connection: sqlite3.Connection) -> None:
    """Commit, and take the lock again. A commit waits for readers for as long as they read."""
    while True:
        try:
            connection.commit()
            break
        except sqlite3.OperationalError as error:
            if error_code(error) != sqlite3.SQLITE_BUSY:
                raise
    connection.execute("BEGIN IMMEDIATE")


@contextmanager
def raising_input_errors(path: str) -> Iterator[None]:
    """Turn every error that reading a file raises in the block into an InputError of one line."""
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(f"{path}: {describe_error(error)}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: damaged: {error}") from None


@contextmanager
def rolling_back(connection: sqlite3.Connection, path: str) -> Iterator[None]:
    """Roll the transaction back after any error; turn an error of SQLite into a SaveError."""
    try:
        # After each commit the next transaction begins at once. If there is none, beginning it
        # failed, and the lock may be lost.
        if not connection.in_transaction:
            raise SaveError(f"{path}: cannot be saved: an earlier save failed")
        yield
    except BaseException as error:
        with suppress(sqlite3.Error):
            connection.rollback()
        if not isinstance(error, sqlite3.Error):
            raise
        message = f"{path}: cannot be saved: {describe_error(error)}"
        raise SaveError(f"{message}{_UP_TO_PREVIOUS_SAVE}") from None


def message_at_start(error: SaveError) -> str:
    """Return the message of a SaveError of the first save of a process."""
    return str(error).removesuffix(_UP_TO_PREVIOUS_SAVE)


def error_code(error: sqlite3.Error) -> int:
    """Return the primary error code of SQLite, without the bits that hold details."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def describe_error(error: sqlite3.Error) -> str:
    """Describe an error of SQLite in words."""
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED:
        return "it was moved or deleted meanwhile"
    descriptions = {
        sqlite3.SQLITE_NOTADB: NOT_A_RUN_FILE,
        sqlite3.SQLITE_FULL: "the disk is full",
        sqlite3.SQLITE_READONLY: "it is read-only, or its folder is",
        sqlite3.SQLITE_CANTOPEN: "it cannot be opened, or nothing can be written to its folder",
        sqlite3.SQLITE_BUSY: "another process is using it",
        sqlite3.SQLITE_PROTOCOL: "its file system has no locks: keep it in another folder",
        sqlite3.SQLITE_IOERR: f"reading or writing failed ({error})",
    }
    return descriptions.get(error_code(error)) or f"damaged: {error}"
