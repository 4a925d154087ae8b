"""Files that cannot hold a long run, or hold one that was damaged: one line each, and untouched."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gpusudoku.errors import InputError
from gpusudoku.runs.kept import read_run
from gpusudoku.runs.ledger import Ledger
from gpusudoku.runs.rows import row_of, sealed
from tests.runs.fakes import IDENTITY, SETUP, FakePlan

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name == "nt", reason="POSIX")


def refused(path, words, names=None):
    """Both who writes and who reads refuses, in one line that names the file, which stays."""
    before = None if not Path(path).is_file() else Path(path).read_bytes()
    for use in (Ledger, read_run):
        with pytest.raises(InputError) as error:
            use(path)
        said = str(error.value)
        assert said.startswith(f"{path if names is None else names}: ")
        assert "\n" not in said
        assert words in said
    if before is not None:
        assert Path(path).read_bytes() == before
        assert list(Path(path).parent.iterdir()) == [Path(path)]


def changed(path, *statements):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    for statement, values in statements:
        connection.execute(statement, values)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "content", [b"53..7....", b"\0" * 5000, b"SQLite format 3\0" + b"\0" * 5000]
)
def test_no_file_of_sqlite(path, content):
    path.write_bytes(content)
    refused(path, "not made by --checkpoint")


def test_a_file_of_another_program(path):
    changed(path, ("CREATE TABLE facts (name, value)", ()))
    refused(path, "not made by --checkpoint")


def test_a_file_of_another_program_that_it_is_in_the_middle_of(path, tmp_path):
    """It would be repaired by whoever opens it; nobody asked for that."""
    changed(path, ("CREATE TABLE facts (name, value)", ()))
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
    for use in (Ledger, read_run):
        with pytest.raises(InputError, match="not made by --checkpoint"):
            use(path)
    assert before == {each: each.read_bytes() for each in tmp_path.iterdir()}


def test_another_schema(kept):
    changed(kept, ("PRAGMA user_version = 7", ()))
    refused(kept, "made by another version of gpusudoku: schema 7, not 1")


def test_another_journal_mode(kept):
    changed(kept, ("PRAGMA journal_mode = WAL", ()))
    before = kept.read_bytes()
    with pytest.raises(InputError, match="another journal mode"):
        Ledger(kept)
    assert kept.read_bytes() == before


def test_other_tables(kept):
    changed(
        kept,
        ("ALTER TABLE tasks RENAME TO others", ()),
        ("CREATE VIEW tasks AS SELECT * FROM others", ()),
    )
    refused(kept, "its tables are not those of a long run")


def test_truncated_anywhere(kept):
    """Of a file that was cut to nothing it cannot be told what it was."""
    whole = kept.read_bytes()
    assert len(whole) >= 4 * 4096
    for length in {1, 15, 16, 99, 100, 4095, 4096, *range(5000, len(whole), 1777), len(whole) - 1}:
        kept.write_bytes(whole[:length])
        refused(kept, "")
    kept.write_bytes(b"")
    with pytest.raises(InputError, match="empty: no run is kept in it"):
        read_run(kept)


def test_changed_anywhere(kept):
    """One bit of it: refused, or it did not matter."""
    whole, [good, _] = kept.read_bytes(), read_run(kept)
    chance, refusals = random.Random(1), 0
    for _ in range(400):
        at = chance.randrange(len(whole))
        damaged = bytearray(whole)
        damaged[at] ^= 1 << chance.randrange(8)
        kept.write_bytes(damaged)
        try:
            [found, _] = read_run(kept)
        except InputError as error:
            said, refusals = str(error), refusals + 1
        else:
            said = f"{kept}: as it was"
            assert described(found) == described(good)
        assert said.startswith(f"{kept}: ")
        assert "\n" not in said
        assert kept.read_bytes() == damaged
    assert refusals > 100


def described(kept):
    left = {number: row_of(portion) for number, portion in kept.left.items()}
    return kept.identity, kept.setup, kept.state, kept.found, left


PORTION = row_of(FakePlan().part())


@pytest.mark.parametrize(
    "statement",
    [
        ("UPDATE tasks SET count = '1' WHERE first = 0", ()),  # not sealed again
        ("DELETE FROM tasks WHERE first = (SELECT min(first) FROM tasks)", ()),
        ("DELETE FROM portions", ()),
        ("DELETE FROM facts WHERE name = 'setup'", ()),
        ("REPLACE INTO facts VALUES (?, ?, ?)", sealed("setup", "[" * 100_000)),
        ("REPLACE INTO facts VALUES (?, ?, ?)", sealed("setup", '{"kind": 3}')),
        ("REPLACE INTO facts VALUES (?, ?, ?)", sealed("identity", "{}")),
        ("REPLACE INTO facts VALUES (?, ?, ?)", sealed("identity", "null")),
        ("REPLACE INTO facts VALUES (?, ?, ?)", sealed("owner", '{"pid": "x"}')),
        ("REPLACE INTO facts VALUES (?, ?, ?)", sealed("state", "{}")),
        ("REPLACE INTO facts VALUES (?, ?, ?)", sealed("state", "1" * 5000)),
        ("REPLACE INTO tasks VALUES (?, ?, ?, ?)", sealed(0, 50, "1")),
        ("REPLACE INTO tasks VALUES (?, ?, ?, ?)", sealed(1, 1, "1")),
        ("REPLACE INTO tasks VALUES (?, ?, ?, ?)", sealed(0, 1, "-1")),
        ("REPLACE INTO tasks VALUES (?, ?, ?, ?)", sealed(0, 1, "٣")),
        *(
            ("REPLACE INTO portions VALUES (1, ?, ?, ?, ?, ?)", row)
            for row in (
                sealed("[[0, 99]]", 0, b"", b""),
                sealed("[[-1, 4]]", 0, b"", b""),
                sealed("[[3, 3]]", 0, b"", b""),
                sealed("[[0, 4], [3, 6]]", 0, b"", b""),
                sealed('[["0", 4]]', 0, b"", b""),
                sealed("{", 0, b"", b""),
                sealed("[]", 3, b"\0" * 24, b""),
                sealed("[]", 3, b"\0" * 16, b"\0" * 8),
                sealed("[]", 0, b"", b"\0" * 8),
                sealed("[]", -1, b"", b""),
                sealed("[[0, 1]]", 1, b"\0" * 8, b"\0" * 8),
                sealed("[]", 1, b"\0" * 8, b"\xff" * 8),
                sealed("[]", 1, "12345678", b"\0" * 8),
                (b"\xff", *PORTION[1:]),
            )
        ),
    ],
    ids=range(29),
)
def test_rows_that_no_run_has(kept, statement):
    changed(kept, statement)
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
    with pytest.raises(InputError, match=r"missing/x: there is no folder .*/missing$"):
        Ledger(tmp_path / "missing" / "x")
    with pytest.raises(InputError, match=r"x: no such file$"):
        read_run(tmp_path / "x")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "loop", "pipe"]


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
def test_read_only(for_all, what):
    """Refused when it is opened, and may be read; also where the superuser runs the tests."""
    code = f"""
