"""Listings are timed in every way, and counted."""

from __future__ import annotations

import sys
from pathlib import Path

import list_products
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


def test_a_file_that_is_there_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    assert [listing.to_file(writing(lines), path) for lines in (3, 2)] == [246, 164]


def test_a_board_is_written_by_products(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    list_products.main("1b", 2)
    lines = capfdbinary.readouterr().out.splitlines()
    assert len({*lines}) == len(lines) == 4715
    assert {*map(len, lines)} == {81}


def test_commands_run() -> None:
    for way in listing.WAYS:
        assert listing.through_pipe(listing.command(way, "1b", 1)) == 4715 * listing.LINE
