"""The command ``gpusudoku bench``: what it measures, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gpusudoku.bench import drawing, tables
from gpusudoku.cli import cli
from gpusudoku.errors import InputError, MismatchError


def run(*arguments: str) -> Any:
    return CliRunner().invoke(cli, ["bench", *arguments], env={"COLUMNS": "200"})


class TestCommand:
    SMALL = ("@box2x2-empty", "@box2x2-few", "--device", "cpu", "-i", "2")

    def test_two_methods_and_two_numbers_of_threads(self, tmp_path: Path) -> None:
        files = ("--csv", str(tmp_path / "a.csv"), "--json", str(tmp_path / "a.json"))
        done = run(*self.SMALL, "-j", "1,2", *files)
        assert done.exit_code == 0, done.output
        assert done.stdout.count("box2x2-empty") == 4
        rows, _ = tables.read_json(str(tmp_path / "a.json"))
        assert [row["solutions"] for row in rows] == [288] * 4 + [2] * 4
        assert all(row["runs"] == 2 and row["median"] > 0 for row in rows)
        assert len((tmp_path / "a.csv").read_text().splitlines()) == 9
        again = run("--from", str(tmp_path / "a.json"))
        assert again.stdout == done.stdout

    def test_starved_rows_are_told_and_not_drawn(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "a.json"
        run(*self.SMALL, "-j", "1", "--method", "search", "--json", str(path))
        recorded = json.loads(path.read_text())
        assert len(recorded["rows"]) == 2
        recorded["rows"][0] |= {"starved": True, "got": 0.5}
        path.write_text(json.dumps(recorded))
        drawn: list[Any] = []
        monkeypatch.setattr(drawing, "save", lambda made, *_: drawn.extend(made.args[0]) or [])
        done = run("--from", str(path), "--plot", str(tmp_path))
        assert "1 of 2 rows are starved" in done.stderr
        assert done.stdout.count("starved") == 1
        assert [row["board"] for row in drawn] == ["box2x2-few"]

    def test_a_file_of_boards(self, tmp_path: Path) -> None:
        path = tmp_path / "two.txt"
        path.write_text("1...............\n................\n")
        done = run(str(path), "--device", "cpu", "-j", "1", "--method", "search", "-t", "0.001")
        assert done.exit_code == 0, done.output
        assert "two.txt:1" in done.stdout
        assert "two.txt:2" in done.stdout

    def test_cutoffs_by_empty_cells(self) -> None:
        done = run(*self.SMALL, "--method", "search", "--cutoff", "4,16", "--cutoff-by", "empty")
        assert "search cpu -j 1 min singles empty 16" in done.stdout

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("@nothing",), "no board named '@nothing'"),
            (("--include", "nothing"), "no board is left"),
            (("--device", "gpu"), "'gpu': expected some of cpu, cuda"),
            (("-j", "1,x"), "expected numbers"),
            (("-j", "0"), "0 threads: expected 1"),
            (("--propagate", "guessing"), "unknown technique"),
            (("--cutoff", "0"), "cutoff 0.0"),
            (("--from", "missing.json"), "expected a file that can be read"),
            (("--csv", ""), "a file without a name"),
        ],
    )
    def test_bad_input(self, arguments: tuple[str, ...], message: str) -> None:
        done = run("--device", "cpu", *arguments)
        assert isinstance(done.exception, InputError | SystemExit)
        assert message in (str(done.exception) + done.output)

    def test_nothing_is_overwritten(self, tmp_path: Path) -> None:
        path = tmp_path / "there.csv"
        path.write_text("mine")
        done = run(*self.SMALL, "--csv", str(path))
        assert "--force overwrites it" in str(done.exception)
        assert path.read_text() == "mine"

    def test_a_failure_leaves_files_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "there.json"
        path.write_text("mine")
        for arguments in (("--propagate", "foo"), ("--cutoff", "0"), ("--from", str(path))):
            done = run(*self.SMALL, *arguments, "--json", str(path), "--force")
            assert isinstance(done.exception, InputError), arguments
            assert path.read_text() == "mine"
        done = run(*self.SMALL, "--json", str(tmp_path / "a"), "--csv", str(tmp_path / "a"))
        assert "cannot both be written" in str(done.exception)

    def test_a_search_without_end_is_left_out(self) -> None:
        done = run("@empty", "--device", "cpu", "-j", "1", "--method", "search")
        assert done.exit_code == 0
        assert "left out: about" in done.stdout

    def test_wrong_counts_end_in_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from gpusudoku import collection

        entry = collection.entry("box2x2-few")
        monkeypatch.setattr(
            collection, "entry", lambda name: type(entry)(**{**vars(entry), "count": 3})
        )
        done = run("@box2x2-few", "--device", "cpu", "-j", "1", "--method", "search")
        assert isinstance(done.exception, MismatchError)
        assert "2 solutions counted, but 3 are right" in done.stdout