import os
from gpusudoku.errors import InputError
from gpusudoku.runs.kept import read_run
from gpusudoku.runs.ledger import Ledger
if os.getuid() == 0: os.setuid(65534)
for path in ({str(for_all)!r}, {str(for_all.parent / "new")!r}):
    try:
        with Ledger(path): print("open")
    except InputError as error: print(error)
print(read_run({str(for_all)!r})[0].state.count > 0)
"""
    before = for_all.read_bytes()
    for_all.chmod(0o444 if what == "file" else 0o666)
    for_all.parent.chmod(0o555 if what == "folder" else 0o777)
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""
    words = "its folder is read-only" if what == "folder" else "it is read-only"
    first, second, last = done.stdout.splitlines()
    assert first == f"{for_all}: cannot be written: {words}"
    new = for_all.parent / "new"
    assert second == (f"{new}: cannot be written: {words}" if what == "folder" else "open")
    assert last == "True"
    assert for_all.read_bytes() == before
    assert list(for_all.parent.iterdir()) == [for_all]


def test_no_file_is_left_of_a_run_that_never_began(path):
    with Ledger(path):
        assert path.exists()
    assert not path.exists()
    path.write_text("")
    with Ledger(path) as ledger:  # as mktemp makes them
        ledger.begin(IDENTITY, SETUP, FakePlan().part())
    assert read_run(path)[0].identity == IDENTITY
