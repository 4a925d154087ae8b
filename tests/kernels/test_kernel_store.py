"""Kept files: what is no good is no file, and what cannot be kept does no harm."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpusudoku.kernels.kernel_store import MAGIC, Store, obstacle

CONTENT = bytes(range(256)) * 10
posix = pytest.mark.skipif(os.name == "nt", reason="modes and owners are POSIX")


@pytest.fixture
def filled(tmp_path: Path) -> Store:
    """A store with one file, ``name``."""
    store = Store(tmp_path / "above" / "folder", b"state")
    store.write("name", CONTENT)
    return store


def test_what_is_written_is_read(filled: Store) -> None:
    assert filled.has("name")
    assert filled.read("name") == CONTENT
    filled.write("name", b"")
    assert filled.read("name") == b""
    assert not filled.has("other")
    assert filled.read("other") is None
    assert obstacle(filled) is None
    assert [path.name for path in filled.folder.iterdir()] == ["name"]


def test_a_file_that_is_damaged_or_foreign_is_none(filled: Store) -> None:
    path = filled.folder / "name"
    good = path.read_bytes()
    for position in (*range(len(MAGIC) + 40), len(good) // 2, len(good) - 1):
        bad = bytearray(good)
        bad[position] ^= 1 << position % 8
        path.write_bytes(bad)
        assert filled.read("name") is None
    lengths = 0, 1, len(MAGIC) + 31, len(MAGIC) + 32, -1
    for content in (*(good[:length] for length in lengths), good + b"\0", b"foreign" * 99):
        path.write_bytes(content)
        assert filled.read("name") is None
    filled.write("name", CONTENT)
    assert filled.read("name") == CONTENT


def test_no_file_takes_the_place_of_another(filled: Store) -> None:
    shutil.copy(filled.folder / "name", filled.folder / "other")
    assert filled.read("other") is None
    assert Store(filled.folder, b"another state").read("name") is None


@posix
def test_what_is_no_file_is_none_and_links_are_not_followed(filled: Store, tmp_path: Path) -> None:
    (filled.folder / "folder").mkdir()
    os.mkfifo(filled.folder / "pipe")  # nobody writes to it: reading would wait for ever
    (filled.folder / "name").rename(tmp_path / "name")
    (filled.folder / "name").symlink_to(tmp_path / "name")
    assert [filled.read(name) for name in ("folder", "pipe", "name")] == [None] * 3
    filled.write("name", CONTENT)  # made anew, in place of the link
    assert filled.read("name") == CONTENT
    (tmp_path / "link").symlink_to(filled.folder, target_is_directory=True)
    assert Store(tmp_path / "link", b"state").read("name") is None


@posix
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used(filled: Store, mode: int) -> None:
    filled.folder.chmod(mode)
    assert filled.read("name") is None
    with pytest.raises(PermissionError, match="others can write to it"):
        filled.write("name", CONTENT)
    assert "others can write to it" in (obstacle(filled) or "")
    filled.folder.chmod(0o700)
    assert filled.read("name") == CONTENT
    assert obstacle(filled) is None
    filled.folder.chmod(0o555)  # what is complete may be read-only
    assert filled.read("name") == CONTENT
    filled.folder.chmod(0o700)
    (filled.folder / "name").chmod(mode & 0o666)  # nor is a file
    assert filled.read("name") is None


@posix
def test_what_belongs_to_others_is_not_used(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a folder nor a file, unless they are root's."""
    owner = filled.folder.stat().st_uid
    user = 4711
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if owner == 0:
        assert filled.read("name") == CONTENT
        os.chown(filled.folder / "name", user + 1, 0)
        assert filled.read("name") is None
        os.chown(filled.folder, user + 1, 0)
    assert filled.read("name") is None
    with pytest.raises(PermissionError, match="belongs to others"):
        filled.write("other", CONTENT)


@posix
@pytest.mark.parametrize("umask", [0, 0o777])
def test_what_is_made_is_for_its_user_alone(tmp_path: Path, umask: int) -> None:
    store = Store(tmp_path / "one" / "two" / "three", b"state")
    old_umask = os.umask(umask)
    try:
        store.write("name", CONTENT)
    finally:
        os.umask(old_umask)
    for folder in (store.folder, *list(store.folder.parents)[:2]):
        assert folder.stat().st_mode & 0o777 == 0o700
    assert (store.folder / "name").stat().st_mode & 0o777 == 0o600
    assert store.read("name") == CONTENT


def test_where_there_can_be_no_folder_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    store = Store(tmp_path / "file" / "folder", b"state")
    with pytest.raises(NotADirectoryError):
        store.write("name", CONTENT)
    assert store.read("name") is None
    assert str(store.folder) in (obstacle(store) or "")


def test_a_disk_that_is_full_in_the_middle_of_a_file(filled: Store) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    old_handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            filled.write("name", CONTENT * 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old_handler)
    assert filled.read("name") == CONTENT
    assert [path.name for path in filled.folder.iterdir()] == ["name"]


WRITES = """
import sys
from pathlib import Path
from gpusudoku.kernels.kernel_store import Store
store, content = Store(Path(sys.argv[1]), b"state"), bytes(range(256)) * 4000
print("begun", flush=True)
while True:
    store.write("name", content)
"""


def test_killed_at_any_moment_while_others_read(tmp_path: Path) -> None:
    """Two processes write the same file without a pause; each time it is read, it is whole."""
    filled = Store(tmp_path / "folder", b"state")
    whole = bytes(range(256)) * 4000
    filled.write("name", whole)
    command = [sys.executable, "-c", WRITES, str(filled.folder)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"begun\n"
        for _ in range(20):
            assert filled.read("name") == whole
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    assert filled.read("name") == whole
