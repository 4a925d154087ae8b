"""Counts that are kept in a file, stop at any moment, and go on."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from itertools import cycle
from pathlib import Path
from threading import Timer

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Cancelled, CancelToken, InputError, Interrupted, SaveError
from gpusudoku.runs import database
from tests.boards import LINE_4X4, puzzle
from tests.runs.stopped import BOARD, SEARCH, TOTAL, stopped

GENERAL = puzzle("2x3", 6, 1)
"""One of another shape, which is contracted in another way."""


@pytest.mark.parametrize("method", ["search", "contraction"])
def test_a_count_is_that_without_a_file_and_stays_there(path, method):
    result = gpusudoku.count(BOARD, checkpoint=path, method=method, device="cpu")
    assert (result.count, result.exact, result.method) == (TOTAL, True, method)
    assert result == gpusudoku.count(BOARD, method=method, device="cpu")
    before, planned = path.read_bytes(), []
    again = gpusudoku.count(BOARD, checkpoint=str(path), method=method, planned=planned.append)
    assert (again.count, again.exact) == (TOTAL, True)
    assert gpusudoku.resume(path).count == TOTAL
    assert planned == []
    assert path.read_bytes() == before


@pytest.mark.parametrize("board", ["11" + "." * 14, "1234341221434321", "." * 16])
def test_boards_without_much_to_do(path, board):
    expected = gpusudoku.count(board, device="cpu").count
    for _ in range(2):
        assert gpusudoku.count(board, checkpoint=path, **SEARCH).count == expected


@pytest.mark.usefixtures("often")
def test_a_search_goes_on_wherever_it_stops(path):
    """With other threads each time: it never has less than before, and in the end all."""
    found, seconds, threads, words = [0], [0.0], cycle((2, 1, 3)), []
    while True:
        token = CancelToken()

        def stop(progress, token=token):
            seconds.append(progress.seconds)
            if progress.count > found[-1]:
                token.cancel()

        try:
            options = {"jobs": next(threads), "cancel": token, "progress": stop}
            if len(found) == 1:
                result = gpusudoku.count(BOARD, checkpoint=path, **SEARCH, **options)
            else:
                result = gpusudoku.resume(path, **options)
            break
        except Cancelled as error:
            found.append(error.count)
            words.append(str(error))
    assert len(found) > 3
    for count, text in zip(found[1:], words, strict=True):
        goes_on = f"; 'gpusudoku resume {path}' goes on"
        assert text == f"cancelled: at least {count} solutions{goes_on}"
    assert found == sorted(found)
    assert seconds == sorted(seconds)
    assert result.count == TOTAL


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("board", [BOARD, GENERAL], ids=["9x9", "6x6"])
def test_a_contraction_goes_on(path, board):
    """It stops before the first save, at any time after, or not at all."""
    expected = gpusudoku.count(board, **SEARCH).count
    counts = []
    for progresses in (0, 1, 2, 4):
        token, told = CancelToken(), []

        def stop(progress, token=token, told=told, progresses=progresses):
            told.append(progress)
            if len(told) > progresses:
                token.cancel()

        try:
            gpusudoku.count(
                board, checkpoint=path, method="contraction", device="cpu", jobs=1, cancel=token,
                progress=stop, planned=lambda _, token=token, at=progresses: at or token.cancel(),
            )  # fmt: skip
        except Cancelled as error:
            counts.append(error.count)
    assert max([0, *counts]) <= expected
    assert gpusudoku.resume(path).count == expected


@pytest.mark.usefixtures("often")
def test_ctrl_c_saves_first(path, run):
    def interrupt(progress):
        if progress.count:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match=f"^interrupted.*'gpusudoku resume {path}' goes on$") as e:
        gpusudoku.count(BOARD, checkpoint=path, progress=interrupt, **SEARCH)
    assert not isinstance(e.value, Cancelled)
    assert 0 < e.value.count < TOTAL
    assert f'"count": "{e.value.count}"' in run("status", path, "--json")[1]
    assert gpusudoku.count(BOARD, checkpoint=path, **SEARCH).count == TOTAL


def test_python_and_the_command_go_on_with_each_others_counts(kept, tmp_path, run):
    assert run("resume", kept, "-q") == (0, f"{TOTAL}\n", "")
    other = tmp_path / "other.run"
    command = ("count", BOARD, "-q", "--method", "search", "--checkpoint", other)
    assert run(*command) == (0, f"{TOTAL}\n", "")
    assert gpusudoku.resume(other).count == TOTAL
    assert gpusudoku.count(BOARD, checkpoint=other, **SEARCH).count == TOTAL


def test_options_of_numpy_are_kept_as_integers(path, often):
    stopped(path, jobs=np.int64(1), memory=np.int64(1 << 30))
    assert gpusudoku.resume(path, jobs=np.int64(2)).count == TOTAL


def test_the_gpus_that_a_count_had_are_forgotten_on_another_device(path, without_cuda):
    with pytest.raises(gpusudoku.DeviceError):
        gpusudoku.count(BOARD, checkpoint=path, method="search", gpus=(0, 1))
    assert not path.exists()
    token = CancelToken()
    with pytest.raises(Cancelled):
        gpusudoku.count(
            BOARD, checkpoint=path, cancel=token, planned=lambda _: token.cancel(), **SEARCH
        )
    with pytest.raises(gpusudoku.DeviceError):
        gpusudoku.resume(path, device="cuda", gpus=(0, 1))
    assert gpusudoku.resume(path).count == TOTAL


def test_a_token_that_is_cancelled_before_makes_no_file(path):
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        gpusudoku.count(BOARD, checkpoint=path, cancel=token)
    assert not path.exists()


OTHERS = [
    ("another board", BOARD.cells * 0, {}),
    ("box 3x3, not 2x3", puzzle("2x3", 8, 1), {}),
    ("method search, not contraction", BOARD, {"method": "contraction"}),
    ("cutoff none, not 100", BOARD, {"cutoff": 100}),
    ("strategy min, not first", BOARD, {"strategy": "first"}),
    ("propagate naked-single,hidden-single, not none", BOARD, {"propagate": "none"}),
]


def test_another_count_is_refused_and_the_file_stays(kept):
    before = kept.read_bytes()
    for words, board, options in OTHERS:
        with pytest.raises(InputError) as error:
            gpusudoku.count(board, checkpoint=kept, **{**SEARCH, **options})
        assert str(error.value).startswith(f"{kept}: holds another run: {words}")
    for words, options in {
        "limit 3: a count in tasks is of all solutions": {"limit": 3},
        "engine 3: expected one that make_engine gives": {"engine": 3},
    }.items():
        with pytest.raises(InputError, match=words):
            gpusudoku.count(BOARD, checkpoint=kept, **options)
    assert kept.read_bytes() == before
    assert list(kept.parent.iterdir()) == [kept]


def test_another_version_is_refused(kept):
    """Every part of the program looks at the version when it is loaded."""
    before = kept.read_bytes()
    code = "import sys, gpusudoku; gpusudoku.__version__ = '0.1'; gpusudoku.resume(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, kept], capture_output=True, text=True, check=False
    )
    assert f"{kept}: holds another run: version {gpusudoku.__version__}, not 0.1" in done.stderr
    assert kept.read_bytes() == before


def test_what_cannot_be_resumed(tmp_path, run):
    command, part = tmp_path / "command.run", tmp_path / "part.run"
    assert run("enumerate", LINE_4X4, "-q", "-o", tmp_path / "x", "--checkpoint", command)[0] == 0
    assert run("count", LINE_4X4, "--part", "1/2", "--checkpoint", part)[0] == 0
    for file, words in {
        tmp_path / "missing": "no such file",
        command: f"keeps a command: 'gpusudoku resume {command}' goes on with it",
        part: f"a part of a count: 'gpusudoku resume {part}' goes on with it",
    }.items():
        with pytest.raises(InputError) as error:
            gpusudoku.resume(file)
        assert str(error.value) == f"{file}: {words}"


@pytest.mark.usefixtures("often")
def test_while_a_count_goes_on_nobody_else_may_and_all_may_look(path, run):
    told = []

    def look(progress):
        if told or not progress.count:
            return
        for other in (gpusudoku.resume, lambda path: gpusudoku.count(BOARD, checkpoint=path)):
            with pytest.raises(InputError, match=rf"run.sqlite: process {os.getpid()} on \S+ work"):
                other(path)
        told.append(run("status", path))

    assert gpusudoku.count(BOARD, checkpoint=path, progress=look, **SEARCH).count == TOTAL
    [(status, out, err)] = told
    assert (status, err) == (0, "")
    assert f"process {os.getpid()} on " in out
    assert "works at it since" in out


@pytest.mark.usefixtures("often")
def test_a_save_waits_for_a_reader_who_sleeps(path, monkeypatch):
    """Longer than SQLite would wait by itself; nothing is lost."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    readers = []

    def read(progress):
        if not readers and progress.count:
            readers.append(sqlite3.connect(path, isolation_level=None, check_same_thread=False))
            readers[0].execute("BEGIN")
            readers[0].execute("SELECT * FROM sqlite_master").fetchall()
            Timer(0.3, readers[0].close).start()

    assert gpusudoku.count(BOARD, checkpoint=path, progress=read, **SEARCH).count == TOTAL
    assert readers
    assert gpusudoku.resume(path).count == TOTAL


