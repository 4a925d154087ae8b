"""Kept files: what is no good is no file, and what cannot be kept does no harm."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpusudoku.kernels.store import MAGIC, PARTIAL, PARTIAL_SECONDS, Store

CONTENT = bytes(range(256)) * 10
posix = pytest.mark.skipif(os.name == "nt", reason="modes and owners are POSIX")


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    """A store with one file, ``name``."""
    store = Store(tmp_path / "above" / "folder", b"state")
    assert store.write("name", CONTENT)
    return store


def open_with(patch: pytest.MonkeyPatch, opening: Callable[..., int]) -> None:
    """Have files opened by a function, which seems to know folders that are open."""
    patch.setattr(os, "open", opening)
    patch.setattr(os, "supports_dir_fd", {*os.supports_dir_fd, opening})


def test_what_is_written_is_read(kept: Store) -> None:
    assert kept.has("name")
    assert kept.read("name") == CONTENT
    assert kept.write("name", b"")
    assert kept.read("name") == b""
    assert not kept.has("other")
    assert kept.read("other") is None
    assert (kept.trouble, kept.writable()) == (None, True)
    assert [path.name for path in kept.folder.iterdir()] == ["name"]


def test_a_flipped_bit_is_found_wherever_it_is(kept: Store) -> None:
    path = kept.folder / "name"
    good = path.read_bytes()
    for position in (*range(len(MAGIC) + 40), len(good) // 2, len(good) - 1):
        bad = bytearray(good)
        bad[position] ^= 1 << position % 8
        path.write_bytes(bad)
        assert kept.read("name") is None
    path.write_bytes(good)
    assert kept.read("name") == CONTENT
    assert kept.trouble is None


def test_a_file_that_is_too_short_or_long_or_foreign_is_none(kept: Store) -> None:
    path = kept.folder / "name"
    whole = path.read_bytes()
    lengths = 0, 1, len(MAGIC) + 31, len(MAGIC) + 32, -1
    for content in (*(whole[:length] for length in lengths), whole + b"\0", b"foreign" * 99):
        path.write_bytes(content)
        assert kept.read("name") is None
    assert kept.write("name", CONTENT)
    assert kept.read("name") == CONTENT


def test_no_file_takes_the_place_of_another(kept: Store) -> None:
    shutil.copy(kept.folder / "name", kept.folder / "other")
    assert kept.read("other") is None
    assert Store(kept.folder, b"another state").read("name") is None


def test_what_is_no_file_is_none(kept: Store) -> None:
    (kept.folder / "folder").mkdir()
    assert kept.read("folder") is None
    if hasattr(os, "mkfifo"):
        os.mkfifo(kept.folder / "pipe")  # nobody writes to it: reading would wait for ever
        assert kept.read("pipe") is None


@posix
def test_links_are_not_followed(kept: Store, tmp_path: Path) -> None:
    (kept.folder / "name").rename(tmp_path / "name")
    (kept.folder / "name").symlink_to(tmp_path / "name")
    assert kept.read("name") is None
    assert kept.write("name", CONTENT)  # made anew, in place of the link
    assert kept.read("name") == CONTENT
    (tmp_path / "link").symlink_to(kept.folder, target_is_directory=True)
    assert Store(tmp_path / "link", b"state").read("name") is None


@posix
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used(kept: Store, mode: int) -> None:
    kept.folder.chmod(mode)
    assert kept.read("name") is None
    assert not kept.write("name", CONTENT)
    assert not kept.writable()
    assert "others can write to it" in (kept.trouble or "")
    kept.folder.chmod(0o700)
    assert kept.read("name") == CONTENT
    assert (kept.writable(), kept.trouble) == (True, None)
    (kept.folder / "name").chmod(mode & 0o666)  # nor is a file
    assert kept.read("name") is None


@posix
def test_what_belongs_to_others_is_not_used(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a folder nor a file, unless they are root's."""
    owner, user = kept.folder.stat().st_uid, 4711
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if owner == 0:
        assert kept.read("name") == CONTENT
        os.chown(kept.folder / "name", user + 1, 0)
        assert kept.read("name") is None
        os.chown(kept.folder, user + 1, 0)
    assert kept.read("name") is None
    assert not kept.write("other", CONTENT)
    assert "belongs to others" in (kept.trouble or "")


