"""``shares``: its numbers against lists of all solutions, colours, and figures."""

from __future__ import annotations

import csv
import io
import json
import re
import sys

import numpy as np
import pytest

from gpusudoku import solutions
from gpusudoku.enumeration import share_queries
from gpusudoku.formats import parse
from tests import naive
from tests.boards import LINE_4X4, PUZZLE
from tests.cli.conftest import ROOT

NONE = "11" + "." * 14
FORCED = "12..34......2..."
"""With cells that all solutions agree on, and candidates that none has."""


def count(text, cell, digit):
    """Count the solutions of a board with one more clue."""
    return naive.count(parse(f"{text[:cell]}{digit}{text[cell + 1 :]}"))


def counted(board):
    """Return the shares of a board, from a list of all its solutions."""
    shares = np.zeros((board.geometry.cells, board.n), object)
    for solution in naive.solutions(board):
        shares[np.arange(len(solution)), np.array(solution) - 1] += 1
    return shares


@pytest.mark.parametrize("text", [LINE_4X4, FORCED, "." * 16, PUZZLE, NONE])
def test_records_have_the_numbers_of_a_full_list(run, text):
    shares = counted(parse(text))
    record = json.loads(run("shares", text, "--json")[1])
    assert record["shares"] == [[str(share) for share in row] for row in shares]
    assert record["count"] == str(shares[0].sum())
    rows = list(csv.DictReader(io.StringIO(run("shares", text, "--format", "csv")[1])))
    assert [[row[f"d{d + 1}"] for d in range(shares.shape[1])] for row in rows] == record["shares"]
    assert "".join(row["clue"] or "." for row in rows) == text


@pytest.mark.parametrize("text", [LINE_4X4, FORCED, "." * 16, PUZZLE, NONE])
def test_true_candidates_are_the_digits_of_a_full_list(run, text):
    is_true = counted(parse(text)) > 0
    record = json.loads(run("shares", text, "--candidates", "--json")[1])
    assert record["candidates"] == [(np.flatnonzero(row) + 1).tolist() for row in is_true]
    rows = csv.DictReader(io.StringIO(run("shares", text, "--candidates", "--format", "csv")[1]))
    digits = range(1, is_true.shape[1] + 1)
    assert [[row[f"d{d}"] == "1" for d in digits] for row in rows] == is_true.tolist()
    out = run("shares", text, "--candidates")[1]
    assert [*map(len, re.findall(r"\d+", out.partition("cells\n")[2]))] == (
        is_true.sum(axis=1).tolist() if is_true.any() else []
    )


