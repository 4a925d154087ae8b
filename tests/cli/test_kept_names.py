"""What files of runs are called, what is told of those that are finished, and of parts."""

from __future__ import annotations

import json

import pytest

import gpusudoku
from gpusudoku.errors import InputError

SOME = "1....2....3....."


@pytest.mark.parametrize("command", ["status", "resume"])
def test_no_name(run, command):
    assert run(command, "") == (2, "", "gpusudoku: '': expected the name of a file\n")


@pytest.mark.parametrize("name", ["", "-"])
@pytest.mark.parametrize("command", ["count", "enumerate", "solve", "sample", "shares"])
def test_a_checkpoint_needs_a_name(run, tmp_path, monkeypatch, command, name):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(command, SOME, "-o", "out", "--checkpoint", name)
    assert (status, out) == (2, "")
    assert err.endswith(f"{name!r}: expected the name of a file\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command", [["count"], ["enumerate"], ["enumerate", "--sorted"], ["solve"], ["sample"]]
)
def test_what_is_finished_says_so(run, file, tmp_path, command):
    boards, path = file(f"{SOME}\n{SOME}\n"), tmp_path / "a.run"
    asked = [*command, boards, "-o", tmp_path / "out", "--checkpoint", path]
    status, out, err = run(*asked)
    assert (status, out) == (0, "")
    assert "finished before" not in err
    for again in (asked, ["resume", path]):
        status, out, err = run(*again)
        assert (status, out) == (0, "")
        assert err.splitlines()[0] == f"gpusudoku: {path}: finished before"


@pytest.mark.parametrize(
    "command", ["count --only unique", "sample -n 0", "sample -n 0 --seed 1 --part 2/2"]
)
def test_a_table_without_a_row_is_finished(run, file, tmp_path, command):
    """It has what stands before all rows."""
    boards, path, table = file(f"{SOME}\n{SOME}\n"), tmp_path / "a.run", tmp_path / "out"
    asked = [*command.split(), boards, "--format", "csv", "-o", table, "--checkpoint", path]
    for again in (asked, asked, ["resume", path]):
        assert run(*again)[:2] == (0, "")
        assert table.read_text().count("\n") == 1


def test_status_tells_which_part(run, file, tmp_path):
    boards, path = file(f"{SOME}\n{SOME}\n"), tmp_path / "a.run"
    for what in (boards, SOME):
        asked = ["count", what, "-o", tmp_path / "out", "--checkpoint", path]
        assert run(*asked)[0] == 0
        assert ", part " not in run("status", path)[1]
        for name in tmp_path.glob("[ao][.u]*"):
            name.unlink()
        assert run(*asked, "--part", "2/2")[0] == 0
        assert ", part 2 of 2, version " in run("status", path)[1].splitlines()[0]
        assert json.loads(run("status", path, "--json")[1])["options"]["part"] in (2, "2/2")
        for name in tmp_path.glob("[ao][.u]*"):
            name.unlink()


@pytest.mark.parametrize("parts", [None, 5, "{}", [5], [None], [b"\xff"], ["1" * 5000], []])
def test_what_are_no_parts(parts):
    with pytest.raises(InputError):
        gpusudoku.merge(parts)
