"""Cached files: unusable ones are ignored, and those that cannot be written do no harm."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpusudoku.kernels.kernel_store import MAGIC, Store, find_obstacle

CONTENT = bytes(range(256)) * 10
posix = pytest.mark.skipif(os.name == "nt", reason="modes and owners are POSIX")


@pytest.fixture
def filled(tmp_path: Path) -> Store:
    """A store with one file, ``name``."""
    store = Store(tmp_path / "above" / "folder", b"state")
    store.write("name", CONTENT)
    return store


def test_a_written_file_is_read(filled: Store) -> None:
    assert filled.has("name")
    assert filled.read("name") == CONTENT
    filled.write("name", b"")
    assert filled.read("name") == b""
    assert not filled.has("other")
    assert filled.read("other") is None
    assert find_obstacle(filled) is None
    assert [path.name for path in filled.folder.iterdir()] == ["name"]


def test_a_damaged_or_foreign_file_is_ignored(filled: Store) -> None:
    path = filled.folder / "name"
    file_bytes = path.read_bytes()
    for position in (*range(len(MAGIC) + 40), len(file_bytes) // 2, len(file_bytes) - 1):
        damaged = bytearray(file_bytes)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        assert filled.read("name") is None

    lengths = 0, 1, len(MAGIC) + 31, len(MAGIC) + 32, -1
    truncated = [file_bytes[:length] for length in lengths]
    for content in (*truncated, file_bytes + b"\0", b"foreign" * 99):
        path.write_bytes(content)
        assert filled.read("name") is None
    filled.write("name", CONTENT)
    assert filled.read("name") == CONTENT


def test_no_file_takes_the_place_of_another(filled: Store) -> None:
    shutil.copy(filled.folder / "name", filled.folder / "other")
    assert filled.read("other") is None
    assert Store(filled.folder, b"another state").read("name") is None


@posix
def test_folders_pipes_and_links_are_ignored(filled: Store, tmp_path: Path) -> None:
    (filled.folder / "folder").mkdir()
    os.mkfifo(filled.folder / "pipe")  # without a writer: to read it would block
    (filled.folder / "name").rename(tmp_path / "name")
    (filled.folder / "name").symlink_to(tmp_path / "name")
    assert [filled.read(name) for name in ("folder", "pipe", "name")] == [None] * 3
    filled.write("name", CONTENT)  # replaces the link
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
    assert "others can write to it" in (find_obstacle(filled) or "")
    filled.folder.chmod(0o700)
    assert filled.read("name") == CONTENT
    assert find_obstacle(filled) is None
    filled.folder.chmod(0o555)  # a folder from which files are only read
    assert filled.read("name") == CONTENT
    filled.folder.chmod(0o700)
    (filled.folder / "name").chmod(mode & 0o666)  # and neither is such a file
    assert filled.read("name") is None


@posix
def test_files_and_folders_of_others_are_not_used(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of root are used."""
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
def test_files_and_folders_are_made_for_the_user_only(tmp_path: Path, umask: int) -> None:
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


def test_nothing_is_cached_if_the_folder_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    store = Store(tmp_path / "file" / "folder", b"state")
    with pytest.raises(NotADirectoryError):
        store.write("name", CONTENT)
    assert store.read("name") is None
    assert str(store.folder) in (find_obstacle(store) or "")


def test_a_disk_that_is_full_while_a_file_is_written(filled: Store) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The signal would end the process. If it is ignored, writing raises an OSError.
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


SCRIPT = """
import sys
from pathlib import Path
from gpusudoku.kernels.kernel_store import Store
store = Store(Path(sys.argv[1]), b"state")
content = bytes(range(256)) * 4000
print("begun", flush=True)
while True:
    store.write("name", content)
"""


def test_a_file_is_complete_while_others_write_it(tmp_path: Path) -> None:
    """Two processes write the same file repeatedly, and are killed."""
    filled = Store(tmp_path / "folder", b"state")
    content = bytes(range(256)) * 4000
    filled.write("name", content)
    command = [sys.executable, "-c", SCRIPT, str(filled.folder)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"begun\n"
        for _ in range(20):
            assert filled.read("name") == content
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    assert filled.read("name") == content
