"""Kept files: what is no good is no file, and what cannot be kept does no harm."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpusudoku.kernels import store
from gpusudoku.kernels.store import MAGIC, PARTIAL, Store

CONTENT = bytes(range(256)) * 10
posix = pytest.mark.skipif(os.name == "nt", reason="modes and owners are POSIX")


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    """A store with one file, ``name``."""
    store = Store(tmp_path / "above" / "folder", b"state")
    assert store.write("name", CONTENT)
    return store


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


@pytest.mark.parametrize("length", [0, 1, len(MAGIC), len(MAGIC) + 31, len(MAGIC) + 32, -1])
def test_a_truncated_file_is_none(kept: Store, length: int) -> None:
    path = kept.folder / "name"
    path.write_bytes(path.read_bytes()[:length])
    assert kept.read("name") is None
    assert kept.write("name", CONTENT)
    assert kept.read("name") == CONTENT


def test_longer_and_foreign_files_are_none(kept: Store) -> None:
    path = kept.folder / "name"
    path.write_bytes(path.read_bytes() + b"\0")
    assert kept.read("name") is None
    path.write_bytes(os.urandom(1000))
    assert kept.read("name") is None


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
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used(kept: Store, mode: int) -> None:
    kept.folder.chmod(mode)
    assert kept.read("name") is None
    assert not kept.write("name", CONTENT)
    assert "others can write to it" in (kept.trouble or "")
    kept.folder.chmod(0o700)
    assert kept.read("name") == CONTENT


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write_to_is_none(kept: Store, mode: int) -> None:
    (kept.folder / "name").chmod(mode)
    assert kept.read("name") is None


@posix
def test_what_belongs_to_others_is_not_used(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_trusted_owners", lambda: {os.geteuid() + 1})
    assert kept.read("name") is None
    assert not kept.write("other", CONTENT)
    assert "belongs to others" in (kept.trouble or "")
    owners = iter([{os.geteuid()}, set()])  # the folder is ours, the file is not
    monkeypatch.setattr(store, "_trusted_owners", lambda: next(owners))
    assert kept.read("name") is None


@posix
def test_root_is_trusted() -> None:
    assert store._trusted_owners() == {0, os.geteuid()}


@posix
@pytest.mark.parametrize("umask", [0, 0o022, 0o077, 0o277, 0o777])
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


@pytest.fixture(params=["open", "replace"])
def full(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A disk without room: for another file, or for a longer folder."""

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        if request.param == "open":
            patch.setattr(store, "_new", fail)
        else:
            patch.setattr(os, "replace", fail)
        yield


@pytest.mark.usefixtures("full")
def test_a_full_disk_keeps_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path, b"state")
    assert not store.write("name", CONTENT)
    assert (store.trouble or "").endswith(os.strerror(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_in_the_middle_of_a_file(
    kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was kept before stays."""
    resource = pytest.importorskip("resource")
    import signal

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


def test_a_kill_before_the_renaming_leaves_what_was_there(
    kept: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def kill(*_: Any, **__: Any) -> None:
        raise Killed

    monkeypatch.setattr(os, "replace", kill)
    monkeypatch.setattr(os, "unlink", kill)  # who is killed does not clean up
    with pytest.raises(Killed):
        kept.write("name", b"other")
    monkeypatch.undo()
    assert kept.read("name") == CONTENT
    assert len(list(kept.folder.iterdir())) == 2
    assert kept.write("name", b"other")
    assert kept.read("name") == b"other"


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="folders cannot be opened here")
def test_what_is_written_stays_in_the_folder_that_was_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever can rename folders above it cannot have files written elsewhere."""
    made, moved, elsewhere = (tmp_path / name for name in ("made", "moved", "elsewhere"))
    elsewhere.mkdir()
    check = Store._check

    def swap(self: Store, status: os.stat_result) -> None:
        check(self, status)
        if not moved.exists():
            made.rename(moved)
            made.symlink_to(elsewhere)

    assert Store(made, b"state").write("first", CONTENT)
    monkeypatch.setattr(Store, "_check", swap)
    Store(made, b"state").write("second", CONTENT)
    assert list(elsewhere.iterdir()) == []


def test_trouble_ends_once_files_can_be_kept(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    store = Store(folder, b"state")
    assert (store.writable(), bool(store.trouble)) == (False, True)
    folder.chmod(0o700)
    assert (store.writable(), store.trouble) == (True, None)


def test_what_the_killed_left_goes_after_a_while(kept: Store) -> None:
    old, new = (kept.folder / f"{name}{PARTIAL}" for name in ("old", "new"))
    for path in old, new:
        path.write_bytes(b"half a fi")
    long_ago = time.time() - 2 * store.PARTIAL_SECONDS
    os.utime(old, (long_ago, long_ago))
    assert kept.write("other", CONTENT)
    assert not old.exists()
    assert new.exists()  # somebody may still be at it


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
    for round_ in range(2):
        command = [sys.executable, "-c", WRITES, str(kept.folder)]
        writers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
        try:
            for writer in writers:
                assert writer.stdout is not None
                assert writer.stdout.readline() == b"begun\n"
            end = time.monotonic() + 300
            while not kept.has("name") and time.monotonic() < end:
                time.sleep(0.01)
            for _ in range(20 + round_):
                assert kept.read("name") == whole
        finally:
            for writer in writers:
                writer.kill()
                writer.communicate()
        assert kept.read("name") == whole
