"""Programs that a person builds from source: what they are asked, and what they may answer."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import built
import pytest
from built import NARROW, Driver, OwnDriver, Schoku

from gpusudoku import collection
from gpusudoku.errors import GpusudokuError
from tests.benchmarks.drivers import FULL, ONE, Make, answers


class TestDrivers:
    def test_a_program_is_named_by_its_variable(
        self, monkeypatch: pytest.MonkeyPatch, program: Callable[[str], str]
    ) -> None:
        driver = Driver("peer", "PEER", 256)
        monkeypatch.delenv("PEER", raising=False)
        assert "PEER names no program" in str(driver.unusable_because())
        monkeypatch.setenv("PEER", os.devnull)
        assert f"PEER: {os.devnull} cannot be run" in str(driver.unusable_because())
        monkeypatch.setenv("PEER", program(answers()))
        assert driver.unusable_because() is None
        assert driver.version() == "2.5 AVX2"
        assert str(driver) == "peer, 256 bits"

    @pytest.mark.parametrize(("bits", "builds"), [(512, ["", "_256"]), (256, [""])])
    def test_narrow_builds_have_variables_of_their_own(
        self, monkeypatch: pytest.MonkeyPatch, bits: int, builds: list[str]
    ) -> None:
        monkeypatch.setattr(built, "widest", lambda: bits)
        programs = built.entrants()
        expected = [
            f"GPUSUDOKU_{name}{build}" for build in builds for name in ("TDOKU", "RUST_SUDOKU")
        ]
        variables = [program.variable for program in programs if program.variable]
        assert variables == [*expected, "GPUSUDOKU_SCHOKU"]
        widths = [program.bits for program in programs]
        assert sorted(widths, reverse=True) == widths

    def test_counts_in_order(self, peer: Make) -> None:
        driver = peer("*[line.count('.') for line in lines]")
        assert driver.count_lines([ONE, FULL]) == ([1, 0], 0.5)
        assert driver.count(collection.load("full"), 60.0) == (0, True, 0.5)
        assert not driver.takes(collection.load("box2x2-few"))

    @pytest.mark.parametrize(
        ("counts", "seconds", "message"),
        [
            ("1", "0.5", "prints 2 lines for 2 boards, expected 3: a count of each, and the sec"),
            ("1, 1, 1", "0.5", "prints 4 lines for 2 boards, expected 3"),
            ("1, 'one'", "0.5", f"line 2 is 'one', expected the count of {FULL}$"),
            ("1, -1", "0.5", "line 2 is '-1', expected the count"),
            ("1, 1", "'2 s'", "the last line is '2 s', expected seconds"),
            ("1, 1", "0", "the last line is '0', expected seconds, more than 0"),
            ("1, 1", "'nan'", "the last line is 'nan'"),
            ("1/0", "0.5", "ends with status 1: ZeroDivisionError: division by zero"),
            ("1, sys.exit(3)", "0.5", "ends with status 3: it says nothing"),
        ],
    )
    def test_bad_answers(self, peer: Make, counts: str, seconds: str, message: str) -> None:
        with pytest.raises(GpusudokuError, match=rf"^peer, 256 bits:? {message}"):
            peer(counts, seconds=seconds).count_lines([ONE, FULL])

    @pytest.mark.parametrize(
        ("bits", "vectors", "message"),
        [
            (512, "AVX2", "prints '2.5 AVX2', expected AVX-512 at the end"),
            (256, "AVX-512", "prints '2.5 AVX-512', expected no AVX-512"),
            (256, "", "prints '2.5', expected a version and instructions"),
            (256, "AVX2\\nand more", "expected a version and instructions"),
        ],
    )
    def test_vectors_of_another_width(
        self, peer: Make, bits: int, vectors: str, message: str
    ) -> None:
        with pytest.raises(GpusudokuError, match=rf"^peer, {bits} bits: --version .*{message}"):
            peer(bits=bits, vectors=vectors).version()

    def test_what_is_no_program(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "empty"
        path.touch(0o755)
        monkeypatch.setenv("PEER", str(path))
        with pytest.raises(GpusudokuError, match=r"^peer, 256 bits: cannot be run: Exec format"):
            Driver("peer", "PEER", 256).version()

    def test_what_takes_too_long_is_cut_off(self, peer: Make) -> None:
        found = peer("__import__('time').sleep(60)").count(collection.load("full"), 0.05)
        assert (found.solutions, found.complete) == (None, False)

    def test_ours_has_narrow_vectors_if_it_is_told_so(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        features = built.narrow_features().split(",")
        assert not any(feature.startswith("+avx512") for feature in features)
        assert "+sse2" in features or "+neon" in features
        monkeypatch.setattr(built, "widest", lambda: 512)
        assert OwnDriver(256).environment()["NUMBA_CPU_FEATURES"] == ",".join(features)
        assert "NUMBA_CPU_FEATURES" not in OwnDriver(512).environment()
        assert "AVX-512" not in OwnDriver(256).version()

    def test_schoku_tells_only_whether_there_is_one(self, schoku: Callable[..., Schoku]) -> None:
        assert schoku().version() == "0.9.6 AVX2"
        assert schoku().count_lines([ONE, FULL]).counts == [1, 1]
        with pytest.raises(GpusudokuError, match="1 of 2 puzzles have one solution"):
            schoku(several=1).count_lines([ONE, FULL])


# All but ours with narrow vectors, which would compile the search once more.
THERE = [program for program in built.entrants() if str(program) != str(OwnDriver(NARROW))]
THERE += [] if OwnDriver(NARROW).environment().get("NUMBA_CPU_FEATURES") else [OwnDriver(NARROW)]


@pytest.fixture
def conversation() -> tuple[list[str], list[int]]:
    """The boards of README.md's example, and what a driver prints."""
    text = Path(built.__file__).with_name("README.md").read_text(encoding="utf-8")
    boards = re.findall(r"^    ([.\d]{81})$", text, re.MULTILINE)
    counts = re.findall(r"^    (\d+)$", text, re.MULTILINE)
    assert len(boards) == len(counts) == 3
    return boards, [int(count) for count in counts]


@pytest.mark.parametrize("program", THERE, ids=str)
def test_programs_that_are_there(
    program: Driver, conversation: tuple[list[str], list[int]]
) -> None:
    reason = program.unusable_because()
    if reason is not None:
        pytest.skip(reason)
    assert program.version()[0].isdigit()
    boards, right = conversation
    if program.proves_only:
        boards, right = [boards[right.index(1)]], [1]
    counted = program.count_lines(boards, 600.0)
    assert counted.counts == right
    assert counted.seconds > 0
