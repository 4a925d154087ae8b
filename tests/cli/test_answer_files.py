"""Answers of ``count`` and ``solve`` that go to a file."""

from __future__ import annotations

import os

import pytest

UNIQUE, SEVERAL, NONE = "123434122143432.", "." * 16, "11" + "." * 14
BATCH = f"{UNIQUE}\n{SEVERAL}\n{NONE}\n"

pytestmark = pytest.mark.usefixtures("uncompiled")


def kept(err):
    """Lines on stderr that are the same every time."""
    return [line for line in err.splitlines() if "boards a second" not in line]


@pytest.mark.parametrize(
    "options",
    [
        ["count"],
        ["count", "--format", "csv"],
        ["count", "--json"],
        ["count", "--only", "none"],
        ["count", "--only", "unique", "--exit-code"],
        ["solve"],
        ["solve", "--format", "pretty", "--exit-code"],
        ["solve", "--format", "tsv"],
    ],
)
def test_a_file_has_what_stdout_would_have(run, file, tmp_path, options):
    path, out = file(BATCH), tmp_path / "out.txt"
    status, shown, err = run(*options, path)
    status_to_file, rest, err_to_file = run(*options, path, "-o", out)
    assert (status_to_file, rest) == (status, "")
    assert out.read_text() == shown
    assert kept(err_to_file) == kept(err)


def test_a_single_board(run, file, tmp_path):
    out = tmp_path / "out.txt"
    assert run("count", file(SEVERAL), "--output", out)[:2] == (0, "")
    assert out.read_text() == "288\n"
    assert run("solve", file(UNIQUE), "--output", out, "--force")[:2] == (0, "")
    assert out.read_text() == run("solve", file(UNIQUE))[1]


def test_a_dash_is_stdout(run, file):
    assert run("count", file(SEVERAL), "-o", "-")[:2] == (0, "288\n")


def test_the_log_is_written_besides(run, file, tmp_path):
    out, log = tmp_path / "out.txt", tmp_path / "log.jsonl"
    assert run("count", file(BATCH), "-o", out, "--log", log)[:2] == (0, "")
    assert len(out.read_text().splitlines()) == len(log.read_text().splitlines()) == 3


def test_no_answers_are_an_empty_file(run, file, tmp_path):
    out = tmp_path / "out.txt"
    assert run("count", file(f"{SEVERAL}\n{NONE}"), "--only", "unique", "-o", out)[0] == 0
    assert out.read_bytes() == b""


@pytest.mark.parametrize("command", ["count", "solve"])
class TestRefused:
    def test_a_file_that_exists(self, run, file, tmp_path, command):
        out = tmp_path / "out.txt"
        out.write_text("precious\n")
        status, _, err = run(command, file(BATCH), "-o", out)
        assert (status, err) == (2, f"gpusudoku: {out}: exists already; --force overwrites it\n")
        assert out.read_text() == "precious\n"
        assert run(command, file(BATCH), "-o", out, "--force")[0] == 0
        assert out.read_text() == run(command, file(BATCH))[1]

    def test_an_input(self, run, file, tmp_path, command):
        path = file(BATCH)
        status, _, err = run(command, path, "-o", path, "--force")
        assert status == 2
        assert err == f"gpusudoku: {path}: is read, and cannot be written at the same time\n"
        assert path.read_text() == BATCH

    @pytest.mark.parametrize("exists", [False, True])
    def test_the_log(self, run, file, tmp_path, command, exists):
        out = tmp_path / "out.txt"
        if exists:
            out.write_text("precious\n")
        other = tmp_path / ".." / tmp_path.name / "out.txt"
        status, _, err = run(command, file(BATCH), "-o", out, "--log", other, "--force")
        assert status == 2
        assert err == f"gpusudoku: {out}: is the log, and cannot be the output file, too\n"
        assert out.exists() == exists
        assert not exists or out.read_text() == "precious\n"

    @pytest.mark.parametrize("name", ["no/such/folder.txt", ".", ""])
    def test_what_cannot_be_written(self, run, file, tmp_path, monkeypatch, command, name):
        monkeypatch.chdir(tmp_path)
        status, out, err = run(command, file(BATCH), "-o", name)
        assert (status, out) == (2, "")
        assert len(err.splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="no such device")
def test_a_full_disk_is_one_line(run, file):
    status, out, err = run("count", file(BATCH), "-o", "/dev/full", "-q")
    assert (status, out) == (1, "")
    assert err == "gpusudoku: /dev/full: cannot be written: No space left on device\n"
