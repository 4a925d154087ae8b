"""The project's collection of boards: files, manifest and the counts of all methods agree."""

from __future__ import annotations

import json
import re
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

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
    """Return whether ``naive.count`` takes less than about 0.3 s."""
    board = collection.load(entry.name)
    few_cells = board.geometry.cells <= 36 and entry.count <= 2_000
    few_empty = board.empty_cells <= 53 and entry.count <= 50
    return few_cells or few_empty or (entry.count == 0 and bool(board.conflicts))


def is_searched_soon(entry: CollectionBoard) -> bool:
    return entry.count <= (400_000 if str(entry.box) in COMPILED else 1000)


def test_files_agree_with_the_manifest_and_are_plain_grids() -> None:
    for entry in ENTRIES:
        board = collection.load(entry.name)
        n = entry.box.n
        assert entry.file == f"{entry.name}.txt"
        assert (board.geometry, board.clues) == (entry.box, entry.clues)
        assert not board.conflicts or entry.count == 0
        assert not board.is_full or entry.count == (0 if board.conflicts else 1)
        text = (collection.folder() / entry.file).read_text(encoding="ascii")
        digits = [list(row) if n < 10 else row.split() for row in text.splitlines()]
        assert text.endswith("\n")
        assert [len(row) for row in digits] == [n] * n
        cells = [0 if cell == "." else int(cell) for row in digits for cell in row]
        assert Board(cells, entry.box) == board


def test_the_manifest() -> None:
    file_names = {path.name for path in collection.folder().iterdir() if path.name != "__pycache__"}
    assert file_names == {"README.md", "manifest.json", *(entry.file for entry in ENTRIES)}
    manifest = json.loads((collection.folder() / "manifest.json").read_text(encoding="utf-8"))
    names = [item["name"] for item in manifest]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)
    assert [entry.name for entry in ENTRIES] == names
    assert all(isinstance(item["count"], str) for item in manifest)
    assert len({collection.load(entry.name) for entry in ENTRIES}) == len(ENTRIES)
    for entry in ENTRIES:
        assert entry.confirmed, entry.name
        assert set(entry.confirmed) <= METHODS
        assert entry.searchable == (entry.count <= 10**9)
        by_one_program = len(entry.confirmed) == 1 and entry.searchable
        assert ("unconfirmed by a second program" in entry.note) == by_one_program
        assert re.fullmatch(r"\S.{0,148}\S", entry.note), entry.name


def test_series_are_consecutive_and_begin_with_one_solution() -> None:
    for series, letters in SERIES.items():
        steps = [collection.entry(series + step) for step in letters]
        start = ENTRIES.index(steps[0])
        assert ENTRIES[start : start + len(steps)] == steps
        assert steps[0].count == 1
        for step, next_step in pairwise(steps):
            assert step.count < next_step.count
            cells, next_cells = (collection.load(entry.name).cells for entry in (step, next_step))
            assert (next_cells[next_cells > 0] == cells[next_cells > 0]).all()
    for step in SERIES["b"]:  # symmetric about the centre
        clues = collection.load(f"b{step}").cells > 0
        assert (clues == clues[::-1]).all()


def test_naive_counts_agree() -> None:
    quick = [entry for entry in ENTRIES if is_quick(entry)]
    for entry in quick:
        assert naive.count(collection.load(entry.name)) == entry.count, entry.name
    assert len(quick) >= 25
    assert len({entry.box for entry in quick}) >= 10
    assert {0, 1, 2} < {entry.count for entry in quick}


QUICK = ("1x1", "2x2", "2x3", "3x3", "4x4")
BOXES = [
    pytest.param(box, marks=() if box in QUICK else pytest.mark.slow)
    for box in sorted({str(entry.box) for entry in ENTRIES})
]


@pytest.fixture
def kernels(box: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile kernels only where the boards need it."""
    if box not in COMPILED:
        run_uncompiled(monkeypatch)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("box", BOXES)
def test_counts_of_searches_and_contractions(box: str) -> None:
    ways = cycle([("min", 1), ("first", 2), ("min", 2), ("first", 1)])
    for entry in [entry for entry in ENTRIES if str(entry.box) == box]:
        board = collection.load(entry.name)
        strategy, jobs = next(ways) if box == "3x3" else ("min", None)
        how: Any = {"device": "cpu", "method": "search", "strategy": strategy, "jobs": jobs}
        if not entry.searchable:
            result = gpusudoku.count(board, limit=1000, **how)
            assert (result.count, result.exact) == (1000, False), entry.name
        elif is_searched_soon(entry):
            result = gpusudoku.count(board, **how)
            assert (result.count, result.exact) == (entry.count, True), entry.name
        if entry.name not in {*LONG, *TOO_LONG, "box2x5-empty"}:
            result = gpusudoku.count(board, device="cpu", method="contraction")
            assert (result.count, result.method) == (entry.count, "contraction"), entry.name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "how"),
    [
        *((entry.name, {"method": "search", "strategy": strategy})
          for entry in ENTRIES if entry.searchable and not is_searched_soon(entry)
          for strategy in ("min", "first")),
        *((name, {"method": "contraction"}) for name in sorted(LONG)),
    ],
)  # fmt: skip
def test_long_counts(name: str, how: Any) -> None:
    result = gpusudoku.count(collection.load(name), device="cpu", **how)
    assert result.count == collection.entry(name).count


def test_a_board_that_is_too_expensive_to_contract() -> None:
    """Even in parts."""
    with pytest.raises(gpusudoku.TooExpensive):
        gpusudoku.count(collection.load("box2x5-empty"), device="cpu", method="contraction")


def test_names() -> None:
    assert collection.load("@1a") == collection.load("1a")
    for name, message in (
        ("2F", "no board named '@2F': did you mean @2f? (gpusudoku boards lists them)"),
        ("qqqq", "no board named '@qqqq' (gpusudoku boards lists them)"),
        ("", "no board named '@' (gpusudoku boards lists them)"),
    ):
        for ask in (collection.entry, collection.load):
            with pytest.raises(InputError) as caught:
                ask(name)
            assert str(caught.value) == message


def test_boards_that_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "__file__", str(tmp_path / "gpusudoku" / "collection.py"))
    with pytest.raises(GpusudokuError, match="boards are missing"):
        collection.folder.__wrapped__()
