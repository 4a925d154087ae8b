"""Files that cannot hold a long run, or hold one that was damaged: one line each, and untouched."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import gpusudoku
from gpusudoku import InputError
from gpusudoku.runs.rows import sealed
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


@pytest.mark.parametrize(
    "content", [b"53..7....", b"\0" * 5000, b"SQLite format 3\0" + b"\0" * 5000]
)
def test_no_file_of_sqlite(path, content):
    path.write_bytes(content)
    refused(path, "not made by --checkpoint")


def test_a_file_of_another_program(path):
    changed(path, "CREATE TABLE facts (name, value)")
    refused(path, "not made by --checkpoint")


def test_a_file_in_the_middle_of_a_commit_of_another_program(path, tmp_path):
    """It would be repaired by whatever opens it; nobody asked for that."""
    changed(path, "CREATE TABLE facts (name, value)")
    code = f"""
import sqlite3, os
connection = sqlite3.connect({str(path)!r}, isolation_level=None)
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN")
for at in range(2000):
    connection.execute("INSERT INTO facts VALUES (?, ?)", (at, "x" * 100))
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    before = {each: each.read_bytes() for each in tmp_path.iterdir()}
    assert len(before) == 2
    for use in (count, gpusudoku.resume):
        with pytest.raises(InputError, match="not made by --checkpoint"):
            use(path)
    assert before == {each: each.read_bytes() for each in tmp_path.iterdir()}


def test_another_schema_and_other_tables(kept):
    whole = kept.read_bytes()
    changed(kept, "PRAGMA user_version = 7")
    refused(kept, "made by another version of gpusudoku: schema 7, not 1")
    kept.write_bytes(whole)
    changed(
        kept,
        "ALTER TABLE tasks RENAME TO others",
        "CREATE VIEW tasks AS SELECT * FROM others",
    )
    refused(kept, "damaged: its tables are not those of a long run")
    kept.write_bytes(whole)
    changed(kept, "PRAGMA journal_mode = WAL")
    refused(kept, "another program has set another journal mode", uses=[count])


def test_truncated_anywhere(kept):
    """Of a file that was cut to nothing it cannot be told what it was."""
    whole = kept.read_bytes()
    assert len(whole) >= 4 * 4096
    for length in {1, 15, 16, 99, 100, 4095, 4096, *range(5000, len(whole), 3777), len(whole) - 1}:
        kept.write_bytes(whole[:length])
        refused(kept, "")
    kept.write_bytes(b"")
    refused(kept, "empty: no run is kept in it", uses=[gpusudoku.resume])


@pytest.fixture
def facts(kept, run):
    """What is in the file as all may read it; None if it is refused, in one line."""

    def read():
        before = kept.read_bytes()
        status, out, err = run("status", kept, "--json")
        assert kept.read_bytes() == before
        if status == 0:
            return json.loads(out)
        assert (status, out) == (2, "")
        assert err.startswith(f"gpusudoku: {kept}: ")
        assert err.count("\n") == 1
        return None

    return read


def test_one_bit_changed_anywhere(kept, facts):
    """It is refused, or it did not matter."""
    whole, good = kept.read_bytes(), facts()
    chance, refusals, accepted = random.Random(1), 0, []
    for _ in range(200):
        at = chance.randrange(len(whole))
        damaged = bytearray(whole)
        damaged[at] ^= 1 << chance.randrange(8)
        kept.write_bytes(damaged)
        found = facts()
        assert found in (None, good)
        refusals += found is None
        if found is not None:
            accepted.append(damaged)
    assert refusals > 50
    for damaged in chance.sample(accepted, 2):
        kept.write_bytes(damaged)
        assert gpusudoku.resume(kept).count == TOTAL


