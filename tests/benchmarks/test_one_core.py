"""Programs that a person builds: what they are asked, what they may answer, and their race."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import built
import one_core
import pytest
from built import NARROW, Driver, Schoku
from click.testing import CliRunner, Result

from gpusudoku import collection
from gpusudoku.errors import GpusudokuError, InputError
from tests.benchmarks.test_peers import rows

FULL = str(collection.load("full"))
ONE = "." + FULL[1:]
CHECKED = [
    one_core.boards("puzzles", one_core.UNIQUE),
    one_core.boards("boards", one_core.OTHERS),
]
RIGHT = {
    line: count
    for each in CHECKED
    for line, count in zip(each.lines, each.known or (), strict=True)
}
ALL_RIGHT = "*[RIGHT.get(line, 1) for line in lines]"
ANSWERS = """
import sys
RIGHT = {right}
if sys.argv[1:] == ["--version"]:
    print("2.5 {vectors}")
else:
    lines = sys.stdin.read().split()
    assert all(len(line) == 81 for line in lines)
    print({counts}, {seconds}, sep="\\n")
"""
"""A driver: what it prints are expressions of the lines that it read."""

STATISTICS = """
import sys
if sys.argv[1] == "-h":
    print("schoku version: 0.9.6\\nSynopsis:")
else:
    assert sys.argv[1:4] == ["-t1", "-rM", "-x"]
    lines = open(sys.argv[4]).read().splitlines()
    print("schoku version: 0.9.6\\n     1    17.0/puzzle  puzzles entered and presets")
    print(f"  {{len(lines)}}  1000/s  puzzles solved")
    print("    {several}  puzzles had multiple solutions")
"""


class Made:
    """Makes programs of Python sources in a folder, and names them by variables."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch = folder, patch

    def program(self, variable: str, source: str) -> None:
        path = self.folder / variable
        path.write_text(f"#!{sys.executable} -IS\n{source}")
        path.chmod(0o755)
        self.patch.setenv(variable, str(path))

    def peer(self, counts: str = ALL_RIGHT, name: str = "peer", bits: int = 256,
             seconds: str = "0.5", vectors: str | None = None) -> Driver:  # fmt: skip
        """Make a driver that answers so."""
        if vectors is None:
            vectors = "AVX2" if bits == NARROW else "AVX-512"
        variable = f"{name}_{bits}".upper()
        answers = {"counts": counts, "seconds": seconds, "vectors": vectors}
        self.program(variable, ANSWERS.format(right=RIGHT, **answers))
        return Driver(name, variable, bits)

    def schoku(self, several: int = 0) -> Schoku:
        """Make a program that prints Schoku's statistics; some puzzles have several solutions."""
        self.program("GPUSUDOKU_SCHOKU", STATISTICS.format(several=several))
        return Schoku()


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    (tmp_path / "programs").mkdir()
    return Made(tmp_path / "programs", monkeypatch)


class TestDrivers:
    def test_a_program_is_named_by_its_variable(
        self, monkeypatch: pytest.MonkeyPatch, made: Made
    ) -> None:
        driver = Driver("peer", "PEER_256", 256)
        monkeypatch.delenv("PEER_256", raising=False)
        assert "PEER_256 names no program" in str(driver.unusable_because())
        monkeypatch.setenv("PEER_256", os.devnull)
        assert f"PEER_256: {os.devnull} cannot be run" in str(driver.unusable_because())
        made.peer("*[line.count('.') for line in lines]")
        assert (driver.unusable_because(), driver.version()) == (None, "2.5 AVX2")
        assert str(driver) == "peer, 256 bits"
        assert driver.count_lines([ONE, FULL]) == ([1, 0], 0.5)
        assert driver.count(collection.load("full"), 60.0) == (0, True, 0.5)
        assert not driver.takes(collection.load("box2x2-few"))

    @pytest.mark.parametrize(
        ("counts", "seconds", "message"),
        [
            ("1", "0.5", "prints 2 lines for 2 boards, expected 3: a count of each, and the sec"),
            ("1, -1", "0.5", f"line 2 is '-1', expected the count of {FULL}$"),
            ("1, 1", "0", "the last line is '0', expected seconds, more than 0"),
            ("1, 1", "'nan'", "the last line is 'nan'"),
            ("1/0", "0.5", "ends with status 1: ZeroDivisionError: division by zero"),
            ("1, sys.exit(3)", "0.5", "ends with status 3: it says nothing"),
        ],
    )
    def test_bad_answers(self, made: Made, counts: str, seconds: str, message: str) -> None:
        with pytest.raises(GpusudokuError, match=rf"^peer, 256 bits:? {message}"):
            made.peer(counts, seconds=seconds).count_lines([ONE, FULL])

    def test_what_is_no_program_and_what_takes_too_long(self, made: Made) -> None:
        found = made.peer("__import__('time').sleep(600)").count(collection.load("full"), 0.05)
        assert (found.solutions, found.complete) == (None, False)
        (made.folder / "PEER_256").write_text("")
        with pytest.raises(GpusudokuError, match=r"^peer, 256 bits: cannot be run: Exec format"):
            Driver("peer", "PEER_256", 256).version()

    def test_schoku_tells_only_whether_there_is_one(self, made: Made) -> None:
        assert made.schoku().version() == "0.9.6 AVX2"
        assert made.schoku().count_lines([ONE, FULL]).counts == [1, 1]
        with pytest.raises(GpusudokuError, match="1 of 2 puzzles have one solution"):
            made.schoku(several=1).count_lines([ONE, FULL])


