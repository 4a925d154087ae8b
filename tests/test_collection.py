"""The boards of the project's own: files and manifest agree, and every method has their counts."""

from __future__ import annotations

import json
import re
from itertools import cycle, pairwise
from pathlib import Path

import pytest

import gpusudoku
from gpusudoku import Board, InputError, collection
from gpusudoku.collection import CollectionBoard
from gpusudoku.errors import GpusudokuError
from tests import naive
from tests.boards import SHAPES, run_uncompiled

ENTRIES = collection.entries()
SERIES = {"1": "abcdef", "2": "abcdef", "a": "12345678", "b": "12345678"}
METHODS = {"search", "backtracking", "naive", "clingo", "sat", "bands", "contraction"}
METHODS |= {"literature"}

COMPILED = {*SHAPES, "5x5"}
"""Boxes of boards that take some search. Others are counted sooner than kernels are compiled."""
LONG = {"16x16-solutions", "25x25-unique", "25x25-few", "36x36-few", "64x64-few"}
"""Contracted in some seconds, and one is refused."""
TOO_LONG = {"25x25-newspaper"}
"""Contracted in minutes only."""


def is_quick(entry: CollectionBoard) -> bool:
    """Whether the oracle counts a board in less than 0.3 s or so.

    It fills the first empty cell, so its time follows the solutions to list and the empty cells
    to fill blindly.
    """
    board = collection.load(entry.name)
    few_cells = board.geometry.cells <= 36 and entry.count <= 2_000
    few_empty = board.empty_cells <= 53 and entry.count <= 50
    return few_cells or few_empty or (entry.count == 0 and bool(board.conflicts))


def is_searched_soon(entry: CollectionBoard) -> bool:
    return entry.count <= (400_000 if str(entry.box) in COMPILED else 1000)


class TestFiles:
    def test_agree_with_the_manifest(self) -> None:
        for entry in ENTRIES:
            board = collection.load(entry.name)
            assert entry.file == f"{entry.name}.txt"
            assert (board.geometry, board.clues) == (entry.box, entry.clues)
            assert not board.conflicts or entry.count == 0
            assert not board.is_full or entry.count == (0 if board.conflicts else 1)

    def test_are_plain_grids(self) -> None:
        for entry in ENTRIES:
            text = (collection.folder() / entry.file).read_text(encoding="ascii")
            n = entry.box.n
            digits = [list(row) if n < 10 else row.split() for row in text.splitlines()]
            assert text.endswith("\n")
            assert [len(row) for row in digits] == [n] * n
            cells = [0 if cell == "." else int(cell) for row in digits for cell in row]
            assert Board(cells, entry.box) == collection.load(entry.name)

    def test_none_is_stray(self) -> None:
        there = {path.name for path in collection.folder().iterdir() if path.name != "__pycache__"}
        assert there == {"README.md", "manifest.json", *(entry.file for entry in ENTRIES)}


class TestManifest:
    def test_counts_say_where_they_come_from(self) -> None:
        for entry in ENTRIES:
            assert entry.confirmed, entry.name
            assert set(entry.confirmed) <= METHODS
            assert entry.searchable == (entry.count <= 10**9)
            by_one_program = len(entry.confirmed) == 1 and entry.searchable
            assert ("unconfirmed by a second program" in entry.note) == by_one_program
            assert re.fullmatch(r"\S.{0,148}\S", entry.note), entry.name

    def test_names_are_unique_and_easy_to_type_and_counts_are_strings(self) -> None:
        manifest = json.loads((collection.folder() / "manifest.json").read_text(encoding="utf-8"))
        names = [item["name"] for item in manifest]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)
        assert [entry.name for entry in ENTRIES] == names
        assert all(isinstance(item["count"], str) for item in manifest)

    def test_boards_differ(self) -> None:
        assert len({collection.load(entry.name) for entry in ENTRIES}) == len(ENTRIES)

    def test_series_stand_together_and_rise_from_a_single_solution(self) -> None:
        for series, letters in SERIES.items():
            steps = [collection.entry(series + step) for step in letters]
            first = ENTRIES.index(steps[0])
            assert ENTRIES[first : first + len(steps)] == steps
            assert steps[0].count == 1
            for step, following in pairwise(steps):
                assert step.count < following.count
                before, after = (collection.load(each.name).cells for each in (step, following))
                assert (after[after > 0] == before[after > 0]).all()
        for step in SERIES["b"]:  # symmetric about the centre
            clues = collection.load(f"b{step}").cells > 0
            assert (clues == clues[::-1]).all()