@pytest.mark.usefixtures("often")
def test_a_full_disk_stops_a_count_which_goes_on_when_there_is_room(path, monkeypatch, run):
    """The file may have no page more than when it was begun."""
    begun, connect = CancelToken(), sqlite3.connect
    with pytest.raises(Cancelled):
        gpusudoku.count(
            BOARD, checkpoint=path, cancel=begun, planned=lambda _: begun.cancel(), **SEARCH
        )

    def limited(*arguments, **settings):
        connection = connect(*arguments, **settings)
        connection.execute("PRAGMA max_page_count = 1")  # it is never less than there are
        return connection

    full = f"{path}: cannot be saved: the disk is full; it has all up to the save before"
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", limited)
        with pytest.raises(SaveError) as error:
            gpusudoku.count(BOARD, checkpoint=path, **SEARCH)
        assert str(error.value) == full
        assert run("resume", path, "-q") == (1, "", f"gpusudoku: {full}\n")
    assert gpusudoku.resume(path).count == TOTAL


@pytest.mark.skipif(os.name == "nt", reason="POSIX")
def test_a_file_that_may_not_be_written_any_more(kept, run):
    """As at a quota, for real: nothing is written, and what was saved stays."""
    import resource

    before, [soft, hard] = kept.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, hard))
    try:
        with pytest.raises(InputError, match="cannot be saved: reading or writing failed"):
            gpusudoku.resume(kept)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert kept.read_bytes() == before
    assert gpusudoku.resume(kept).count == TOTAL


@pytest.mark.usefixtures("often")
def test_the_clock_may_be_set_back(path, monkeypatch, run):
    clock = iter(range(10**9, 0, -1000))
    monkeypatch.setattr("time.time", lambda: float(next(clock)))
    stopped(path)
    assert gpusudoku.resume(path).count == TOTAL
    assert "finished at" in run("status", path)[1]


def test_files_may_be_moved_and_named_in_every_way(kept, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    kept.rename(tmp_path / "other" / "renamed")
    monkeypatch.chdir(tmp_path)
    assert gpusudoku.resume(Path("other/renamed")).count == TOTAL