def test_programs_that_are_there_count_the_boards_of_the_readme() -> None:
    """All but ours with narrow vectors, which would compile the search once more."""
    text = Path(built.__file__).with_name("README.md").read_text("utf-8")
    boards = re.findall(r"^    ([.\d]{81})$", text, re.MULTILINE)
    right = [int(count) for count in re.findall(r"^    (\d+)$", text, re.MULTILINE)]
    assert len(boards) == len(right) == 3
    for program in built.entrants():
        if program.unusable_because() or program.environment().get("NUMBA_CPU_FEATURES"):
            continue
        assert program.version()[0].isdigit()
        asked = [right.index(1)] if program.proves_only else range(3)
        counted = program.count_lines([boards[i] for i in asked], 600.0)
        assert counted.counts == [right[i] for i in asked]
        assert counted.seconds > 0


class TestRace:
    @pytest.fixture
    def run(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
        """Race some programs, of which the first is ours, on a list of two puzzles."""
        path = tmp_path / "list.txt"
        path.write_text(f"# two\n{ONE.replace('.', '0')}\n{FULL},solved\n".replace(",", " "))

        def run(programs: list[Driver], *arguments: str) -> Result:
            monkeypatch.setattr(one_core, "entrants", lambda: programs)
            words = arguments or (str(path), "@1b", "--repeats", "1")
            output = ["--output", str(tmp_path / "race.json")]
            return CliRunner().invoke(one_core.main, [*output, *words])

        return run

    def test_the_tables(self, run: Callable[..., Result], made: Made) -> None:
        """Others are compared with ours of the same width; Schoku is not asked for counts."""
        ours = [made.peer(name="gpusudoku", bits=512), made.peer(name="gpusudoku", seconds="0.25")]
        others = [made.peer(bits=512, seconds="2.0"), made.peer(seconds="2.0")]
        programs = [ours[0], others[0], ours[1], others[1], made.schoku()]
        result = run([*programs, Driver("absent", "NOWHERE", 256)])
        assert result.exit_code == 0, result.output
        assert "absent: skipped, NOWHERE names no program" in result.stderr
        versions = "gpusudoku 2.5 AVX-512, peer 2.5 AVX-512, gpusudoku 2.5 AVX2, peer 2.5 AVX2,"
        assert versions in result.stdout
        tables = rows(result.stdout)
        heads = ["gpusudoku, 512 bits", "peer, 512 bits", "gpusudoku, 256 bits", "peer, 256 bits"]
        assert tables["rate"][""][:5] == ["number", *heads]
        puzzles = tables["rate"]["list, M puzzles/s"]
        assert puzzles[:5] == ["2", "4e-06", "1e-06", "8e-06", "1e-06"]
        assert float(puzzles[5]) > 0
        solutions = ["4,715", "0.00943", "0.00236", "0.0189", "0.00236", ""]
        assert tables["rate"]["1b, M solutions/s"] == solutions
        factors = tables["their time / ours"]
        assert factors[""][:2] == [heads[1], heads[3]]
        assert factors["list"][:2] == factors["1b"][:2] == ["4", "8"]
        assert run([], "--show").stdout == result.stdout

    @pytest.mark.parametrize(
        ("counts", "name", "known", "found"),
        [
            ("*[max(RIGHT.get(line, 1), 1) for line in lines]", "full-error", 0, 1),
            ("*[min(RIGHT.get(line, 1), 2) for line in lines]", "1b", 4715, 2),
            ("*[0 for line in lines]", "1a", 1, 0),
        ],
    )
    def test_a_driver_that_miscounts_is_told_at_once(
        self, run: Callable[..., Result], made: Made, counts: str, name: str, known: int, found: int
    ) -> None:
        result = run([made.peer(name="gpusudoku"), made.peer(counts)], "@1f")
        assert result.exit_code == 1
        [line] = one_core.boards(name, [name]).lines
        message = f"{line}: peer, 256 bits: {found} solutions counted, {known} are right\n"
        assert result.stderr.endswith(message)
        assert "1f" not in result.stderr

    def test_a_wrong_count_ends_it(self, run: Callable[..., Result], made: Made) -> None:
        """The first program is right about lists."""
        other = made.peer("*[RIGHT.get(line, 1 + line.count('.')) for line in lines]")
        result = run([made.peer(name="gpusudoku"), other])
        assert result.exit_code == 1
        message = f"list, {ONE}: peer, 256 bits: 2 solutions counted, 1 are right\n"
        assert result.stderr.endswith(message)

    def test_ours_alone_is_no_race(
        self, run: Callable[..., Result], made: Made, tmp_path: Path
    ) -> None:
        """Nothing is written over what was recorded before."""
        result = run([made.peer(name="gpusudoku"), Driver("absent", "NOWHERE", 256)])
        assert result.exit_code == 2
        assert result.stderr.endswith("one_core.py: there is no other program to compare with\n")
        assert not (tmp_path / "race.json").exists()

    def test_bad_lists(self, tmp_path: Path) -> None:
        path = tmp_path / "1b.txt"
        for text in ("12\n", f"{FULL}x\n", "x" * 81, "# none\n"):
            path.write_text(text)
            with pytest.raises(InputError, match=r"expected 81 digits or dots|no boards"):
                one_core.subject(str(path))
        with pytest.raises(InputError, match="No such file"):
            one_core.subject(str(tmp_path / "none.txt"))
        with pytest.raises(InputError, match="81 digits"):
            one_core.subject("@16x16-unique")
        path.write_text(f"{FULL}\n")
        with pytest.raises(InputError, match=r"^1b: two boards or lists of this name"):
            one_core.subjects(["@1b", str(path)])
