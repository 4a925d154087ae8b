"""Listings are timed in every way, and counted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import listing
import pytest

from gpusudoku.errors import MismatchError

WRITES = "import sys; sys.stdout.write('x' * 82 * {})"


def writing(lines: int) -> list[str]:
    return [sys.executable, "-c", WRITES.format(lines)]


def test_every_way_is_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "command", lambda way, name, threads: writing(4715))
    runs = listing.measure(["1b"], 1, 1)
    assert [(run["target"], run["way"]) for run in runs] == [
        (target, way) for target in listing.TARGETS for way in listing.WAYS
    ]
    assert all(run["solutions"] == 4715 and run["seconds"] > 0 < run["cpu"] for run in runs)


@pytest.mark.parametrize("lines", [4714, 4716])
def test_a_wrong_number_is_an_error(monkeypatch: pytest.MonkeyPatch, lines: int) -> None:
    monkeypatch.setattr(listing, "command", lambda way, name, threads: writing(lines))
    with pytest.raises(MismatchError, match="1b"):
        listing.measure(["1b"], 1, 1)


def test_a_file_is_written_again_from_its_beginning(tmp_path: Path) -> None:
    with (tmp_path / "lines").open("wb") as file:
        assert [listing.to_file(writing(lines), file) for lines in (3, 2)] == [246, 164]
    assert (tmp_path / "lines").stat().st_size == 246


def test_what_comes_through_a_pipe_is_counted() -> None:
    assert listing.through_pipe(writing(5)) == 5 * listing.LINE


@pytest.mark.parametrize("way", listing.WAYS)
def test_a_board_is_written(run: Callable[..., tuple[int, str, str]], way: str) -> None:
    _, *module, name, board = listing.command(way, "1b", 2)[:5]
    assert (module, name, board) == (["-m", "gpusudoku"], "enumerate", "@1b")
    status, out, _ = run(*listing.command(way, "1b", 2)[3:])
    assert (status, out.count("\n")) == (0, 4715)
