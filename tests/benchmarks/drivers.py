"""Programs made up in the place of those that a person builds, for the tests of their race."""

from __future__ import annotations

from collections.abc import Callable

import one_core
from built import Driver

from gpusudoku import collection

Make = Callable[..., Driver]

FULL = str(collection.load("full"))
ONE = "." + FULL[1:]

CHECKED = [
    one_core.boards("puzzles", one_core.UNIQUE),
    one_core.boards("boards", one_core.OTHERS),
]
RIGHT = {
    line: count
    for each in CHECKED
    for line, count in zip(each.lines, each.known or (), strict=True)
}

ANSWERS = """
import sys
RIGHT = {right}
if sys.argv[1:] == ["--version"]:
    print("2.5 {vectors}")
else:
    lines = sys.stdin.read().split()
    assert all(len(line) == 81 for line in lines)
    print({counts}, {seconds}, sep="\\n")
"""
"""A driver: what it prints are expressions of the lines that it read."""

ALL_RIGHT = "*[RIGHT.get(line, 1) for line in lines]"

STATISTICS = """
import sys
if sys.argv[1] == "-h":
    print("schoku version: 0.9.6\\nSynopsis:")
else:
    assert sys.argv[1:4] == ["-t1", "-rM", "-x"]
    lines = open(sys.argv[4]).read().splitlines()
    print("schoku version: 0.9.6\\n     1    17.0/puzzle  puzzles entered and presets")
    print(f"  {{len(lines)}}  1000/s  puzzles solved")
    print("    {several}  puzzles had multiple solutions")
"""


def answers(counts: str = ALL_RIGHT, seconds: str = "0.5", vectors: str = "AVX2") -> str:
    """The source of a driver."""
    return ANSWERS.format(right=RIGHT, counts=counts, seconds=seconds, vectors=vectors)
