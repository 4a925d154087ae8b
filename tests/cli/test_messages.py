"""What is said before a long count or listing."""

from __future__ import annotations

import re

import pytest

from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.jobs.watch import duration
from gpusudoku.options import Options
from gpusudoku.pipeline import progress
from gpusudoku.pipeline.progress import CountLine
from gpusudoku.pipeline.settings import InputOptions
from gpusudoku.pipeline.source import Source

TIME = r"about [0-9.e-]+ s\b"
LESS = "; use count to count them only, or --limit N to list N of them"


@pytest.fixture
def long(run, monkeypatch):
    """Run a command for which everything takes long; returns what it says before it begins."""
    monkeypatch.setattr(progress, "LONG_SECONDS", 0.0)

    def call(*arguments):
        status, _, err = run(*arguments, "-j", "2")
        assert status == 0
        lines = [line for line in err.splitlines() if "should take" in line]
        return [re.sub(TIME, "T s", line.removeprefix("gpusudoku: ")) for line in lines]

    return call


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "count @2d --method search",
            "the search should take T s on 2 threads; --method contraction T s;"
            " --limit N asks only for N solutions or more",
        ),
        (
            "count @2b --method contraction",
            "the contraction should take T s on 2 threads; --method search T s",
        ),
        (
            "count @2b --method search --part 1/2",
            "the part of the search should take T s on 2 threads",
        ),
        ("count @2b --limit 5", None),
        ("enumerate @2b --sorted", f"276 solutions: to list them should take T s{LESS}"),
        ("enumerate @2b --limit 5 --method search", None),
        ("sample @2b -n 9 --seed 1", "9 solutions: to draw them should take T s"),
    ],
)
def test_what_a_long_command_says(long, arguments, message):
    messages = long(*arguments.split())
    assert messages == ([] if message is None else [message])


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0123, "about 0.012 s"),
        (121, "about 2 minutes"),
        (7201, "about 2 hours"),
        (3 * 86400, "about 3 days"),
        (1e10, "decades"),
    ],
)
def test_times_in_words(seconds, text):
    assert duration(seconds) == text


def test_a_contraction_is_looked_for(tmp_path, capsys):
    file = tmp_path / "f"
    file.write_text(f"{'.' * 81}\n" * 2)
    source = Source([str(file)], InputOptions())
    options = Options(device="cpu")
    line = CountLine(source, options, CpuEngine(1), stats=False)
    for board, seconds in zip(source.singles(), (9 * 86400.0, float("inf")), strict=True):
        with line.working_on(board):
            line.estimating(seconds)
    looking = "looking for a contraction"
    assert capsys.readouterr().err == (
        f"gpusudoku: {file}:1: {looking}; the search would take about 9 days on one core\n"
        f"gpusudoku: {file}:2: {looking}\n"
    )


def test_a_module_that_is_cut_off_is_no_interrupt(run, monkeypatch):
    """As a full disk leaves it, where Python keeps what it compiles."""

    def cut_off(_):
        raise EOFError("marshal data too short")

    monkeypatch.setattr("gpusudoku.cli.commands.import_module", cut_off)
    status, out, err = run("boards")
    assert (status, out) == (1, "")
    assert err == (
        "gpusudoku: a compiled Python module is incomplete (marshal data too short): delete the"
        " folders __pycache__\n"
    )
