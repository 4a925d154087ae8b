"""Files that are kept from one process to the next, and read only if they can be trusted.

What is read here is run as machine code. So a file counts only if it is whole, was written for this
very purpose, and lies where nobody else can have put it; anything else is as good as no file.

A file is a magic word, a digest, and the content. The digest covers the name of the file and the
state of whatever it was made from, too: no file can take the place of another. Files are written
under another name and renamed, so that nobody ever reads a part of one.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

MAGIC = b"gpusudoku kept 1\n"
PARTIAL = ".part"
"""What the name of a file ends in while it is written."""
PARTIAL_SECONDS = 3600.0
"""A partial file that is older was left by a process that was killed."""
FILE_BYTES = 1 << 28
"""No file is larger; a larger one is not read."""
_FOLDER_FLAGS = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_FILE_FLAGS |= getattr(os, "O_NONBLOCK", 0)  # a pipe is opened at once, and then refused


class Store:
    """A folder of kept files; one that cannot be used keeps nothing, and says why.

    Parameters
    ----------
    folder
        Where the files lie; it is made, with the folders above it, when the first is written.
    state
        What the files depend on: files that were written for another are not read.
    """

    def __init__(self, folder: Path, state: bytes) -> None:
        self.folder, self._state = folder, state
        self.trouble: str | None = None
        """Why a file could not be read or kept, though it should have been; None if all is well."""

    def has(self, name: str) -> bool:
        """Whether there seems to be such a file; ``read`` tells whether it is any good."""
        return os.access(self.folder / name, os.R_OK)

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if there is none, or none that can be trusted."""
        try:
            data = self._read(name)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.trouble = f"{self.folder}: {error.strerror}"
            return None
        if data is None or not data.startswith(MAGIC):
            return None
        start = len(MAGIC) + hashlib.sha256().digest_size
        content = data[start:]
        return content if data[len(MAGIC) : start] == self._digest(name, content) else None

    def write(self, name: str, content: bytes) -> bool:
        """Keep a file, in place of any that is there; returns whether that was possible."""
        try:
            self._make_folder()
            with self._opened_folder() as folder:
                self._write(folder, name, MAGIC + self._digest(name, content) + content)
        except OSError as error:
            self.trouble = f"{self.folder}: {error.strerror or error}"
            return False
        self.trouble = None
        self._sweep()
        return True

    def writable(self) -> bool:
        """Whether files can be kept: there is a folder for them, or can be."""
        try:
            self._make_folder()
            self.trouble = None
        except OSError as error:
            self.trouble = f"{self.folder}: {error.strerror or error}"
        return not self.trouble and os.access(self.folder, os.W_OK | os.X_OK)

    def _digest(self, name: str, content: bytes) -> bytes:
        parts = self._state, name.encode(), content
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).digest()

    def _read(self, name: str) -> bytes | None:
        """The bytes of a file. What is looked at is what was opened, whatever becomes of its path.

        Therefore nothing depends on who can write to the folders above.
        """
        with self._opened_folder() as folder:
            try:
                path = self._at(folder, name)
                file = os.open(path, os.O_RDONLY | _FILE_FLAGS, dir_fd=folder)
            except OSError:
                return None
        with os.fdopen(file, "rb") as opened:
            status = os.fstat(file)
            sound = stat.S_ISREG(status.st_mode) and status.st_size <= FILE_BYTES
            return opened.read() if sound and _only_ours(status) else None

    def _write(self, folder: int | None, name: str, data: bytes) -> None:
        """Write a file in the folder that was opened, whatever becomes of its path."""
        path, partial = self._at(folder, name), self._at(folder, f"{name}.{uuid4().hex}{PARTIAL}")
        try:
            with os.fdopen(_new(partial, folder), "wb") as file:
                file.write(data)
            os.replace(partial, path, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial, dir_fd=folder)
            raise

    def _at(self, folder: int | None, name: str) -> str:
        """Where a file is: in the folder if that is open, else by its path."""
        return str(self.folder / name) if folder is None else name

    @contextmanager
    def _opened_folder(self) -> Iterator[int | None]:
        """The folder, opened and found to be trusted; None where folders cannot be opened."""
        if os.open not in os.supports_dir_fd:  # Windows, where a user's folders are their own
            yield None
            return
        folder = os.open(self.folder, os.O_RDONLY | _FOLDER_FLAGS)
        try:
            self._check(os.fstat(folder))
            yield folder
        finally:
            os.close(folder)

    def _make_folder(self) -> None:
        """Make the folder and those above it, for this user alone whatever the umask."""
        above = [self.folder, *self.folder.parents]
        for path in reversed([path for path in above if not path.exists()]):
            with suppress(FileExistsError):  # another process was quicker
                path.mkdir(mode=0o700)
                if path.lstat().st_mode & 0o777 != 0o700:  # some umasks take from the user, too
                    path.chmod(0o700)
        self._check(self.folder.lstat())

    def _check(self, status: os.stat_result) -> None:
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(0, "is a link, or no folder")
        if not _only_ours(status):
            raise PermissionError(0, "belongs to others, or others can write to it")

    def _sweep(self) -> None:
        """Remove what was left by processes that were killed while they wrote."""
        with suppress(OSError):
            for path in self.folder.glob(f"*{PARTIAL}"):
                if path.stat().st_mtime < time.time() - PARTIAL_SECONDS:
                    path.unlink()


def _new(path: str, folder: int | None) -> int:
    """Open a new file that belongs to this user alone, whatever the umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags, 0o600, dir_fd=folder)
    if hasattr(os, "fchmod"):
        os.fchmod(file, 0o600)
    return file


def _trusted_owners() -> set[int]:
    """Root, who can do anything anyway, and this user."""
    return {0, os.geteuid()}


def _only_ours(status: os.stat_result) -> bool:
    """Whether nobody but this user and root can have written there."""
    if os.name == "nt":  # modes and owners say nothing there
        return True
    others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid in _trusted_owners() and not others


def not_kept(store: Store | None) -> str:
    """Why nothing that is compiled can be kept."""
    why = f": {store.trouble}" if store is not None and store.trouble else ""
    return f"no folder can be written to keep what is compiled{why}"


def short_path(folder: Path) -> str:
    """A folder as a user knows it."""
    try:
        return f"~/{folder.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):
        return str(folder)