VALUES = [
    *(None, -1, 0, 99, 1 << 62, 1.5, b"", b"\0" * 8, b"\xff" * 8, b"\0" * 24),
    *("", "x", "{", "{}", "null", "[]", "-1", "1", "٣", "1" * 5000, "[" * 100_000),
    *("[[0, 999]]", "[[-1, 4]]", "[[3, 3]]", "[[0, 4], [3, 6]]", '[["0", 4]]'),
    *('{"kind": 3}', '{"kind": "count"}', '{"pid": "x"}'),
]


def places(path):
    """The first row of every table, and all rows that have names, each with its columns."""
    with sqlite3.connect(path) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master") if name]
        for table in tables:
            if table.startswith("sqlite_"):
                continue
            rows = connection.execute(f"SELECT * FROM {table}")
            columns = [each[0] for each in rows.description]
            for row in rows.fetchall()[: 99 if columns[0] == "name" else 1]:
                yield table, columns, row
    connection.close()


def put(path, table, columns, row, values):
    """Put another row in the place of one, sealed as ours are; whether SQLite takes it."""
    keyed = columns[0] == "id"  # which is not sealed
    values = [*values[:keyed], *sealed(*values[keyed:])]
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    try:
        connection.execute(f"DELETE FROM {table} WHERE {columns[0]} = ?", row[:1])
        marks = ", ".join("?" * len(values))
        connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)
        connection.commit()
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return True


def test_rows_of_somebody_who_knows_the_seal(kept, facts):
    """Any value anywhere is refused, at the latest by ``resume``, or makes a run like another."""
    whole, good, refusals, accepted = kept.read_bytes(), facts(), 0, 0
    for table, columns, row in places(kept):
        for at in range(len(columns) - 1):
            for value in VALUES:
                kept.write_bytes(whole)
                if not put(kept, table, columns, row, [*row[:at], value, *row[at + 1 : -1]]):
                    continue
                found = facts()
                if found is None:
                    refusals += 1
                    continue
                accepted += 1
                assert (found["count"], found["finished"]) == (good["count"], good["finished"])
                try:
                    assert gpusudoku.resume(kept).exact
                except InputError as error:
                    assert str(error).startswith(f"{kept}: ")  # noqa: PT017
    assert refusals > 100
    assert 0 < accepted < 30


SETUPS = [
    {"kind": "count", "options": 3},
    {"kind": "count", "options": {"gpus": 3}},
    {"kind": "count", "options": {"gpus": None, "jobs": "x"}},
    {"kind": "count", "options": {"gpus": None, "other": 1}},
    {"kind": "count", "options": {"gpus": None}, "verify": 2},
    {"kind": "count", "options": {"gpus": None}, "verify": []},
    {"kind": "count", "options": {"gpus": None}, "part": 3},
]


def test_what_no_count_was_asked_for(kept):
    whole = kept.read_bytes()
    [place] = [each for each in places(kept) if each[2][0] == "setup"]
    for setup in SETUPS:
        kept.write_bytes(whole)
        assert put(kept, *place, ["setup", json.dumps(setup)])
        with pytest.raises(InputError, match=f"^{kept}: (damaged: it does not tell|jobs 'x')"):
            gpusudoku.resume(kept)


@pytest.mark.parametrize("table", ["facts", "tasks", "portions"])
def test_rows_that_are_missing(kept, table):
    changed(kept, f"DELETE FROM {table} WHERE rowid IN (SELECT rowid FROM {table} LIMIT 1)"
            if table == "portions" else f"DELETE FROM {table}")  # fmt: skip
    refused(kept, "damaged: ")


@posix
def test_no_ordinary_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("")
    for path, words in {
        str(tmp_path): "is a folder",
        "/dev/null": "is no ordinary file",
        str(tmp_path / "pipe"): "is no ordinary file",
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
    assert count(path).count == TOTAL
    assert gpusudoku.resume(path).count == TOTAL


@pytest.fixture
def for_all(kept):
    """The file in a folder that every user may look into, as those of pytest are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        inner = Path(folder) / "inner"
        inner.mkdir()
        yield Path(shutil.copy(kept, inner))
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
