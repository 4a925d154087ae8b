"""Files that cannot hold a long run, or hold one that was damaged: one line each, and untouched."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import tempfile
from pathlib import Path

import pytest

import gpusudoku
from gpusudoku import InputError
from tests.runs.stopped import BOARD, SEARCH, TOTAL

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX")


def count(path):
    return gpusudoku.count(BOARD, checkpoint=path, **SEARCH)


def refused(path, words, names=None, uses=(count, gpusudoku.resume)):
    """Those who write and those who read refuse, in one line that names the file, which stays."""
    before = Path(path).read_bytes() if isinstance(path, Path) and path.is_file() else None
    for use in uses:
        with pytest.raises(InputError) as error:
            use(path)
        said = str(error.value)
        assert said.startswith(f"{path if names is None else names}: ")
        assert "\n" not in said
        assert words in said
    if before is not None:
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]


def changed(path, *statements):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_files_of_other_programs(path):
    for content in (b"53..7....", b"\0" * 5000, b"SQLite format 3\0" + b"\0" * 5000):
        path.write_bytes(content)
        refused(path, "not made by --checkpoint")
    path.unlink()
    changed(path, "CREATE TABLE facts (name, value)")
    refused(path, "not made by --checkpoint")


def test_another_schema_and_other_facts(unfinished):
    whole = unfinished.read_bytes()
    changed(unfinished, "PRAGMA user_version = 1")
    refused(unfinished, "made by another version of gpusudoku: schema 1, not 3")
    unfinished.write_bytes(whole)
    changed(unfinished, "UPDATE facts SET value = value || ' ' WHERE name = 'setup'")
    refused(unfinished, "damaged: it was changed")
    unfinished.write_bytes(whole)
    changed(unfinished, "ALTER TABLE facts RENAME TO others")
    refused(unfinished, "damaged: no such table: facts")
    unfinished.write_bytes(whole)
    changed(unfinished, "PRAGMA journal_mode = WAL")
    refused(unfinished, "another program has set another journal mode", uses=[count])


def test_truncated_anywhere(unfinished):
    whole = unfinished.read_bytes()
    last = len(whole) - 4096  # of the last page the end may be unused
    for length in {1, 15, 16, 99, 100, 4095, 4096, *range(5000, last, 3777), last}:
        unfinished.write_bytes(whole[:length])
        refused(unfinished, "")


@pytest.fixture
def facts(unfinished, run):
    """What is in the file as all may read it; None if it is refused, in one line."""

    def read():
        before = unfinished.read_bytes()
        status, out, err = run("status", unfinished, "--json")
        assert unfinished.read_bytes() == before
        if status == 0:
            return json.loads(out)
        assert (status, out) == (2, "")
        assert err.startswith(f"gpusudoku: {unfinished}: ")
        assert err.count("\n") == 1
        return None

    return read


def test_one_bit_changed_anywhere(unfinished, facts):
    """It is refused, or it did not matter."""
    whole = unfinished.read_bytes()
    good = facts()
    chance = random.Random(1)
    refusals = 0
    for turn in range(200):
        at = chance.randrange(len(whole))
        damaged = bytearray(whole)
        damaged[at] ^= 1 << chance.randrange(8)
        unfinished.write_bytes(damaged)
        found = facts()
        assert found in (None, good)
        refusals += found is None
        if found is not None and turn % 50 == 0:
            assert gpusudoku.resume(unfinished).count == TOTAL
    assert refusals > 50


@pytest.mark.parametrize("rows", ["facts", "facts WHERE name = 'state'", "portions"])
def test_rows_that_are_missing(unfinished, rows):
    changed(unfinished, f"DELETE FROM {rows}")
    refused(unfinished, "damaged: ")


@posix
def test_no_ordinary_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("")
    for path, words in {
        str(tmp_path): "is a folder",
        "/dev/null": "is not a regular file",
        str(tmp_path / "pipe"): "is not a regular file",
        str(tmp_path / "loop"): "cannot be opened: Too many levels of symbolic links",
        str(tmp_path / "file" / "x"): "cannot be opened: Not a directory",
    }.items():
        refused(path, words)
    refused("a\0b", "null byte", names=r"'a\x00b'")
    refused(7, "expected the name of a file")
    refused(tmp_path / "missing" / "x", f"there is no folder {tmp_path}/missing", uses=[count])
    refused(tmp_path / "x", "no such file", uses=[gpusudoku.resume])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "loop", "pipe"]


def test_an_empty_file_is_as_good_as_none(path):
    """As mktemp makes them."""
    path.write_text("")
    refused(path, "is an empty file, not a run", uses=[gpusudoku.resume])
    assert count(path).count == TOTAL


@pytest.fixture
def for_all(unfinished):
    """The file in a folder that every user may look into, as those of pytest are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        inner = Path(folder) / "inner"
        inner.mkdir()
        yield Path(shutil.copy(unfinished, inner))
        inner.chmod(0o755)


@posix
@pytest.mark.parametrize("what", ["file", "folder"])
def test_read_only(for_all, run, what):
    """Who may not write may look; also where the superuser runs the tests."""
    for_all.chmod(0o444 if what == "file" else 0o666)
    for_all.parent.chmod(0o555 if what == "folder" else 0o777)
    words = "its folder is read-only" if what == "folder" else "it is read-only"
    user = os.geteuid()
    if user == 0:
        os.setresuid(65534, 65534, 0)
    try:
        refused(for_all, f"cannot be written: {words}")
        if what == "folder":
            refused(for_all.with_name("new"), f"cannot be written: {words}", uses=[count])
        status, out, _ = run("status", for_all)
    finally:
        if user == 0:
            os.setresuid(0, 0, 0)
    assert status == 0
    assert "solutions: at least " in out
