"""Programs built from source: what they read, what they may print, and their race."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import built
import one_core
import pytest
from built import NARROW_BITS, Driver, Schoku
from click.testing import CliRunner, Result

from gpusudoku import collection
from gpusudoku.errors import GpusudokuError, InputError
from tests.benchmarks.test_peers import read_tables

FULL = str(collection.load("full"))
ONE = "." + FULL[1:]
EXPECTED = {
    line: count
    for names in (one_core.PROPER_PUZZLES, one_core.OTHER_BOARDS)
    for subject in [one_core.collection_boards("", names)]
    for line, count in zip(subject.lines, subject.expected or (), strict=True)
}


class Fake(Driver):
    """Answers without a process."""

    def __init__(
        self, name: str = "peer", bits: int = 256, seconds: float = 0.5, count: Any = None
    ) -> None:
        super().__init__(name, "", bits)
        self.seconds = seconds
        self.count_line = count or (lambda line: EXPECTED.get(line, 1))

    def answer(self, lines: Any) -> list[float]:
        return [*map(self.count_line, lines), self.seconds]

    def unusable_because(self) -> str | None:
        return None

    def output(self, *arguments: str, lines: Any, time_limit: float | None = None) -> str:
        if arguments == ("--version",):
            return "2.5 AVX2" if self.bits == NARROW_BITS else "2.5 AVX-512"
        return "".join(f"{word}\n" for word in self.answer(lines))


def test_a_program_is_named_by_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver("peer", "PEER_256", 256)
    assert "PEER_256 names no program" in str(driver.unusable_because())
    monkeypatch.setenv("PEER_256", os.devnull)
    assert f"PEER_256: {os.devnull} cannot be run" in str(driver.unusable_because())
    monkeypatch.setenv("PEER_256", shutil.which("false") or "")
    assert driver.unusable_because() is None
    with pytest.raises(GpusudokuError, match="peer, 256 bits ends with status 1: no message"):
        driver.count_lines([ONE])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1, 0.5], "prints 2 lines for 2 boards, expected 3: a count of each, and the sec"),
        ([1, -1, 0.5], f"line 2 is '-1', expected the count of {FULL}$"),
        ([1, 1, 0], "the last line is '0', expected seconds, more than 0"),
    ],
)
def test_answers(answer: list[float], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Fake()
    assert program.version() == "2.5 AVX2"
    assert program.count_lines([ONE, FULL]) == ([1, 1], 0.5)
    monkeypatch.setattr(program, "answer", lambda lines: answer)
    with pytest.raises(GpusudokuError, match=rf"^peer, 256 bits:? {message}"):
        program.count_lines([ONE, FULL])


def test_a_program_that_only_proves_puzzles_unique_has_no_other_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "2  1000/s  puzzles solved\n1  puzzles had multiple solutions\n"
    monkeypatch.setattr(Schoku, "output", lambda *_, **__: text)
    with pytest.raises(GpusudokuError, match="1 of 2 puzzles have one solution"):
        Schoku().count_lines([ONE, FULL])


def test_installed_programs_count_the_boards_of_the_readme() -> None:
    """Except gpusudoku with narrow vectors, which would compile the search once more."""
    text = Path(built.__file__).with_name("README.md").read_text("utf-8")
    boards = re.findall(r"^    ([.\d]{81})$", text, re.MULTILINE)
    expected = [int(count) for count in re.findall(r"^    (\d+)$", text, re.MULTILINE)]
    assert len(boards) == len(expected) == 3
    for program in built.all_drivers():
        if program.unusable_because() or program.environment().get("NUMBA_CPU_FEATURES"):
            continue
        assert program.version()[0].isdigit()
        indices = [expected.index(1)] if program.is_proof_only else range(3)
        result = program.count_lines([boards[i] for i in indices], 600.0)
        assert result.counts == [expected[i] for i in indices]
        assert result.seconds > 0


Race = Callable[..., Result]


@pytest.fixture
def race(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Race:
    """Race programs on a list of two puzzles."""
    path = tmp_path / "list.txt"
    path.write_text(f"# two\n{ONE.replace('.', '0')}\n{FULL} solved\n")

    def run(programs: list[Driver], *arguments: str) -> Result:
        monkeypatch.setattr(one_core, "all_drivers", lambda: programs)
        words = arguments or (str(path), "@1b", "--repeats", "1")
        return CliRunner().invoke(one_core.main, ["--output", str(tmp_path / "race.json"), *words])

    return run


def test_programs_are_compared_with_gpusudoku_of_the_same_width(race: Race) -> None:
    wide = [Fake("gpusudoku", 512), Fake(bits=512, seconds=2.0)]
    narrow = [Fake("gpusudoku", seconds=0.25), Fake(seconds=2.0)]
    result = race([*wide, *narrow, Driver("absent", "NOWHERE", 256)])
    assert result.exit_code == 0, result.output
    assert "absent: skipped, NOWHERE names no program" in result.stderr
    versions = "gpusudoku 2.5 AVX-512, peer 2.5 AVX-512, gpusudoku 2.5 AVX2, peer 2.5 AVX2"
    assert versions in result.stdout
    tables = read_tables(result.stdout)
    heads = ["gpusudoku, 512 bits", "peer, 512 bits", "gpusudoku, 256 bits", "peer, 256 bits"]
    assert tables["rate"][""] == ["number", *heads]
    assert tables["rate"]["list, M puzzles/s"] == ["2", "4e-06", "1e-06", "8e-06", "1e-06"]
    solutions = ["4,715", "0.00943", "0.00236", "0.0189", "0.00236"]
    assert tables["rate"]["1b, M solutions/s"] == solutions
    assert tables["time / gpusudoku"] == {
        "": [heads[1], heads[3]], "list": ["4", "8"], "1b": ["4", "8"]
    }  # fmt: skip
    assert race([], "--show").stdout == result.stdout


@pytest.mark.parametrize(
    ("count", "subject", "solution_count", "expected"),
    [
        (lambda line: max(EXPECTED.get(line, 1), 1), "full-error", 1, 0),
        (lambda line: min(EXPECTED.get(line, 1), 2), "1b", 2, 4715),
        (lambda line: EXPECTED.get(line, 1 + line.count(".")), "list", 2, 1),
    ],
)
def test_a_program_that_miscounts_ends_it(
    race: Race, count: Callable[[str], int], subject: str, solution_count: int, expected: int
) -> None:
    """The counts of the first program are expected for lists."""
    result = race([Fake("gpusudoku"), Fake(count=count)])
    assert result.exit_code == 1
    line = ONE
    if subject != "list":
        [line] = one_core.collection_boards(subject, [subject]).lines
    message = f"{line}: peer, 256 bits: counted {solution_count} solutions, expected {expected}\n"
    assert result.stderr.endswith(message)


def test_a_race_needs_another_program(race: Race, tmp_path: Path) -> None:
    """Without one, recorded results are not overwritten."""
    result = race([Fake("gpusudoku"), Driver("absent", "NOWHERE", 256)])
    assert result.exit_code == 2
    assert result.stderr.endswith("one_core.py: there is no other program to compare with\n")
    assert not (tmp_path / "race.json").exists()


def test_bad_lists(tmp_path: Path) -> None:
    path = tmp_path / "1b.txt"
    for text in ("12\n", f"{FULL}x\n", "x" * 81, "# none\n"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"expected 81 digits or dots|no boards"):
            one_core.read_subject(str(path))
    path.write_text(f"{FULL}\n")
    with pytest.raises(InputError, match=r"^1b: two boards or lists of this name"):
        one_core.read_subjects(["@1b", str(path)])
