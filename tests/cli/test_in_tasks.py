"""``count`` of one board in tasks: parts, files and samples that are verified, all together."""

from __future__ import annotations

import json
from unittest.mock import Mock

import pytest

from gpusudoku.checking import Checker
from gpusudoku.errors import MismatchError
from gpusudoku.runs.ledger import Ledger
from gpusudoku.runs.verify import Verified

BOARD = "1....2....3....."
AGAIN = "tasks counted again by strategy first: the same count"


@pytest.fixture
def interrupted(monkeypatch):
    """Let the first run that is verified be interrupted before anything is kept."""
    save = Verified.save

    def once(*_):
        monkeypatch.setattr(Verified, "save", save)
        raise KeyboardInterrupt

    monkeypatch.setattr(Verified, "save", once)


@pytest.mark.parametrize("method", ["search", "contraction"])
@pytest.mark.parametrize("board", [BOARD, "11..............", "." * 16])
def test_all_tasks_again(run, board, method):
    count = run("count", board, "--method", method, "-q")[1]
    for more in ([], ["--part", "1/1"]):
        status, out, err = run("count", board, "--method", method, "--verify-sample", "1", *more)
        assert status == 0
        assert (json.loads(out)["partial"] if more else out) == (count.strip() if more else count)
        assert "again" in err


@pytest.mark.usefixtures("interrupted")
@pytest.mark.parametrize("more", [[], ["--part", "2/3"]], ids=["whole", "part"])
def test_a_run_that_goes_on_is_verified(run, tmp_path, more):
    """It is the part that it was, and its record that of one that was never interrupted."""
    path, asked = tmp_path / "run.sqlite", ["--method", "search", "--verify-sample", "1", *more]
    status, out, err = run("count", BOARD, *asked, "--checkpoint", path)
    assert (status, out) == (130, "")
    assert f"'gpusudoku resume {path}' goes on" in err
    status, resumed, err = run("resume", path)
    assert status == 0
    assert AGAIN in err
    status, whole, _ = run("count", BOARD, *asked)
    for record in ("part", "partial", "digest", "identity") if more else ():
        assert json.loads(resumed)[record] == json.loads(whole)[record]
    assert more or resumed == whole == "6\n"


def test_a_mismatch_stops_the_run(run, tmp_path, monkeypatch):
    """Nothing of the step is kept, so that it is counted again."""

    def differ(*_):
        raise MismatchError("cross-check failed: 1 solutions, but 2 by magic")

    check = Checker.check
    monkeypatch.setattr(Checker, "check", differ)
    monkeypatch.chdir(tmp_path)
    asked = ["count", BOARD, "--method", "search", "--verify-sample", "1"]
    status, out, err = run(*asked)
    assert (status, out) == (1, "")
    [file] = tmp_path.iterdir()
    assert err.count("\n") == 1
    assert f"but 2 by magic; its board is in {file.name}" in err
    assert json.loads(file.read_text())["board"]["box"] == "2x2"
    path = tmp_path / "run.sqlite"
    assert run(*asked, "--checkpoint", path)[0] == 1
    monkeypatch.setattr(Checker, "check", check)
    status, out, err = run("resume", path)
    assert (status, out) == (0, "6\n")
    assert AGAIN in err


def test_a_sample_of_a_batch(run, tmp_path):
    boards = tmp_path / "boards.txt"
    boards.write_text(f"{BOARD}\n" * 3)
    status, out, err = run("count", boards, "--verify-sample", "1")
    assert (status, out) == (0, f"{BOARD}:6\n" * 3)
    assert "the same count, 3 of 3 boards" in err
    assert run("count", boards, "--verify-sample", "1e-9")[1] == out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--verify-sample", "0"], "0: expected a share, more than 0 and at most 1"),
        (["--verify-sample", "nan"], "nan: expected a share"),
        (["--verify-sample", "0.5", "--limit", "3"], "--limit cannot be combined with --verify-"),
        (["--part", "1/2", "--only", "unique"], "--only cannot be combined with --part of one"),
        (["--part", "1/2", "--cross-check"], "--cross-check cannot be combined with --part of"),
        (["--cluster", "local", "--exit-code"], "--exit-code cannot be combined with --cluster"),
    ],
)
def test_refusals(run, arguments, message):
    status, out, err = run("count", BOARD, *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cluster", "local", "--verify-sample", "1"], "--verify-sample cannot be combined with"),
        (["--verify-sample", "1"], "--verify-sample of a batch cannot be combined with --checkp"),
    ],
)
def test_refusals_of_a_batch(run, tmp_path, arguments, message):
    boards = tmp_path / "boards.txt"
    boards.write_text(f"{BOARD}\n" * 3)
    kept = ["-o", tmp_path / "out.txt", "--checkpoint", tmp_path / "run.sqlite"]
    status, out, err = run("count", boards, *arguments, *kept)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert list(tmp_path.iterdir()) == [boards]


def test_a_file_with_one_part_is_not_that_of_another(run, tmp_path):
    path = tmp_path / "run.sqlite"
    first = run("count", BOARD, "--part", "1/2", "--checkpoint", path)[1]
    refused = 2, "", f"gpusudoku: {path}: holds another run: part 1, not 2\n"
    assert run("count", BOARD, "--part", "2/2", "--checkpoint", path) == refused
    assert run("resume", path)[1] == first


def test_resume_counts_tasks_again_if_the_command_would_have(run, tmp_path, monkeypatch):
    path = tmp_path / "run.sqlite"
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "save", Mock(side_effect=KeyboardInterrupt))
        assert run("count", BOARD, "--checkpoint", path, "--verify-sample", "1")[0] == 130
    status, out, err = run("resume", path)
    assert (status, out) == (0, "6\n")
    assert "tasks counted again by " in err
    assert "no task came to its end now" in run("resume", path)[2]
