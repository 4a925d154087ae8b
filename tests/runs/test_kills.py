"""Runs that are killed at random moments and go on: each ends as one that nobody killed."""

from __future__ import annotations

import os
import random
import signal
import threading
from contextlib import suppress

import pytest

from gpusudoku import collection
from tests.boards import PUZZLE, puzzle
from tests.runs.kills import Killing

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="no forks"),
    pytest.mark.timeout(1800),
]

SHORT = "@1e --method search"
SEARCH = "@b8 --method search"
PARTS = f"{','.join(map(str, puzzle('2x4', 22, 1).cells))} --box 2x4"


def check_count(tmp_path, count, kills, *, seconds, saved, in_parts=False):
    """Begin with the command, go on with it or with ``resume``: ``Killing`` compares the output."""
    output = str(tmp_path / "count.txt")
    checkpoint = str(tmp_path / "run.sqlite")
    board, *options = count.split()
    given = [board.replace(",", " "), *options, "--checkpoint", checkpoint, "-o", output]
    first = ["count", *given]
    others = [["resume", checkpoint, "-j", "1"], [*first, "-j", "2"], ["resume", checkpoint]]
    killing = Killing(
        [first, *others], output, checkpoint, kills, seconds, saved=saved, in_parts=in_parts
    )
    tally = killing.run()
    assert tally["done"] > 0
    assert tally["saved"] >= saved


def test_a_count(tmp_path):
    check_count(tmp_path, SHORT, 3, seconds=0.3, saved=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "kills", "seconds", "saved", "in_parts"),
    [(SHORT, 5, 0.03, 0, False), (SEARCH, 25, 0.6, 4, False), (PARTS, 25, 0.6, 4, True)],
    ids=["at the beginning", "search", "parts"],
)
def test_a_count_many_times(tmp_path, count, kills, seconds, saved, in_parts):
    check_count(tmp_path, count, kills, seconds=seconds, saved=saved, in_parts=in_parts)


@pytest.mark.slow
def test_a_count_on_a_cluster_whose_workers_are_killed_as_well(tmp_path):
    """It goes on here and there; one of two workers is killed every three seconds."""
    pytest.importorskip("distributed", reason="Dask distributed is not installed")
    from tests.runs.clusters import cluster_of

    output = str(tmp_path / "count.txt")
    checkpoint = str(tmp_path / "run.sqlite")
    first = ["count", *SEARCH.split(), "--checkpoint", checkpoint, "-o", output]
    killed = []
    over = threading.Event()

    def kill():
        while not over.wait(3):  # soon after each other they could be four of the same work
            with suppress(Exception):  # of a worker that is not there just now
                pid = random.choice([*client.run(os.getpid).values()])
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    with cluster_of(2) as client:
        there = ["--cluster", client.scheduler.address]
        others = [[*first, *there], ["resume", checkpoint, *there], ["resume", checkpoint]]
        thread = threading.Thread(target=kill)
        thread.start()
        tally = Killing([first, *others], output, checkpoint, 12, 2.0, saved=4).run()
        over.set()
        thread.join()
    assert tally["done"] > 0
    assert len(killed) > 1


COMMANDS = {
    "ascending": ("enumerate @2c --sorted --json", 0.4),
    "from": ("enumerate @1f --from 100000 --to 130000 --format csv", 0.4),
    "search": ("enumerate @1c --method search", 0.4),
    "many": ("enumerate BOARDS --format csv", 0.6),
    "count": ("count BATCH", 0.3),
    "solve": ("solve PUZZLES --format csv", 0.3),
    "sample": ("sample DRAWN -n 9 --seed 3", 0.5),
    "sample-one": ("sample @1c -n 30000 --seed 3 --json", 0.4),
    "weighted": ("sample @1c --nearly -n 600 --seed 3 --json", 0.6),
    "shares": ("shares BATCH --json", 0.3),
    "estimates": ("count ESTIMATED --estimate --samples 30 --json", 0.4),
    "part": ("count BATCH --part 2/2 --force", 0.3),
}
"""Commands that write a file, and how many seconds a run lives at most."""


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_listings_and_batches(tmp_path, name):
    arguments, seconds = COMMANDS[name]
    puzzles = [PUZZLE, str(collection.load("1a")), str(collection.load("2a"))]
    some = [*puzzles, str(collection.load("2b")), "11" + "." * 79, str(collection.load("1b"))]
    files = {
        "BOARDS": [*some, str(collection.load("2c")), *some] * 2,
        "BATCH": some * 200,
        "PUZZLES": puzzles * 4000,
        "ESTIMATED": ["." * 36] * 20,
        "DRAWN": [*puzzles, str(collection.load("1c"))] * 20,
    }
    for each, boards in files.items():
        (tmp_path / each).write_text("".join(f"{board}\n" for board in boards))
    out = str(tmp_path / "out.txt")
    run_file = str(tmp_path / "a.run")
    own = [str(tmp_path / each) if each in files else each for each in arguments.split()]
    first = [*own, "-o", out, "--checkpoint", run_file, "-q"]
    commands = [first, [*first, "-j", "1"], [*first, "-j", "2"], ["resume", run_file]]
    tally = Killing(commands, out, run_file, 8, seconds, in_order=name != "search").run()
    assert tally["done"] > 0