@posix
@pytest.mark.parametrize("umask", [0, 0o022, 0o277, 0o777])
def test_what_is_made_is_for_its_user_alone(tmp_path: Path, umask: int) -> None:
    store = Store(tmp_path / "one" / "two" / "three", b"state")
    before = os.umask(umask)
    try:
        assert store.write("name", CONTENT)
    finally:
        os.umask(before)
    for folder in (store.folder, *list(store.folder.parents)[:2]):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert (store.folder / "name").stat().st_mode & 0o777 == 0o600
    assert store.read("name") == CONTENT


@posix
def test_a_complete_folder_may_be_read_only(kept: Store) -> None:
    (kept.folder / "name").chmod(0o444)
    kept.folder.chmod(0o555)
    try:
        assert Store(kept.folder, b"state").read("name") == CONTENT
    finally:
        kept.folder.chmod(0o700)


def test_where_there_can_be_no_folder_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    store = Store(tmp_path / "file" / "folder", b"state")
    assert not store.write("name", CONTENT)
    assert store.read("name") is None
    assert str(store.folder) in (store.trouble or "")
    assert not store.writable()


@pytest.mark.parametrize("call", ["open", "replace"])
def test_a_full_disk_keeps_nothing(kept: Store, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no room for another file, or for a longer folder."""
    opened = os.open

    def fail(path: Any, flags: Any = os.O_CREAT, *rest: Any, **named: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return opened(path, flags, *rest, **named)

    if call == "open":
        open_with(monkeypatch, fail)
    else:
        monkeypatch.setattr(os, "replace", lambda *_, **__: fail(""))
    assert not kept.write("name", b"other")
    assert (kept.trouble or "").endswith(os.strerror(errno.ENOSPC))
    monkeypatch.undo()
    assert [path.name for path in kept.folder.iterdir()] == ["name"]
    assert kept.read("name") == CONTENT


def test_a_disk_that_is_full_in_the_middle_of_a_file(kept: Store) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        assert not kept.write("name", CONTENT * 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert kept.read("name") == CONTENT
    assert [path.name for path in kept.folder.iterdir()] == ["name"]


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="folders cannot be opened here")
def test_what_is_written_stays_in_the_folder_that_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders above it that are renamed meanwhile do not bring files elsewhere."""
    made, moved, elsewhere = (tmp_path / name for name in ("made", "moved", "elsewhere"))
    elsewhere.mkdir()
    opened = os.open

    def swap(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        file = opened(path, flags, *rest, **named)
        if path == made:
            made.rename(moved)
            made.symlink_to(elsewhere)
        return file

    assert Store(made, b"state").write("first", CONTENT)
    open_with(monkeypatch, swap)
    Store(made, b"state").write("second", CONTENT)
    monkeypatch.undo()
    assert sorted(path.name for path in moved.iterdir()) == ["first", "second"]
    assert list(elsewhere.iterdir()) == []


def test_what_the_killed_left_goes_after_a_while(kept: Store) -> None:
    old, new = (kept.folder / f"{name}{PARTIAL}" for name in ("old", "new"))
    for path in old, new:
        path.write_bytes(b"half a fi")
    long_ago = time.time() - 2 * PARTIAL_SECONDS
    os.utime(old, (long_ago, long_ago))
    assert kept.write("other", CONTENT)
    assert not old.exists()
    assert new.exists()  # a process may still be at it


WRITES = """
import sys
from pathlib import Path
from gpusudoku.kernels.store import Store
store, content = Store(Path(sys.argv[1]), b"state"), bytes(range(256)) * 4000
print("begun", flush=True)
while True:
    store.write("name", content)
"""


def test_killed_at_any_moment_while_others_read(tmp_path: Path) -> None:
    """Two processes write the same file without a pause; each time it is read, it is whole."""
    kept, whole = Store(tmp_path / "folder", b"state"), bytes(range(256)) * 4000
    assert kept.write("name", whole)
    command = [sys.executable, "-c", WRITES, str(kept.folder)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"begun\n"
        for _ in range(20):
            assert kept.read("name") == whole
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    assert kept.read("name") == whole
