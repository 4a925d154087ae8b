"""The figures of ``shares``: what is drawn, and what is refused before anything is worked out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpusudoku.formats import parse
from gpusudoku.listing import Solutions
from tests.boards import LINE_4X4
from tests.cli.counted import FORCED_4X4, NONE_4X4, counted

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.usefixtures("uncompiled", "matplotlib")


@pytest.fixture
def matplotlib():
    pytest.importorskip("matplotlib")


@pytest.mark.parametrize("text", [FORCED_4X4, NONE_4X4])
def test_every_digit_is_drawn(run, file, tmp_path, text):
    figure = tmp_path / "shares.svg"
    status, out, err = run("shares", file(text), "--plot", figure)
    board = parse(text)
    shares, drawn = counted(board), re.findall(r"<!-- (.*?) -->", figure.read_text())
    count = shares[0].sum()
    open_cells = (board.cells == 0) & ~((shares == count).any(axis=1) & (count > 0))
    title = f"{count} solutions" if count else "no solution"
    small = board.candidate_counts[open_cells].sum()
    assert status == 0
    assert out.startswith(title)
    assert err.endswith(f"gpusudoku: {figure} written\n")
    assert sum(text in "1234" for text in drawn) == small + (~open_cells).sum()
    assert drawn.count(title) == 1


@pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_same_figure_is_the_same_file(run, file, tmp_path, ending, magic):
    path, figure = file(LINE_4X4), tmp_path / f"shares.{ending}"
    assert run("shares", path, "--plot", figure)[0] == 0
    before = figure.read_bytes()
    assert before.startswith(magic)
    status, out, err = run("shares", path, "--plot", figure)
    assert (status, out) == (2, "")
    assert err == f"gpusudoku: {figure}: exists already; --force overwrites it\n"
    assert run("shares", path, "--plot", figure, "--force")[0] == 0
    assert figure.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("shares.gif", "expected a name that ends in .svg, .png, .pdf"),
        ("shares", "expected a name that ends in .svg, .png, .pdf"),
        ("nowhere/shares.svg", "there is no folder"),
        ("out.svg", "--output and --plot cannot both be written to it"),
    ],
)
def test_bad_names_are_refused_at_once(run, file, tmp_path, monkeypatch, name, message):
    monkeypatch.setattr(Solutions, "shares", None)  # whoever calls it fails
    output = tmp_path / "out.svg"
    command = ["shares", file(LINE_4X4), "--plot", tmp_path / name, "-o", output]
    status, out, err = run(*command)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert not output.exists()


def test_without_matplotlib(run, file, tmp_path, monkeypatch):
    monkeypatch.setattr("gpusudoku.bench.drawing.find_spec", lambda name: None)
    status, out, err = run("shares", file(LINE_4X4), "--plot", tmp_path / "shares.svg")
    assert (status, out) == (1, "")
    assert err.startswith(
        "gpusudoku: --plot needs matplotlib: pip install '.[bench]' in a checkout"
    )


def test_one_board_only(run, file, tmp_path):
    path, figure = file(f"{LINE_4X4}\n{LINE_4X4}\n"), tmp_path / "shares.svg"
    status, out, err = run("shares", path, "--plot", figure)
    assert (status, out) == (2, "")
    assert err == f"gpusudoku: --plot {figure}: there are several boards, and a figure shows one\n"
    assert not figure.exists()


def test_the_figure_of_the_page(run, tmp_path):
    """It has the texts that are drawn today; their places depend on the version of matplotlib."""
    figure = tmp_path / "shares.svg"
    assert run("shares", "@b3", "--plot", figure)[0] == 0
    drawn, kept = (path.read_text() for path in (figure, ROOT / "docs/shares.svg"))
    assert re.findall(r"<!-- (.*?) -->", kept) == re.findall(r"<!-- (.*?) -->", drawn)
