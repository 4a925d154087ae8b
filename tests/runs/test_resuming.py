"""Counts that are kept in a file, stop at any moment, and go on."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Cancelled, CancelToken, InputError, Interrupted, SaveError, collection
from tests.boards import LINE_4X4, puzzle
from tests.runs.stopped import BOARD, SEARCH, TOTAL, count_partly

LONG = collection.load("b8")
"""One whose search takes seconds, and leaves many boards."""
GENERAL = puzzle("2x3", 6, 1)
"""One of another shape, which is contracted in another way."""


def stopped_before_the_first_task(path, board=BOARD):
    token = CancelToken()
    options = {"cancel": token, "planned": lambda _: token.cancel(), **SEARCH}
    with pytest.raises(Cancelled):
        gpusudoku.count(board, checkpoint=path, **options)


def stopped_later(path):
    """Go on with a count until something is found; how much."""
    token = CancelToken()
    with pytest.raises(Cancelled) as error:
        gpusudoku.resume(path, cancel=token, progress=lambda it: it.count and token.cancel())
    return error.value.count


@pytest.mark.parametrize("method", ["search", "contraction"])
def test_a_count_is_that_without_a_file_and_stays_there(path, method):
    result = gpusudoku.count(BOARD, checkpoint=path, method=method, device="cpu")
    assert (result.count, result.exact, result.method) == (TOTAL, True, method)
    assert result == gpusudoku.count(BOARD, method=method, device="cpu")
    before = path.read_bytes()
    planned = []
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


@pytest.mark.usefixtures("frequent_saves")
def test_a_search_goes_on_wherever_it_stops(path):
    """With other threads each time: it never has less than before, and in the end all."""
    found = [0]
    seconds = [0.0]
    threads = cycle((2, 1, 3))
    while True:
        token = CancelToken()

        def stop(progress, token=token):
            seconds.append(progress.seconds)
            if progress.count > found[-1]:
                token.cancel()

        options = {"jobs": next(threads), "cancel": token, "progress": stop}
        try:
            if len(found) == 1:
                result = gpusudoku.count(BOARD, checkpoint=path, **SEARCH, **options)
            else:
                result = gpusudoku.resume(path, **options)
            break
        except Cancelled as error:
            found.append(error.count)
            goes_on = f"; 'gpusudoku resume {path}' continues the run"
            assert str(error) == f"cancelled: at least {error.count} solutions{goes_on}"  # noqa: PT017
    assert len(found) > 1  # three or more, but on a busy machine
    assert found == sorted(found)
    assert seconds == sorted(seconds)
    assert result.count == TOTAL


@pytest.mark.usefixtures("frequent_saves")
@pytest.mark.parametrize("board", [BOARD, GENERAL], ids=["9x9", "6x6"])
def test_a_contraction_goes_on(path, board):
    """It stops before the first save, at any time after, or not at all."""
    expected = gpusudoku.count(board, **SEARCH).count
    options = {"method": "contraction", "device": "cpu", "jobs": 1}
    for progresses in (0, 1, 2, 4):
        token = CancelToken()
        left = iter(range(progresses))

        def stop(_, token=token, left=left):
            if next(left, None) is None:
                token.cancel()

        try:
            gpusudoku.count(
                board, checkpoint=path, cancel=token, progress=stop,
                planned=lambda _, stop=stop, at=progresses: at or stop(_), **options,
            )  # fmt: skip
        except Cancelled as error:
            assert error.count <= expected  # noqa: PT017
    assert gpusudoku.resume(path).count == expected


@pytest.mark.usefixtures("frequent_saves")
def test_ctrl_c_saves_first(path, run):
    def interrupt(progress):
        if progress.count:
            raise KeyboardInterrupt

    with pytest.raises(
        Interrupted, match=f"^interrupted.*'gpusudoku resume {path}' continues the run$"
    ) as e:
        gpusudoku.count(BOARD, checkpoint=path, progress=interrupt, **SEARCH)
    assert not isinstance(e.value, Cancelled)
    assert e.value.count > 0
    assert f'"count": "{e.value.count}"' in run("status", path, "--json")[1]
    assert gpusudoku.count(BOARD, checkpoint=path, **SEARCH).count == TOTAL


def test_python_and_the_command_go_on_with_each_others_counts(unfinished, tmp_path, run):
    assert run("resume", unfinished, "-q") == (0, f"{TOTAL}\n", "")
    other = tmp_path / "other.run"
    command = ("count", BOARD, "-q", "--method", "search", "--checkpoint", other)
    assert run(*command) == (0, f"{TOTAL}\n", "")
    assert gpusudoku.resume(other).count == TOTAL
    assert gpusudoku.count(BOARD, checkpoint=other, **SEARCH).count == TOTAL


def test_options_of_numpy_are_kept_as_integers(path, frequent_saves):
    count_partly(path, jobs=np.int64(1), memory=np.int64(1 << 30))
    assert gpusudoku.resume(path, jobs=np.int64(2)).count == TOTAL


def test_the_gpus_that_a_count_had_are_forgotten_on_another_device(path, without_cuda):
    with pytest.raises(gpusudoku.DeviceError):
        gpusudoku.count(BOARD, checkpoint=path, method="search", gpus=(0, 1))
    assert not path.exists()
    stopped_before_the_first_task(path)
    with pytest.raises(gpusudoku.DeviceError):
        gpusudoku.resume(path, device="cuda", gpus=(0, 1))
    assert gpusudoku.resume(path).count == TOTAL


def test_another_count_is_refused_and_the_file_stays(unfinished):
    before = unfinished.read_bytes()
    another = f"^{unfinished}: holds another run: "
    for words, options in {
        f"{another}another board": {"board": BOARD.cells * 0},
        f"{another}box 3x3, not 2x3": {"board": puzzle("2x3", 8, 1)},
        f"{another}method search, not contraction": {"method": "contraction"},
        f"{another}cutoff none, not 100": {"cutoff": 100},
        f"{another}strategy min, not first": {"strategy": "first"},
        f"{another}propagate naked-single,hidden-single, not none": {"propagate": "none"},
        "^limit 3: a count with a checkpoint, parts or a cluster has no limit": {"limit": 3},
        "^engine 3: expected one from make_engine": {"engine": 3},
    }.items():
        with pytest.raises(InputError, match=words):
            gpusudoku.count(**{"board": BOARD, "checkpoint": unfinished, **SEARCH, **options})
    assert unfinished.read_bytes() == before
    assert list(unfinished.parent.iterdir()) == [unfinished]


def test_another_version_is_refused(unfinished):
    before = unfinished.read_bytes()
    code = "import sys, gpusudoku; gpusudoku.__version__ = '0.1'; gpusudoku.resume(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, unfinished], capture_output=True, text=True, check=False
    )
    why = f"holds another run: version {gpusudoku.__version__}, not 0.1"
    assert f"{unfinished}: {why}" in done.stderr
    assert unfinished.read_bytes() == before


def test_what_cannot_be_resumed(tmp_path, run):
    command = tmp_path / "command.run"
    part = tmp_path / "part.run"
    assert run("enumerate", LINE_4X4, "-q", "-o", tmp_path / "x", "--checkpoint", command)[0] == 0
    assert run("count", LINE_4X4, "--part", "1/2", "--checkpoint", part)[0] == 0
    for file, words in {
        command: f"holds the run of a command: 'gpusudoku resume {command}' continues it",
        part: f"holds a part of a count: 'gpusudoku resume {part}' continues it",
    }.items():
        with pytest.raises(InputError, match=f"^{file}: {words}$"):
            gpusudoku.resume(file)


@pytest.mark.usefixtures("frequent_saves")
def test_while_a_count_goes_on_nobody_else_in_this_process_may(path):
    errors = []

    def look(progress):
        if progress.count and not errors:
            held = f"process {os.getpid()} on .+ is running it"
            with pytest.raises(InputError, match=held) as error:
                gpusudoku.resume(path)
            errors.append(error)

    assert gpusudoku.count(BOARD, checkpoint=path, progress=look, **SEARCH).count == TOTAL
    assert errors


def test_a_count_stopped_by_a_full_disk_can_be_resumed(path, frequent_saves, monkeypatch, run):
    """The file can have no more pages than after the first save."""
    stopped_before_the_first_task(path, LONG)
    connect = sqlite3.connect

    def limited(*arguments, **settings):
        connection = connect(*arguments, **settings)
        connection.execute("PRAGMA max_page_count = 1")  # it is never less than there are
        return connection

    full = (
        f"{path}: cannot be saved: the disk is full; it contains everything up to the previous save"
    )
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", limited)
        with pytest.raises(SaveError, match=f"^{full}$"):
            gpusudoku.resume(path, jobs=16)
        assert run("resume", path, "-q", "-j", "16") == (1, "", f"gpusudoku: {full}\n")
    assert stopped_later(path) > 0


def test_files_may_be_moved_and_named_in_every_way(unfinished, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    unfinished.rename(tmp_path / "other" / "renamed")
    monkeypatch.chdir(tmp_path)
    assert gpusudoku.resume(Path("other/renamed")).count == TOTAL