class TestOracle:
    def test_agrees(self) -> None:
        quick = [entry for entry in ENTRIES if is_quick(entry)]
        for entry in quick:
            assert naive.count(collection.load(entry.name)) == entry.count, entry.name
        assert len(quick) >= 25
        assert len({entry.box for entry in quick}) >= 10
        assert {0, 1, 2} < {entry.count for entry in quick}

    def test_has_limits_and_full_solutions_in_order(self) -> None:
        empty, few = collection.load("box2x2-empty"), collection.load("box2x3-few")
        limits = [0, 1, 5, 288, 999]
        assert [naive.count(empty, limit) for limit in limits] == [0, 1, 5, 288, 288]
        solutions = [*naive.solutions(few)]
        assert solutions == sorted(set(solutions))
        for solution in solutions:
            full = Board(solution, few.geometry)
            assert full.is_full
            assert not full.conflicts
            assert (full.cells[few.cells > 0] == few.cells[few.cells > 0]).all()


BOXES = sorted({str(entry.box) for entry in ENTRIES})


@pytest.mark.parametrize("box", BOXES)
class TestCounts:
    @pytest.fixture(autouse=True)
    def kernels(self, box: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Compiled ones, or not, as suits the boards."""
        if box not in COMPILED:
            run_uncompiled(monkeypatch)

    def test_of_a_search(self, box: str) -> None:
        ways = cycle([("min", 1), ("first", 2), ("min", 2), ("first", 1)])
        for entry in [entry for entry in ENTRIES if str(entry.box) == box]:
            board = collection.load(entry.name)
            strategy, jobs = next(ways) if box == "3x3" else ("min", None)
            how = {"device": "cpu", "method": "search", "strategy": strategy, "jobs": jobs}
            if not entry.searchable:
                found = gpusudoku.count(board, limit=1000, **how)  # type: ignore[arg-type]
                assert (found.count, found.exact) == (1000, False), entry.name
            elif is_searched_soon(entry):
                found = gpusudoku.count(board, **how)  # type: ignore[arg-type]
                assert (found.count, found.exact) == (entry.count, True), entry.name

    def test_of_a_contraction(self, box: str) -> None:
        for entry in [entry for entry in ENTRIES if str(entry.box) == box]:
            if entry.name not in {*LONG, *TOO_LONG, "box2x5-empty"}:
                board = collection.load(entry.name)
                found = gpusudoku.count(board, device="cpu", method="contraction")
                assert (found.count, found.method) == (entry.count, "contraction"), entry.name


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["min", "first"])
@pytest.mark.parametrize(
    "name", [each.name for each in ENTRIES if each.searchable and not is_searched_soon(each)]
)
def test_long_searches(name: str, strategy: str) -> None:
    how = {"device": "cpu", "method": "search", "strategy": strategy}
    found = gpusudoku.count(collection.load(name), **how)  # type: ignore[arg-type]
    assert found.count == collection.entry(name).count


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LONG))
def test_long_contractions(name: str) -> None:
    found = gpusudoku.count(collection.load(name), device="cpu", method="contraction")
    assert found.count == collection.entry(name).count


def test_a_board_that_is_too_expensive_to_contract() -> None:
    """Even in parts."""
    with pytest.raises(gpusudoku.TooExpensive):
        gpusudoku.count(collection.load("box2x5-empty"), device="cpu", method="contraction")


class TestNames:
    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("2g", "no board named '@2g': did you mean @2f? (gpusudoku boards lists them)"),
            ("2F", "no board named '@2F': did you mean @2f? (gpusudoku boards lists them)"),
            ("qqqq", "no board named '@qqqq' (gpusudoku boards lists them)"),
            ("", "no board named '@' (gpusudoku boards lists them)"),
        ],
    )
    def test_that_there_are_not(self, name: str, message: str) -> None:
        for ask in (collection.entry, collection.load):
            with pytest.raises(InputError) as caught:
                ask(name)
            assert str(caught.value) == message

    def test_have_an_at_sign_or_not(self) -> None:
        assert collection.load("@1a") == collection.load("1a")

    @pytest.mark.parametrize("shown", ["", "pyproject.toml"])
    def test_where_the_boards_are_missing(
        self, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(collection, "__file__", str(tmp_path / "gpusudoku" / "collection.py"))
        if shown:
            (tmp_path / shown).touch()
        with pytest.raises(GpusudokuError, match="boards are missing"):
            collection.folder.__wrapped__()

    @pytest.mark.parametrize("place", ["boards", "gpusudoku/boards"])
    def test_are_found_in_a_checkout_and_in_a_wheel(
        self, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(collection, "__file__", str(tmp_path / "gpusudoku" / "collection.py"))
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "manifest.json").touch()
        if place == "boards":
            (tmp_path / "pyproject.toml").touch()
        assert collection.folder.__wrapped__() == tmp_path / place
