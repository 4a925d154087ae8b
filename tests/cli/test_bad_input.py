"""What cannot be read, asked for or written: one line on stderr, nothing on stdout, status 2."""

from __future__ import annotations

import pytest

from tests.boards import LINE_4X4

BAD_FILES = {
    "empty": b"",
    "binary": b"\x00\x01\x02",
    "row length": b"1234\n341\n2143\n4321\n",
    "number of rows": b"1234\n3412\n2143\n",
    "character": b"1!..............\n",
    "range": b"15..............\n",
    "size": b"." * 25 + b"\n",
    "line length": b"." * 80 + b"\n",
}


def check(result, *words):
    status, out, err = result
    assert (status, out) == (2, "")
    assert err.startswith("gpusudoku: ")
    assert len(err.splitlines()) == 1
    assert "Traceback" not in err
    for word in words:
        assert str(word) in err


@pytest.mark.parametrize("command", ["count", "solve", "enumerate", "simplify", "info", "convert"])
@pytest.mark.parametrize("content", list(BAD_FILES))
def test_bad_file(run, file, command, content):
    path = file(BAD_FILES[content])
    check(run(command, path), path)


def test_missing_file_and_directory(run, tmp_path):
    check(run("count", tmp_path / "nothing"), tmp_path / "nothing")
    check(run("count", tmp_path), tmp_path)


def test_unknown_project_board(run):
    check(run("count", "@2g"), "@2g", "@2f")


@pytest.mark.parametrize(
    "options",
    [
        ["-j", "0"],
        ["-j", "x"],
        ["--limit", "0"],
        ["--cutoff", "0"],
        ["--cutoff", "nan"],
        ["--device", "tpu"],
        ["--method", "guess"],
        ["--memory", "1K"],
        ["--memory", "much"],
        ["--strategy", "max"],
        ["--propagate", "x-wing"],
        ["--propagate", "none,singles"],
        ["--box", "3"],
        ["--box", "0x4"],
        ["--box", "9x9"],
        ["--box", "3x3"],
        ["--gpu", "a"],
        ["--only", "some"],
        ["--only", "unique", "--limit", "1"],
        ["--log", "/nonexistent/folder/log"],
        ["--nonsense"],
    ],
    ids=" ".join,
)
def test_bad_option(run, file, options):
    check(run("count", file(LINE_4X4), *options))


def test_unknown_command_and_no_board(run):
    check(run("guess"), "guess")
    check(run("count"), "BOARD")


def test_output_that_cannot_be_written(run, file, tmp_path):
    target = tmp_path / "no" / "such" / "file"
    check(run("enumerate", file(LINE_4X4), "-o", target), target)
    check(run("convert", file(LINE_4X4), "-o", target), target)


def test_gpu_out_of_range(run, file):
    status, out, err = run("count", file(LINE_4X4), "--device", "cuda", "--gpu", "99")
    assert status in (1, 2)  # 1 where there is no GPU at all
    assert out == ""
    assert len(err.splitlines()) == 1
