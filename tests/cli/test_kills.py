"""Listings and batches that are killed at random moments: in the end the file is the same."""

from __future__ import annotations

import os

import pytest

from gpusudoku import collection
from tests.boards import PUZZLE
from tests.runs.kills import Killing

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no forks")

OTHERS = (["-j", "1"], ["-j", "2"])
"""Options of the runs that go on, taken in turn."""
LISTINGS = {
    "quick": (["@1c", "--format", "csv"], 0.5),
    "ascending": (["@2c", "--sorted", "--json"], 0.4),
    "from": (["@1f", "--from", "100000", "--to", "130000", "--format", "csv"], 0.4),
    "search": (["@1c", "--method", "search"], 0.4),
    "batch": (["BOARDS", "--format", "csv"], 0.6),
}
"""Arguments, and how many seconds a run lives at most."""
BATCHES = {
    "count": (["count", "BATCH"], 0.3),
    "count-csv": (["count", "BATCH", "--format", "csv", "--limit", "2"], 0.3),
    "solve": (["solve", "PUZZLES"], 0.3),
    "solve-csv": (["solve", "PUZZLES", "--format", "csv"], 0.3),
    "sample": (["sample", "DRAWN", "-n", "9", "--seed", "3"], 0.5),
    "sample-one": (["sample", "@1c", "-n", "30000", "--seed", "3", "--json"], 0.4),
    "shares": (["shares", "BATCH"], 0.3),
    "part": (["count", "BATCH", "--part", "2/2", "--force"], 0.3),
}
FEW, MANY = 3, 13
"""Kills of each: together 50 of all listings at least, and of all batches."""


def cases(names, quick):
    """Each a few times if it is among those for every day, and many times if there is time."""
    slow = [pytest.mark.slow, pytest.mark.timeout(120)]
    return [(name, FEW) for name in quick] + [
        pytest.param(name, MANY, marks=slow) for name in names
    ]


@pytest.fixture
def killed(tmp_path):
    """Kill a command many times; the number of times it was, at the least of it with a file."""
    puzzles = [PUZZLE, str(collection.load("1a")), str(collection.load("2a"))]
    some = [*puzzles, str(collection.load("2b")), "11" + "." * 79, str(collection.load("1b"))]
    files = {
        "BOARDS": "\n".join([*some, str(collection.load("2c")), *some] * 2),
        "BATCH": "\n".join(some * 200),
        "PUZZLES": "\n".join(puzzles * 4000),
        "DRAWN": "\n".join([*puzzles, str(collection.load("1c"))] * 20),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(f"{text}\n")

    def kill(arguments, kills, seconds, **settings):
        out, kept = str(tmp_path / "out.txt"), str(tmp_path / "a.run")
        own = [str(tmp_path / each) if each in files else each for each in arguments]
        first = [*own, "-o", out, "--checkpoint", kept, "-q"]
        commands = [first, *([*first, *others] for others in OTHERS), ["resume", kept]]
        told = Killing(commands, out, kept, kills, seconds, **settings).run()
        assert told["killed"] == kills
        assert told["done"] > 0
        return told

    return kill


@pytest.mark.parametrize(("name", "kills"), cases(LISTINGS, ["quick", "search", "batch"]))
def test_a_listing(killed, name, kills):
    arguments, seconds = LISTINGS[name]
    killed(["enumerate", *arguments], kills, seconds, in_order=name != "search")


@pytest.mark.parametrize(("name", "kills"), cases(BATCHES, ["count", "solve-csv"]))
def test_a_batch(killed, name, kills):
    arguments, seconds = BATCHES[name]
    killed(arguments, kills, seconds)
