"""Streams that are closed or full: no half line in a file, no wrong count, no result lost."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from gpusudoku.cli.lines import Lines
from gpusudoku.cli.numbers import Chosen
from tests.boards import LINE_4X4

ROOT = Path(__file__).resolve().parents[2]
EMPTY = "." * 16  # has 288 solutions

posix = pytest.mark.skipif(os.name == "nt", reason="descriptors and limits are POSIX")
full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@pytest.fixture
def empty(file):
    return file(EMPTY)


def limit_files(size):
    """Let no file grow beyond a number of bytes, which is what a full disk looks like."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@posix
@pytest.mark.parametrize("how", ["-o", ">", ">>"])
def test_a_file_that_cannot_grow_ends_with_a_whole_line(start, empty, tmp_path, how):
    path = tmp_path / "out"
    before = "earlier\n" * 3 if how == ">>" else ""
    settings = {"preexec_fn": partial(limit_files, 1000)}
    if how == "-o":
        process = start("enumerate", empty, "-o", path, **settings)
    else:
        path.write_text(before)
        with path.open("a" if how == ">>" else "w") as stdout:
            process = start("enumerate", empty, stdout=stdout, **settings)
    said = process.communicate(timeout=300)[1]
    text = path.read_text()
    assert process.returncode == 1
    name = path if how == "-o" else "stdout"
    assert f"gpusudoku: {name}: cannot be written: File too large\n" in said
    assert text.startswith(before)
    lines = text.removeprefix(before).splitlines(keepends=True)
    assert {len(line) for line in lines} == {17}
    assert len(text) > 1000 - 17


@posix
@pytest.mark.parametrize("before", ["", "5\n"])
def test_half_a_count_is_no_count(start, empty, tmp_path, before):
    path = tmp_path / "out"
    path.write_text(before)
    with path.open("a") as stdout:
        process = start(
            "count", empty, stdout=stdout, preexec_fn=partial(limit_files, len(before) + 2)
        )
    assert "stdout: cannot be written" in process.communicate(timeout=300)[1]
    assert process.returncode == 1
    assert path.read_text() == before


@posix
def test_a_file_without_a_line_is_removed(start, empty, tmp_path):
    path = tmp_path / "out"
    process = start("enumerate", empty, "-o", path, preexec_fn=partial(limit_files, 10))
    process.communicate(timeout=300)
    assert process.returncode == 1
    assert not path.exists()


@posix
def test_what_others_wrote_behind_it_is_not_cut(tmp_path, monkeypatch):
    path = tmp_path / "shared"
    path.write_text("a longer line than ours\n")
    write = os.write

    def fails_halfway(descriptor, data):
        if len(data) < 9:
            raise OSError(28, "No space left on device")
        return write(descriptor, data[:6])

    monkeypatch.setattr(os, "write", fails_halfway)
    with path.open("r+b") as file, pytest.raises(Exception, match="after half a line"):
        Lines(file.fileno(), "shared").write(b"one\ntwo\nthree\n")
    assert path.read_text() == "one\ntwer line than ours\n"


@posix
def test_a_text_without_an_end_of_line_is_written_too(tmp_path):
    path = tmp_path / "out"
    with path.open("wb") as file:
        Lines(file.fileno(), "out").write(b"one\ntwo")
    assert path.read_text() == "one\ntwo"


@pytest.mark.parametrize("form", ["line", "csv"])
@pytest.mark.usefixtures("uncompiled")
def test_an_interrupt_before_the_first_line_leaves_no_file(run, file, tmp_path, monkeypatch, form):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Chosen, "lines", interrupted)
    monkeypatch.setattr(Chosen, "blocks", interrupted)
    out = tmp_path / "out"
    status, _, err = run("enumerate", file(LINE_4X4), "--sorted", "-o", out, "--format", form)
    assert (status, err.splitlines()[-1]) == (130, "gpusudoku: interrupted: 0 lines written")
    assert not out.exists()


@pytest.mark.usefixtures("uncompiled")
def test_an_interrupt_while_the_file_is_opened_leaves_no_file(run, file, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Lines, "write", interrupted)
    out = tmp_path / "out"
    assert run("enumerate", file(LINE_4X4), "-o", out)[0] == 130
    assert not out.exists()


@posix
@pytest.mark.parametrize(
    "names", [["enumerate", "-"], ["simplify", "board.txt"], ["merge", "1", "2"]]
)
def test_stdout_is_not_appended_to_what_is_read(start, run, empty, tmp_path, names):
    command, *names = names
    for part in names if command == "merge" else ():
        run("enumerate", empty, "--part", f"{part}/2", "-o", tmp_path / part)
    path = empty if names == ["-"] else tmp_path / names[0]
    before = path.read_bytes()
    names = [name if name == "-" else tmp_path / name for name in names]
    settings = {"preexec_fn": partial(limit_files, 100_000)}
    with path.open("ab") as stdout, path.open("rb") as stdin:
        process = start(command, *names, stdin=stdin, stdout=stdout, **settings)
    said = process.communicate(timeout=300)[1]
    assert process.returncode == 2
    name = "<stdin>" if names == ["-"] else path
    reason = "is the input, so results cannot be appended to it: write to another file"
    assert said == f"gpusudoku: {name}: {reason}\n"
    assert path.read_bytes() == before


