"""The boards of the project's own: files and manifest agree, counts hold, names are found."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from gpusudoku import collection
from gpusudoku.board.board import Board
from gpusudoku.collection import CollectionBoard
from gpusudoku.errors import GpusudokuError, InputError
from tests import naive

ENTRIES = collection.entries()
SERIES = {"1": "abcdef", "2": "abcdef", "a": "12345678", "b": "12345678"}
METHODS = {"search", "backtracking", "naive", "clingo", "sat", "bands", "contraction"}
METHODS |= {"literature"}


def is_quick(entry: CollectionBoard) -> bool:
    """Whether the oracle counts a board in less than 0.3 s or so.

    It fills the first empty cell, so its time follows the solutions to list and the empty cells
    to fill blindly: up to 2,000 solutions of up to 36 cells, up to 50 of up to 53 empty cells, or a
    board that its clues contradict.
    """
    board = collection.load(f"@{entry.name}")
    few_cells = board.geometry.cells <= 36 and entry.count <= 2_000
    few_empty = board.empty_cells <= 53 and entry.count <= 50
    return few_cells or few_empty or (entry.count == 0 and bool(board.conflicts))


QUICK = [entry.name for entry in ENTRIES if is_quick(entry)]


def name_of(entry: CollectionBoard) -> str:
    return entry.name


@pytest.mark.parametrize("entry", ENTRIES, ids=name_of)
class TestEntry:
    def test_file_agrees_with_the_manifest(self, entry: CollectionBoard) -> None:
        board = collection.load(entry.name)
        assert entry.file == f"{entry.name}.txt"
        assert board.geometry == entry.box
        assert board.clues == entry.clues

    def test_file_is_a_plain_grid(self, entry: CollectionBoard) -> None:
        text = (collection.folder() / entry.file).read_text(encoding="ascii")
        n = entry.box.n
        digits = [list(row) if n < 10 else row.split() for row in text.splitlines()]
        assert text.endswith("\n")
        assert [len(row) for row in digits] == [n] * n
        cells = [0 if cell == "." else int(cell) for row in digits for cell in row]
        assert Board(cells, entry.box) == collection.load(entry.name)

    def test_count_says_where_it_comes_from(self, entry: CollectionBoard) -> None:
        assert entry.confirmed
        assert set(entry.confirmed) <= METHODS
        assert entry.searchable == (entry.count <= 10**9)
        by_one_program = len(entry.confirmed) == 1 and entry.searchable
        assert ("unconfirmed by a second program" in entry.note) == by_one_program

    def test_note_is_one_short_line(self, entry: CollectionBoard) -> None:
        assert re.fullmatch(r"\S.{0,148}\S", entry.note)

    def test_conflicting_clues_have_no_solution(self, entry: CollectionBoard) -> None:
        board = collection.load(entry.name)
        if board.conflicts:
            assert entry.count == 0
        elif board.is_full:
            assert entry.count == 1


def test_no_stray_files() -> None:
    there = {path.name for path in collection.folder().iterdir() if path.name != "__pycache__"}
    assert there == {"README.md", "manifest.json", *(entry.file for entry in ENTRIES)}


def test_counts_are_strings_in_the_manifest() -> None:
    manifest = json.loads((collection.folder() / "manifest.json").read_text(encoding="utf-8"))
    assert all(isinstance(item["count"], str) for item in manifest)


def test_names_are_unique_and_easy_to_type() -> None:
    names = [item["name"] for item in json.loads(_manifest())]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)
    assert [entry.name for entry in collection.entries()] == names


def test_boards_differ() -> None:
    assert len({collection.load(entry.name) for entry in ENTRIES}) == len(ENTRIES)


@pytest.mark.parametrize("series", SERIES)
def test_series_stand_together_and_rise_from_a_single_solution(series: str) -> None:
    steps = [collection.entry(series + step) for step in SERIES[series]]
    first = ENTRIES.index(steps[0])
    assert ENTRIES[first : first + len(steps)] == steps
    assert steps[0].count == 1
    for step, following in pairwise(steps):
        assert step.count < following.count
        before, after = collection.load(step.name).cells, collection.load(following.name).cells
        assert (after[after > 0] == before[after > 0]).all()


def test_series_b_is_symmetric_about_the_centre() -> None:
    for step in SERIES["b"]:
        clues = collection.load(f"b{step}").cells > 0
        assert (clues == clues[::-1]).all()


@pytest.mark.parametrize("name", QUICK)
def test_oracle_agrees(name: str) -> None:
    assert naive.count(collection.load(name)) == collection.entry(name).count


def test_oracle_sees_enough_of_every_kind() -> None:
    quick = [collection.entry(name) for name in QUICK]
    assert len(quick) >= 25
    assert len({entry.box for entry in quick}) >= 10
    assert {0, 1, 2} < {entry.count for entry in quick}


class TestOracle:
    @pytest.mark.parametrize(("limit", "found"), [(0, 0), (1, 1), (5, 5), (288, 288), (999, 288)])
    def test_limit(self, limit: int, found: int) -> None:
        assert naive.count(collection.load("box2x2-empty"), limit) == found

    def test_solutions_are_in_order_and_full(self) -> None:
        board = collection.load("box2x3-few")
        solutions = list(naive.solutions(board))
        assert solutions == sorted(set(solutions))
        for solution in solutions:
            full = Board(solution, board.geometry)
            assert full.is_full
            assert not full.conflicts
            assert (full.cells[board.cells > 0] == board.cells[board.cells > 0]).all()


class TestErrors:
    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("2g", "no board named '@2g': did you mean @2f? (gpusudoku boards lists them)"),
            ("2F", "no board named '@2F': did you mean @2f? (gpusudoku boards lists them)"),
            (
                "16x16-5",
                "no board named '@16x16-5': did you mean @16x16-two? (gpusudoku boards lists them)",
            ),
            ("qqqq", "no board named '@qqqq' (gpusudoku boards lists them)"),
            ("", "no board named '@' (gpusudoku boards lists them)"),
        ],
    )
    def test_unknown_name(self, name: str, message: str) -> None:
        for ask in (collection.entry, collection.load):
            with pytest.raises(InputError) as caught:
                ask(name)
            assert str(caught.value) == message

    @pytest.mark.parametrize("shown", ["", "pyproject.toml"])
    def test_boards_are_missing(
        self, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(collection, "__file__", str(tmp_path / "gpusudoku" / "collection.py"))
        if shown:
            (tmp_path / shown).touch()
        with pytest.raises(GpusudokuError, match="boards are missing"):
            collection.folder.__wrapped__()

    @pytest.mark.parametrize("place", ["boards", "gpusudoku/boards"])
    def test_boards_are_found_in_a_checkout_and_in_a_wheel(
        self, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(collection, "__file__", str(tmp_path / "gpusudoku" / "collection.py"))
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "manifest.json").touch()
        if place == "boards":
            (tmp_path / "pyproject.toml").touch()
        assert collection.folder.__wrapped__() == tmp_path / place


def _manifest() -> str:
    return (collection.folder() / "manifest.json").read_text(encoding="utf-8")
