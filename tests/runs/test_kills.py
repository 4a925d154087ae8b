"""Counts of one board that are killed at random moments and go on: each ends with the count."""

from __future__ import annotations

import os

import pytest

from tests.boards import puzzle
from tests.runs.kills import Killing

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX")

SHORT = ("@1e", "--method", "search")
SEARCH = ("@b8", "--method", "search")
PARTS = (" ".join(map(str, puzzle("2x4", 22, 1).cells)), "--box", "2x4")


def killing(tmp_path, count, kills, *, seconds, in_parts=False):
    """Begin with the command, and go on with it or with ``resume``, with other threads."""
    output, checkpoint = str(tmp_path / "count.txt"), str(tmp_path / "run.sqlite")
    first = ["count", *count, "--checkpoint", checkpoint, "-o", output]
    others = [["resume", checkpoint, "-j", "1"], [*first, "-j", "2"], ["resume", checkpoint]]
    return Killing([first, *others], output, checkpoint, kills, seconds=seconds, in_parts=in_parts)


@pytest.mark.timeout(900)
def test_a_search(tmp_path):
    told = killing(tmp_path, SHORT, 3, seconds=0.3).run()
    assert told["killed"] == 3
    assert told["done"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("count", "kills", "seconds", "in_parts"),
    [(SHORT, 5, 0.03, False), (SEARCH, 25, 0.6, False), (PARTS, 25, 0.6, True)],
    ids=["at the beginning", "search", "parts"],
)
def test_many_times(tmp_path, count, kills, seconds, in_parts):
    told = killing(tmp_path, count, kills, seconds=seconds, in_parts=in_parts).run()
    assert told["killed"] == kills
    assert told["saved"] >= kills // 5 - 1
    assert told["done"]