@posix
def test_stdout_may_be_the_input_where_it_gets_nothing(start, empty, tmp_path):
    before, out = empty.read_bytes(), tmp_path / "out"
    with empty.open("ab") as stdout:
        assert start("convert", empty, "-o", out, stdout=stdout).wait(timeout=300) == 0
    assert (empty.read_bytes(), out.stat().st_size) == (before, 17)


def shell(command, *arguments):
    """Run the program in a shell, for its redirections; returns status, stdout and stderr."""
    line = command.replace("gpusudoku", f'exec "{sys.executable}" -m gpusudoku', 1)
    done = subprocess.run(
        ["/bin/sh", "-c", line, "sh", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "GPUSUDOKU_DEVICE": "cpu"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout, done.stderr


@posix
@pytest.mark.parametrize("where", ["2>&-", pytest.param("2>/dev/full", marks=full_device)])
@pytest.mark.parametrize(
    ("command", "status", "lines"),
    [("count", 0, 1), ("solve", 0, 7), ("count --propagate nonsense", 2, 0)],
)
def test_messages_that_cannot_be_written_are_dropped(empty, where, command, status, lines):
    got, out, err = shell(f'gpusudoku {command} "$1" {where}', empty)
    assert (got, len(out.splitlines()), err) == (status, lines, "")


@posix
@pytest.mark.parametrize("where", [">&-", pytest.param(">/dev/full", marks=full_device)])
@pytest.mark.parametrize(
    "command",
    ["count", "solve", "enumerate", "info", "convert", "simplify", "boards", "devices", "--help"],
)
def test_a_result_that_cannot_be_written_is_an_error(empty, where, command):
    board = '"$1"' if command not in ("boards", "devices", "--help") else ""
    status, _, err = shell(f"gpusudoku {command} {board} {where}", empty)
    assert status == 1
    assert err.splitlines()[-1].startswith("gpusudoku: stdout: cannot be written: ")
    assert "Traceback" not in err
    assert "Exception" not in err


@posix
def test_no_file_takes_the_place_of_a_closed_stream(empty, tmp_path):
    out = tmp_path / "out"
    command = f'gpusudoku enumerate "$1" --stats -o "{out}" <&- >&- 2>&-'
    assert shell(command, empty) == (0, "", "")
    assert {len(line) for line in out.read_text().splitlines()} == {16}


@full_device
@pytest.mark.parametrize("boards", [1, 3])
def test_a_full_log_costs_no_count(run, file, boards):
    status, out, err = run("count", file(f"{EMPTY}\n" * boards), "--log", "/dev/full")
    assert status == 1
    assert [line.rpartition(":")[2] for line in out.splitlines()] == ["288"] * boards
    assert err == "gpusudoku: /dev/full: cannot be written: No space left on device\n"


@posix
def test_a_log_has_whole_lines_only(start, file, tmp_path):
    log = tmp_path / "log"
    settings = {"preexec_fn": partial(limit_files, 1500)}
    process = start("count", file(f"{EMPTY}\n" * 9), "--log", log, **settings)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out.count(":288\n")) == (1, 9)
    assert f"{log}: cannot be written: File too large" in err
    lines = log.read_text().splitlines(keepends=True)
    assert lines
    assert all(line.startswith("{") and line.endswith("}\n") for line in lines)


@full_device
def test_a_full_log_is_told_after_an_interrupt_too(run, file, monkeypatch):
    from gpusudoku.cli.summary import Tally

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Tally, "add", interrupted)
    status, _, err = run("count", file(f"{EMPTY}\n" * 2), "--log", "/dev/full")
    assert status == 130
    assert "/dev/full: cannot be written" in err
    assert err.splitlines()[-1].startswith("gpusudoku: interrupted")


@pytest.mark.usefixtures("without_cuda")
@pytest.mark.parametrize("command", [
    ["count", "@1b", "--device", "auto", "--gpu", "0"],
    ["enumerate", "@1b", "--device", "cuda", "--gpu", "0"],
    ["bench", "@1b", "--device", "cuda", "--method", "search"],
], ids=" ".join)  # fmt: skip
def test_a_gpu_that_is_not_there_is_an_error(run, command):
    status, out, err = run(*command)
    assert (status, out) == (1, "")
    assert err == "gpusudoku: CUDA cannot be used: there is none\n"
