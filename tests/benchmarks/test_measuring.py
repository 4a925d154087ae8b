"""Each script that measures runs with the smallest input, and finds wrong answers out."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import by_number
import listing
import making
import numpy as np
import pytest
import shares
from click.testing import CliRunner
from generated import random_boards

import gpusudoku
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import GpusudokuError, MismatchError
from tests import naive
from tests.boards import puzzle

LIST = "".join(f"{puzzle('3x3', clues, clues)}\n" for clues in (24, 28, 40))
"""Puzzles that singles do not all solve."""


@pytest.mark.parametrize(
    ("name", "arguments", "row"),
    [
        pytest.param("speed", "1a --repeats 1", "| 1a | 1 | ", marks=pytest.mark.slow),
        ("scaling", "1a --repeats 1", "| 1a | 1 | "),
        pytest.param("reading", "--lines 600 --repeats 1", "| ", marks=pytest.mark.slow),
        pytest.param("making", "-n 50 --repeats 1", "| minimal | Python | 2",
                     marks=pytest.mark.slow),
        pytest.param("knowing", "-n 100 --repeats 1", "| grids | `canonical` | ",
                     marks=pytest.mark.slow),
        pytest.param("memory", "--seconds 2", "| 25x25, no clues | ", marks=pytest.mark.slow),
        ("techniques", "--hard LIST --repeats 1", "| hard | "),
        pytest.param("waits", "--repeats 1", "| `solve PUZZLE` | 0.", marks=pytest.mark.slow),
        pytest.param("batches", "LIST --lines 2000 --repeats 1", "| list | `solve` | ",
                     marks=pytest.mark.slow),
        pytest.param("documents", "--repeats 1", "| decomposition-easy-9x9 | singles | 1 | 1 | ",
                     marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_script_measures_and_shows(name: str, arguments: str, row: str, tmp_path: Path) -> None:
    path, output = tmp_path / "list.txt", tmp_path / "out.json"
    path.write_text(LIST)
    words = [str(path) if word == "LIST" else word for word in arguments.split()]
    main = import_module(name).main
    done = CliRunner().invoke(main, ["--output", str(output), *words])
    assert done.exit_code == 0, (done.output, done.exception)
    assert row in done.stdout
    assert json.loads(output.read_text())["runs"]
    assert done.stdout.rstrip().endswith(f"`python benchmarks/{name}.py`*")
    assert CliRunner().invoke(main, ["--output", str(output), "--show"]).stdout == done.stdout
    assert str(tmp_path) not in output.read_text()


def test_listed_solutions_are_counted(
    run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out, _ = run(*listing.command("1b", 2)[3:])
    assert (status, out.count("\n")) == (0, 4715)

    monkeypatch.setattr(listing, "command", lambda *_: [sys.executable, "-ISc", "print()"])
    with pytest.raises(MismatchError, match="1b"):
        listing.measure(["1b"], 1, 1)


def test_numbers_and_shares_are_timed_and_checked(
    uncompiled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    [run], [board] = by_number.measure([30], 1, 5), random_boards(30, 1)
    count = naive.count(board, 1 << 12)
    assert (run["board"], run["count"], run["samples"]) == (str(board), str(count), 5)
    engine = make_engine(device="cpu")
    run = shares.measure_board(board, {"engine": engine, "device": "cpu"})
    assert (run["board"], run["count"]) == (str(board), str(count))
    assert shares.by_objects([board], engine) == count
    monkeypatch.setattr(gpusudoku.Solutions, "rank", lambda *_: -1)
    with pytest.raises(MismatchError, match="before a solution: -1"):
        by_number.measure([36], 1, 5)
    monkeypatch.setattr(gpusudoku.Solutions, "shares", lambda _: np.full((81, 9), 99, object))
    with pytest.raises(MismatchError, match="891 solutions counted"):
        shares.measure_board(random_boards(36, 1)[0], {"device": "cpu"})


def test_made_puzzles_are_timed_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    minimal, full = puzzle("3x3", 24, 24).cells, puzzle("3x3", 81, 24).cells
    case = making.Case("made", "Python", making.here(lambda seed: iter([full[None]] * seed)))
    cpu, made = case.run(3)
    assert (cpu >= 0, made.tolist()) == (True, [full.tolist()] * 3)
    making.checked(case, made)
    with pytest.raises(MismatchError, match="made, Python: a redundant clue"):
        making.checked(case._replace(minimal=True), made)
    with pytest.raises(MismatchError, match="made, Python: 2 solutions counted, 1 are right"):
        making.checked(case, np.zeros_like(full)[None])

    peer, printed = making.Peer("peer"), [str(gpusudoku.Board(minimal)), "0.5"]
    monkeypatch.setattr(peer, "output", lambda lines: "\n".join(printed))
    cpu, made = peer.minimised(full[None])
    assert (cpu, made.tolist()) == (0.5, [minimal.tolist()])
    with pytest.raises(MismatchError, match="expected a puzzle of each grid"):
        peer.minimised(np.roll(full, 1)[None])
    printed.pop()
    with pytest.raises(GpusudokuError, match="expected puzzles on lines, and the seconds"):
        peer.minimised(full[None])
