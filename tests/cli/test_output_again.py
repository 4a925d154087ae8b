"""Output files that are gone on with: cut to a known size, and appended to."""

from __future__ import annotations

import os

import pytest

from gpusudoku.cli.lines import WriteError
from gpusudoku.cli.output import Output
from gpusudoku.errors import InputError


def header():
    return b"header\n"


@pytest.fixture
def begun(tmp_path):
    """A file of a header, one line that counts, and more that does not."""
    path = tmp_path / "out.txt"
    path.write_bytes(b"header\none\ntwo\nhal")
    return path


def test_it_is_cut_and_appended_to(begun):
    with Output(str(begun), False, (), size=11) as out:
        out.write_header(header)
        assert out.size == 11
        out.write(b"two\nthree\n")
        assert out.size == len(b"header\none\ntwo\nthree\n")
    assert begun.read_bytes() == b"header\none\ntwo\nthree\n"


def test_it_is_cut_even_if_nothing_follows(begun):
    with Output(str(begun), False, (), size=11) as out:
        out.write_header(header)
    assert begun.read_bytes() == b"header\none\n"


def test_from_its_very_beginning_it_gets_its_header(begun):
    with Output(str(begun), False, (), size=0) as out:
        out.write_header(header)
        out.write(b"one\n")
    assert begun.read_bytes() == b"header\none\n"


def test_an_error_before_anything_is_written_leaves_all_of_it(begun):
    before = begun.read_bytes()
    out = Output(str(begun), False, (), size=11)
    out.write_header(header)
    out.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert begun.read_bytes() == before


def test_a_file_that_is_opened_stays(tmp_path):
    path = tmp_path / "out.txt"
    out = Output(str(path), False, ())
    out.open()
    out.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    assert path.read_bytes() == b""


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.unlink(), "is not there any more, and cannot be gone on with"),
        (lambda path: path.write_bytes(b"head"), "has 4 bytes, not the 11 that were written"),
        (lambda path: (path.unlink(), path.mkdir()), r"is no file|is a folder"),
        (lambda path: (path.unlink(), os.mkfifo(path)), "is no file, and cannot be gone on with"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="no named pipes in folders")
def test_what_is_not_the_file_any_more(begun, change, message, late):
    """It is looked at before any work is done, and again when it is opened."""
    if not late:
        change(begun)
        with pytest.raises(InputError, match=message):
            Output(str(begun), True, (), size=11)
        return
    out = Output(str(begun), True, (), size=11)
    change(begun)
    with pytest.raises(InputError, match=message):
        out.open()


def test_an_input_is_not_cut(begun):
    with pytest.raises(InputError, match="is read"):
        Output(str(begun), True, [str(begun)], size=0)


def test_sync(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_ino))
    path = tmp_path / "out.txt"
    with Output(str(path), False, ()) as out:
        out.sync()
        assert synced == []
        out.write(b"one\n")
        out.sync()
        out.sync()
    assert synced == [path.stat().st_ino, tmp_path.stat().st_ino, path.stat().st_ino]


def test_a_sync_that_fails(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    path = tmp_path / "out.txt"
    with Output(str(path), False, ()) as out:
        out.write(b"one\n")
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(WriteError, match=r"out\.txt: cannot be written: No space left"):
            out.sync()
    assert path.read_bytes() == b"one\n"
