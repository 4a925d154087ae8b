"""Files with compiled code, kept from one process to the next and read only if they can be trusted.

Their content runs as machine code. So a file counts only if it is complete, was written for this
very purpose, and is where no other user can have put it; any other file is ignored.

A file has a magic word, a digest and the content. The digest covers the name of the file and the
state that the code depends on, so no file can take the place of another. Files are written under
another name and renamed, so nobody ever reads a part of one.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import llvmlite
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

MAGIC = b"gpusudoku kept 1\n"
FILE_BYTES = 1 << 28
"""No file is larger; a larger one is not read."""
_FOLDER_FLAGS = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_FILE_FLAGS |= getattr(os, "O_NONBLOCK", 0)  # a pipe is opened at once, and then refused
NUMBA_SETTINGS = ("CPU_NAME", "CPU_FEATURES", "OPT", "BOUNDSCHECK", "DEBUGINFO", "ENABLE_AVX",
                  "LOOP_VECTORIZE", "SLP_VECTORIZE")  # fmt: skip
"""Numba's settings on which machine code depends, as variables of the environment are named."""
_NUMBA_SETTINGS_FILE = Path(".numba_config.yaml")
"""Numba reads settings from there, too."""
NOT_KEPT = "no folder can be written to keep what is compiled"


class Store:
    """A folder of kept files.

    Parameters
    ----------
    folder
        It is made, with the folders above it, when the first file is written.
    state
        What the files depend on: files that were written for another state are not read.
    """

    def __init__(self, folder: Path, state: bytes) -> None:
        self.folder = folder
        self._state = state

    def has(self, name: str) -> bool:
        """Return whether there seems to be such a file; ``read`` may still refuse it."""
        return os.access(self.folder / name, os.R_OK)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none that can be trusted."""
        try:
            data = self._read(name)
        except OSError:
            return None
        if data is None or not data.startswith(MAGIC):
            return None
        start = len(MAGIC) + hashlib.sha256().digest_size
        content = data[start:]
        return content if data[len(MAGIC) : start] == self._digest(name, content) else None

    def write(self, name: str, content: bytes) -> None:
        """Keep a file, and replace any that is there; an OSError says why that is impossible."""
        self.make_folder()
        with self._opened_folder() as folder:
            self._write(folder, name, MAGIC + self._digest(name, content) + content)

    def make_folder(self) -> None:
        """Make the folder and those above it, for this user alone whatever the umask."""
        folders = [self.folder, *self.folder.parents]
        for path in reversed([path for path in folders if not path.exists()]):
            with suppress(FileExistsError):  # another process was quicker
                path.mkdir(mode=0o700)
                if path.lstat().st_mode & 0o777 != 0o700:  # some umasks take from the user, too
                    path.chmod(0o700)
        self._check(self.folder.lstat())

    def _digest(self, name: str, content: bytes) -> bytes:
        parts = self._state, name.encode(), content
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).digest()

    def _read(self, name: str) -> bytes | None:
        """Return the bytes of a file.

        What is checked is what was opened, whatever becomes of its path. So it does not matter who
        can write to the folders above.
        """
        with self._opened_folder() as folder:
            file = os.open(self._at(folder, name), os.O_RDONLY | _FILE_FLAGS, dir_fd=folder)
        with os.fdopen(file, "rb") as opened:
            status = os.fstat(file)
            sound = stat.S_ISREG(status.st_mode) and status.st_size <= FILE_BYTES
            return opened.read() if sound and _only_ours(status) else None

    def _write(self, folder: int | None, name: str, data: bytes) -> None:
        """Write a file in the folder that was opened, whatever becomes of its path."""
        path = self._at(folder, name)
        partial = self._at(folder, f"{name}.{uuid4().hex}.part")
        try:
            with os.fdopen(_create(partial, folder), "wb") as file:
                file.write(data)
            os.replace(partial, path, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial, dir_fd=folder)
            raise

    def _at(self, folder: int | None, name: str) -> str:
        """Return where a file is: in the folder if that is open, else by its path."""
        return str(self.folder / name) if folder is None else name

    @contextmanager
    def _opened_folder(self) -> Iterator[int | None]:
        """Open and check the folder; None where folders cannot be opened."""
        if os.open not in os.supports_dir_fd:  # Windows, where a user's folders are their own
            yield None
            return
        folder = os.open(self.folder, os.O_RDONLY | _FOLDER_FLAGS)
        try:
            self._check(os.fstat(folder))
            yield folder
        finally:
            os.close(folder)

    def _check(self, status: os.stat_result) -> None:
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(0, "is a link, or no folder")
        if not _only_ours(status):
            raise PermissionError(0, "belongs to others, or others can write to it")


def _create(path: str, folder: int | None) -> int:
    """Open a new file that belongs to this user alone, whatever the umask."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    file = os.open(path, flags, 0o600, dir_fd=folder)
    if hasattr(os, "fchmod"):
        os.fchmod(file, 0o600)
    return file


def _only_ours(status: os.stat_result) -> bool:
    """Return whether nobody but this user and root can have written there."""
    if os.name == "nt":  # modes and owners say nothing there
        return True
    written_by_others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid in {0, os.geteuid()} and not written_by_others


@cache
def user_store() -> Store | None:
    """Return the store of compiled code; None if no home directory exists.

    It is a folder in GPUSUDOKU_CACHE_DIR, else in the user's cache: one per combination of
    sources, compilers, Python, processor and Numba's settings.
    """
    state = _state()
    try:
        return Store(base_folder() / state.hex()[:16], state)
    except RuntimeError:
        return None


def base_folder() -> Path:
    """Return the folder that contains one for each state."""
    user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("GPUSUDOKU_CACHE_DIR") or Path(user_cache) / "gpusudoku").absolute()


def _state() -> bytes:
    """Return a digest of the sources, the compilers, Python, the processor and Numba's settings."""
    settings = [os.environ.get(f"NUMBA_{name}") for name in NUMBA_SETTINGS]
    python = sys.implementation.cache_tag, sys.version, getattr(sys, "abiflags", ""), sys.platform
    processor = get_host_cpu_name(), get_host_cpu_features().flatten()
    versions = _numba_version(), llvmlite.__version__
    state = versions, python, processor, settings, _read_bytes(_NUMBA_SETTINGS_FILE)
    digest = hashlib.sha256(repr(state).encode())
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.digest()


def _numba_version() -> bytes | str:
    """Return text that differs between versions of Numba, without importing it, which is slow."""
    spec = find_spec("numba")
    folders = (spec and spec.submodule_search_locations) or [""]
    version = _read_bytes(Path(folders[0]) / "_version.py")
    if version is None:
        import numba

        return str(numba.__version__)
    return version


def _read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def obstacle(store: Store | None) -> str | None:
    """Return why no compiled code can be kept; None if it can."""
    if store is None:
        return NOT_KEPT
    try:
        store.make_folder()
    except OSError as error:
        return f"{NOT_KEPT}: {store.folder}: {error.strerror or error}"
    return None if os.access(store.folder, os.W_OK | os.X_OK) else NOT_KEPT


def short_path(folder: Path) -> str:
    """Return a folder as the user knows it."""
    try:
        return f"~/{folder.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):
        return str(folder)
