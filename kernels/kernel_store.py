"""The cache of compiled code: files that are read only if they can be trusted.

Their content runs as machine code. So a file is used only if it is complete, was written for this
very purpose, and is in a folder to which no other user can write. Any other file is ignored.

    bytes 0 to 16    MAGIC
    32 bytes         a SHA-256 digest of the state, the name of the file and the content
    the rest         the content

The state is everything that the code depends on, see ``user_store``. As the digest covers state and
name, no file can take the place of another. A file is written under another name and then renamed,
so no process ever reads an incomplete one.
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
MAX_FILE_BYTES = 1 << 28
"""Larger files are not read."""
_FOLDER_FLAGS = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_FILE_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
# Opening a named pipe would wait for a writer. With this flag it returns, and the pipe is rejected.
_FILE_FLAGS |= getattr(os, "O_NONBLOCK", 0)
NUMBA_SETTINGS = ("CPU_NAME", "CPU_FEATURES", "OPT", "BOUNDSCHECK", "DEBUGINFO", "ENABLE_AVX",
                  "LOOP_VECTORIZE", "SLP_VECTORIZE")  # fmt: skip
"""Numba's settings on which machine code depends: environment variables without ``NUMBA_``."""
_NUMBA_SETTINGS_FILE = Path(".numba_config.yaml")
"""Numba also reads settings from this file of the current folder."""
NOT_CACHED = "compiled code cannot be cached"