@pytest.mark.parametrize("text", [LINE_4X4, FORCED, "." * 16])
def test_the_text_has_every_share(run, text):
    out = run("shares", text)[1]
    board = parse(text)
    shares = counted(board)
    count = shares[0].sum()
    lines = out.splitlines()
    assert lines[0] == f"{count} solutions"
    places = [(top, left) for top in (2, 5, 8, 11) for left in (2, 10, 18, 26)]
    for cell, (top, left) in enumerate(places):
        words = " ".join(lines[top + i][left : left + 5] for i in (0, 1)).split()
        [best] = [d + 1 for d in range(4) if shares[cell, d] == count] or [None]
        if best:
            assert words == [f"{best}" if board.cells[cell] else f"({best})"]
            continue
        assert words == [
            str(100 * share // count) if share
            else "x" if int(board.candidates[cell]) >> digit & 1 else "."
            for digit, share in enumerate(shares[cell])
        ]  # fmt: skip


def test_the_text_of_a_board_of_nine_digits_fits_a_terminal(run):
    lines = run("shares", "@2d")[1].splitlines()
    assert max(map(len, lines)) <= 100
    assert len(lines) < 48
    assert "100" not in "".join(lines[1:])  # what nearly all solutions have is 99 %


def test_those_nearest_to_half_come_first(run):
    out = run("shares", FORCED, "--halving", 3)[1]
    shares = counted(parse(FORCED))
    count = shares[0].sum()
    order = sorted(
        (abs(2 * share - count), cell, digit)
        for (cell, digit), share in np.ndenumerate(shares)
        if 0 < share < count
    )
    assert [row.split()[:3] for row in out.splitlines()[2:]] == [
        [f"r{cell // 4 + 1}c{cell % 4 + 1}", str(digit + 1), str(shares[cell, digit])]
        for _, cell, digit in order[:3]
    ]


class TestUnique:
    BOARDS = ("12..34......2...", "1....2" + "." * 10, "." * 16)
    """With placements, with pairs alone, and with neither."""

    def ways(self, text):
        solution_set = solutions(text)
        singles = solution_set.unique_placements().tolist()
        assert all(count(text, cell, digit) == 1 for cell, digit in singles)
        return singles or solution_set.unique_pairs().tolist()

    def test_the_text_has_placements_or_else_pairs(self, run):
        for text, size in zip(self.BOARDS, (2, 4, 0), strict=True):
            status, out, err = run("shares", text, "--unique", "--pairs", "-q")
            matches = [re.findall(r"r(\d)c(\d) = (\d)", line) for line in out.splitlines()]
            placements = [
                [x for row, column, digit in line
                 for x in (4 * int(row) + int(column) - 5, int(digit))]
                for line in matches
            ]  # fmt: skip
            assert (status, err, placements) == (0, "", self.ways(text))
            assert {*map(len, placements)} == ({size} if size else set())

    def test_without_pairs_there_are_none(self, run):
        status, out, err = run("shares", self.BOARDS[1], "--unique")
        assert (status, out) == (0, "")
        number = solutions(self.BOARDS[1]).count
        assert err.endswith(f"gpusudoku: {number} solutions: no placement leaves exactly one\n")

    @pytest.mark.parametrize("form", ["csv", "jsonl"])
    def test_a_record_of_each(self, run, file, form):
        boards = file("\n".join(self.BOARDS) + "\n", "boards.txt")
        output = boards.with_name("unique")
        status, out, err = run(
            "shares", boards, "--unique", "--pairs", "--format", form, "-o", output
        )
        assert (status, out) == (0, "")
        assert f"{boards}:3: 288 solutions: no placement and no pair leaves exactly one" in err
        lines = output.read_text().splitlines()
        rows = list(csv.DictReader(lines)) if form == "csv" else [*map(json.loads, lines)]
        names = ["row", "column", "digit", "row2", "column2", "digit2"]
        placements = [[int(row[name]) for name in ["line", *names] if row[name]] for row in rows]
        assert placements == [
            [line, *(x for c, d in zip(way[::2], way[1::2], strict=True)
                     for x in (c // 4 + 1, c % 4 + 1, d))]
            for line, text in enumerate(self.BOARDS, 1) for way in self.ways(text)
        ]  # fmt: skip

    def test_a_board_that_is_too_expensive_has_a_message(self, run, monkeypatch):
        monkeypatch.setattr(share_queries, "LISTED", 0)
        monkeypatch.setattr(share_queries, "COUNTED_SECONDS", 0)
        status, out, err = run(
            "shares", *self.BOARDS[:2], "--unique", "--pairs", "--format", "text", "-q"
        )
        assert (status, out.count("\n")) == (1, len(self.ways(self.BOARDS[0])))
        assert err.startswith("gpusudoku: <argument>:1: too expensive: this needs the shares of")


class TestColours:
    def test_they_are_where_they_are_asked_for_but_in_no_file(self, run, tmp_path):
        output = tmp_path / "shares.txt"
        plain = run("shares", LINE_4X4)[1]
        coloured = run("shares", LINE_4X4, "--color", "always")[1]
        assert "\x1b" not in plain
        assert len(set(re.findall(r"\x1b\[[0-9;]+m", coloured))) >= 4  # shares differ in shade
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
        assert run("shares", LINE_4X4, "-o", output, "--color", "always")[0] == 0
        assert output.read_text() == plain
        assert "\x1b" not in run("shares", LINE_4X4, "--color", "always", "--json")[1]

    def test_a_terminal_shows_them(self, run, monkeypatch):
        monkeypatch.delenv("NO_COLOR", raising=False)
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        assert "\x1b[" in run("shares", LINE_4X4)[1]
        assert "\x1b[" not in run("shares", LINE_4X4, "--color", "never")[1]
        monkeypatch.setenv("NO_COLOR", "1")
        assert "\x1b[" not in run("shares", LINE_4X4)[1]


class TestFigure:
    @pytest.fixture(autouse=True)
    def matplotlib(self):
        pytest.importorskip("matplotlib")

    @pytest.mark.parametrize("text", [FORCED, NONE])
    def test_every_digit_is_drawn(self, run, tmp_path, text):
        figure = tmp_path / "shares.svg"
        status, out, err = run("shares", text, "--plot", figure)
        board = parse(text)
        shares = counted(board)
        drawn = re.findall(r"<!-- (.*?) -->", figure.read_text())
        count = shares[0].sum()
        is_open = (board.cells == 0) & ~((shares == count).any(axis=1) & (count > 0))
        title = f"{count} solutions" if count else "no solution"
        assert (status, err.splitlines()[-1]) == (0, f"gpusudoku: {figure} written")
        assert out.startswith(title)
        small_digits = board.candidate_counts[is_open].sum()
        assert sum(text in "1234" for text in drawn) == small_digits + (~is_open).sum()
        assert drawn.count(title) == 1

    def test_the_same_figure_is_the_same_file(self, run, tmp_path):
        figure = tmp_path / "shares.png"
        assert run("shares", LINE_4X4, "--plot", figure)[0] == 0
        image = figure.read_bytes()
        assert image.startswith(b"\x89PNG")
        status, out, err = run("shares", LINE_4X4, "--plot", figure)
        assert (status, out) == (2, "")
        assert err == f"gpusudoku: {figure}: exists already; --force overwrites it\n"
        assert run("shares", LINE_4X4, "--plot", figure, "--force")[0] == 0
        assert figure.read_bytes() == image

    def test_that_of_the_page_has_the_texts_of_today(self, run, tmp_path):
        """Their places depend on the version of matplotlib."""
        figure = tmp_path / "shares.svg"
        assert run("shares", "@b3", "--plot", figure)[0] == 0
        drawn, page_text = (path.read_text() for path in (figure, ROOT / "docs/shares.svg"))
        assert re.findall(r"<!-- (.*?) -->", page_text) == re.findall(r"<!-- (.*?) -->", drawn)


def test_a_figure_needs_matplotlib(run, tmp_path, monkeypatch):
    monkeypatch.setattr("gpusudoku.plot_style.find_spec", lambda name: None)
    status, out, err = run("shares", LINE_4X4, "--plot", tmp_path / "shares.svg")
    assert (status, out) == (1, "")
    assert "--plot needs matplotlib: pip install '.[bench]' in a checkout" in err
