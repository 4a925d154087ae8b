"""The race on one core, with programs made up for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import one_core
import pytest
from built import Driver, Schoku
from click.testing import CliRunner, Result

from gpusudoku.errors import InputError
from tests.benchmarks.drivers import FULL, ONE, Make
from tests.benchmarks.test_peers import rows


class TestRace:
    @pytest.fixture
    def run(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
        """Race some programs, of which the first is ours, on a list of two puzzles."""
        path = tmp_path / "list.txt"
        path.write_text(f"# two\n{ONE.replace('.', '0')}\n{FULL},solved\n".replace(",", " "))

        def run(programs: list[Driver], *arguments: str) -> Result:
            monkeypatch.setattr(one_core, "entrants", lambda: programs)
            words = arguments or (str(path), "@1b", "--repeats", "2")
            return CliRunner().invoke(
                one_core.main, ["--output", str(tmp_path / "race.json"), *words]
            )

        return run

    def test_the_tables(self, run: Callable[..., Result], peer: Make) -> None:
        """Others are compared with ours of the same width."""
        ours = [peer(name="gpusudoku", bits=512), peer(name="gpusudoku", seconds="0.25")]
        others = [peer(bits=512, seconds="2.0"), peer(seconds="2.0")]
        programs = [ours[0], others[0], ours[1], others[1], Driver("absent", "NOWHERE", 256)]
        result = run(programs)
        assert result.exit_code == 0, result.output
        assert "absent: skipped, NOWHERE names no program" in result.stderr
        versions = "gpusudoku 2.5 AVX-512, peer 2.5 AVX-512, gpusudoku 2.5 AVX2, peer 2.5 AVX2."
        assert versions in result.stdout
        tables = rows(result.stdout)
        heads = ["gpusudoku, 512 bits", "peer, 512 bits", "gpusudoku, 256 bits", "peer, 256 bits"]
        assert tables["rate"][""] == ["number", *heads]
        assert tables["rate"]["list, M puzzles/s"] == ["2", "4e-06", "1e-06", "8e-06", "1e-06"]
        solutions = ["4,715", "0.00943", "0.00236", "0.0189", "0.00236"]
        assert tables["rate"]["1b, M solutions/s"] == solutions
        factors = tables["their time / ours"]
        assert factors[""] == [heads[1], heads[3]]
        assert factors["list"] == factors["1b"] == ["4", "8"]
        assert run([], "--show").stdout == result.stdout

    def test_schoku_is_not_asked_for_counts(
        self, run: Callable[..., Result], peer: Make, schoku: Callable[..., Schoku]
    ) -> None:
        tables = rows(run([peer(name="gpusudoku"), schoku()]).stdout)
        assert tables["rate"]["1b, M solutions/s"][2] == ""
        assert float(tables["rate"]["list, M puzzles/s"][2]) > 0

    @pytest.mark.parametrize(
        ("counts", "name", "known", "found"),
        [
            ("*[max(RIGHT.get(line, 1), 1) for line in lines]", "full-error", 0, 1),
            ("*[min(RIGHT.get(line, 1), 2) for line in lines]", "1b", 4715, 2),
            ("*[0 for line in lines]", "1a", 1, 0),
        ],
    )
    def test_a_driver_that_miscounts_is_told_at_once(
        self, run: Callable[..., Result], peer: Make, counts: str, name: str, known: int, found: int
    ) -> None:
        result = run([peer(name="gpusudoku"), peer(counts)], "@1f")
        assert result.exit_code == 1
        [line] = one_core.boards(name, [name]).lines
        message = f"{line}: peer, 256 bits: {found} solutions counted, {known} are right\n"
        assert result.stderr.endswith(message)
        assert "1f" not in result.stderr

    def test_a_wrong_count_ends_it(self, run: Callable[..., Result], peer: Make) -> None:
        """The first program is right about lists."""
        other = peer("*[RIGHT.get(line, 1 + line.count('.')) for line in lines]")
        result = run([peer(name="gpusudoku"), other])
        assert result.exit_code == 1
        message = f"list, {ONE}: peer, 256 bits: 2 solutions counted, 1 are right\n"
        assert result.stderr.endswith(message)

    def test_ours_alone_is_no_race(
        self, run: Callable[..., Result], peer: Make, tmp_path: Path
    ) -> None:
        """Nothing is written over what was recorded before."""
        result = run([peer(name="gpusudoku"), Driver("absent", "NOWHERE", 256)])
        assert result.exit_code == 2
        assert result.stderr.endswith("one_core.py: there is no other program to compare with\n")
        assert not (tmp_path / "race.json").exists()

    @pytest.mark.parametrize("text", ["12\n", f"{FULL}x\n", "x" * 81, "# none\n"])
    def test_other_files(self, text: str, tmp_path: Path) -> None:
        path = tmp_path / "list.txt"
        path.write_text(text)
        with pytest.raises(InputError, match=r"expected 81 digits or dots|no boards"):
            one_core.subject(str(path))
        with pytest.raises(InputError, match="No such file"):
            one_core.subject(str(tmp_path / "none.txt"))
        with pytest.raises(InputError, match="81 digits"):
            one_core.subject("@16x16-unique")

    def test_two_lists_of_a_name(self, tmp_path: Path) -> None:
        """They would be one row."""
        (tmp_path / "1b.txt").write_text(f"{FULL}\n")
        with pytest.raises(InputError, match=r"^1b: two boards or lists of this name"):
            one_core.subjects(["@1b", str(tmp_path / "1b.txt")])