class Store:
    """A folder of cached files.

    Parameters
    ----------
    folder
        It is made, with the folders above it, when the first file is written.
    state
        A digest of everything that the files depend on. Files written for another state are not
        read.
    """

    def __init__(self, folder: Path, state: bytes) -> None:
        self.folder = folder
        self._state = state

    def has(self, name: str) -> bool:
        """Return whether there seems to be a file; ``read`` may still reject it."""
        return os.access(self.folder / name, os.R_OK)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it does not exist or cannot be trusted."""
        try:
            data = self._read(name)
        except OSError:
            return None
        if data is None or not data.startswith(MAGIC):
            return None
        content_start = len(MAGIC) + hashlib.sha256().digest_size
        digest = data[len(MAGIC) : content_start]
        content = data[content_start:]
        return content if digest == self._digest(name, content) else None

    def write(self, name: str, content: bytes) -> None:
        """Write a file, and replace an existing one.

        Raises
        ------
        OSError
            If that is impossible; its message is the reason.
        """
        self.make_folder()
        with self._opened_folder() as folder:
            self._write(folder, name, MAGIC + self._digest(name, content) + content)

    def make_folder(self) -> None:
        """Make the folder and those above it, accessible to this user only, whatever the umask."""
        folders = [self.folder, *self.folder.parents]
        missing = [path for path in folders if not path.exists()]
        for path in reversed(missing):  # outermost first
            with suppress(FileExistsError):  # another process has just made it
                path.mkdir(mode=0o700)
                # Some umasks also remove permissions of the user.
                if path.lstat().st_mode & 0o777 != 0o700:
                    path.chmod(0o700)
        self._check(self.folder.lstat())

    def _digest(self, name: str, content: bytes) -> bytes:
        # A digest of digests: joined directly, different parts could give the same bytes.
        parts = self._state, name.encode(), content
        digests = b"".join(hashlib.sha256(part).digest() for part in parts)
        return hashlib.sha256(digests).digest()

    def _read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None if it is not a file of this user.

        The checks are made on the opened folder and file, so they hold even if another user, who
        can write to a folder above, replaces what is at their paths in the meantime.
        """
        with self._opened_folder() as folder:
            descriptor = os.open(self._path(folder, name), os.O_RDONLY | _FILE_FLAGS, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
                return None
            return file.read() if _is_only_writable_by_us(status) else None

    def _write(self, folder: int | None, name: str, data: bytes) -> None:
        """Write a file to the opened folder, even if another folder is now at its path."""
        path = self._path(folder, name)
        partial_path = self._path(folder, f"{name}.{uuid4().hex}.part")
        try:
            with os.fdopen(_create(partial_path, folder), "wb") as file:
                file.write(data)
            # Renaming is atomic: readers get the old file or the new one.
            os.replace(partial_path, path, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial_path, dir_fd=folder)
            raise

    def _path(self, folder: int | None, name: str) -> str:
        """Return the path of a file, relative to the folder if that is open."""
        return str(self.folder / name) if folder is None else name

    @contextmanager
    def _opened_folder(self) -> Iterator[int | None]:
        """Open and check the folder. Yield its descriptor, or None where folders cannot be opened.

        That is on Windows, where other users cannot write to a user's folders anyway.
        """
        if os.open not in os.supports_dir_fd:
            yield None
            return
        folder = os.open(self.folder, os.O_RDONLY | _FOLDER_FLAGS)
        try:
            self._check(os.fstat(folder))
            yield folder
        finally:
            os.close(folder)

    def _check(self, status: os.stat_result) -> None:
        """Raise an OSError unless it is a folder to which only this user and root can write."""
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(0, "is a link, or not a folder")
        if not _is_only_writable_by_us(status):
            raise PermissionError(0, "belongs to others, or others can write to it")


def _create(path: str, folder: int | None) -> int:
    """Create a file that only this user can access, whatever the umask. Return its descriptor."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o600, dir_fd=folder)
    if hasattr(os, "fchmod"):  # not on Windows
        os.fchmod(descriptor, 0o600)
    return descriptor


def _is_only_writable_by_us(status: os.stat_result) -> bool:
    """Return whether only this user and root can write to a file or folder."""
    if os.name == "nt":  # modes and owners mean nothing there
        return True
    is_writable_by_others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid in {0, os.geteuid()} and not is_writable_by_others


@cache
def user_store() -> Store | None:
    """Return the store of compiled code; None if no home directory exists.

    It is a folder in GPUSUDOKU_CACHE_DIR, else in the user's cache. Each combination of sources,
    compilers, Python, processor and Numba's settings has a folder of its own.
    """
    state = _compute_state()
    folder_name = state.hex()[:16]
    try:
        return Store(base_folder() / folder_name, state)
    except RuntimeError:
        return None


def base_folder() -> Path:
    """Return the folder that contains the folders of all states."""
    user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("GPUSUDOKU_CACHE_DIR") or Path(user_cache) / "gpusudoku").absolute()


def _compute_state() -> bytes:
    """Return a digest of the sources, the compilers, Python, the processor and Numba's settings."""
    settings = [os.environ.get(f"NUMBA_{name}") for name in NUMBA_SETTINGS]
    python = sys.implementation.cache_tag, sys.version, getattr(sys, "abiflags", ""), sys.platform
    processor = get_host_cpu_name(), get_host_cpu_features().flatten()
    versions = _numba_version(), llvmlite.__version__
    state = versions, python, processor, settings, _read_bytes(_NUMBA_SETTINGS_FILE)
    digest = hashlib.sha256(repr(state).encode())

    # All sources, because any kernel may call functions of any other module.
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.digest()


def _numba_version() -> bytes | str:
    """Return text that differs between versions of Numba.

    It is the content of the file with the version, because importing Numba is slow.
    """
    spec = find_spec("numba")
    folders = (spec and spec.submodule_search_locations) or [""]
    content = _read_bytes(Path(folders[0]) / "_version.py")
    if content is None:  # Numba is not a folder of files, or has no such file
        import numba

        return str(numba.__version__)
    return content


def _read_bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def find_obstacle(store: Store | None) -> str | None:
    """Return why compiled code cannot be cached; None if it can."""
    if store is None:
        return NOT_CACHED
    try:
        store.make_folder()
    except OSError as error:
        return f"{NOT_CACHED}: {store.folder}: {error.strerror or error}"
    if not os.access(store.folder, os.W_OK | os.X_OK):
        return f"{NOT_CACHED}: {store.folder}: not writable"
    return None


def short_path(folder: Path) -> str:
    """Return the path of a folder, with ``~`` for the user's home directory."""
    try:
        return f"~/{folder.relative_to(Path.home()).as_posix()}"
    except (ValueError, RuntimeError):
        return str(folder)
