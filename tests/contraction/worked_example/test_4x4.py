"""The example by hand (section 4), and the files that the page names."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from math import prod

from gpusudoku.formats import parse
from tests import naive
from tests.contraction.worked_example.definitions import (
    Partition,
    bands_of,
    clues_of,
    count_by_codes,
    count_by_partitions,
    entries_of,
    orthogonal,
    partitions,
    split,
    stacks_of,
    tensor,
)
from tests.contraction.worked_example.page import (
    PAGE,
    PROSE,
    TABLES,
    board,
    partition,
    says,
)

BOARD = board()
CLUES = clues_of(BOARD)
PAIRS = {text: partition(text) for text in TABLES["multiplicity"][()]}
LINES = {
    f"{kind} {number}": entries_of(maps)
    for kind, lines in [("stack", stacks_of(CLUES)), ("band", bands_of(CLUES))]
    for number, maps in enumerate(lines, start=1)
}


def twice(columns: Partition) -> tuple[Partition, Partition]:
    return columns, columns


def test_the_three_partitions():
    assert set(PAIRS.values()) == set(partitions(range(1, 5), 2))
    assert says("in three ways: 12/34, 13/24 and 14/23.")
    for x, y in product(PAIRS.values(), repeat=2):
        assert orthogonal(x, y) == (x != y)


def test_multiplicities():
    table = {names[0]: row for names, row in TABLES["multiplicity"].items() if names}
    assert set(table) == set(LINES)
    for name, entries in LINES.items():
        assert all(upper == lower for upper, lower in entries)
        assert [int(m) for m in table[name]] == [entries[twice(x)] for x in PAIRS.values()]


def test_a_tensor_entry_that_is_zero():
    assert says(
        "W_1(13/24, 14/23) is 0: only 12/34 differs from both, and band 1 does not have it."
    )
    x = PAIRS["13/24"]
    y = PAIRS["14/23"]
    different = [z for z in PAIRS.values() if orthogonal(z, x) and orthogonal(z, y)]
    assert different == [PAIRS["12/34"]]
    assert LINES["band 1"][twice(different[0])] == 0
    assert tensor(LINES["band 1"], [x, y]) == 0


def test_the_sum():
    terms = {names: list(map(int, row)) for names, row in TABLES["x"].items() if names}
    assert TABLES["x"][()] == ["m(x)", "m(y)", "W_1", "W_2", "product"]
    pairs = product(LINES["stack 1"], LINES["stack 2"])
    assert {(PAIRS[x], PAIRS[y]) for x, y in terms} == {(x[0], y[0]) for x, y in pairs}
    for (x, y), (*factors, value) in terms.items():
        columns = [PAIRS[x], PAIRS[y]]
        of_x = LINES["stack 1"][twice(columns[0])]
        of_y = LINES["stack 2"][twice(columns[1])]
        elements = [tensor(LINES[f"band {band}"], columns) for band in (1, 2)]
        assert factors == [of_x, of_y, *elements]
        assert prod(factors) == value
    total = int(re.search(r"The board has \*\*(\d+)\*\* solutions", PROSE)[1])
    assert sum(term[-1] for term in terms.values()) == total
    assert total == naive.count(BOARD) == count_by_codes(CLUES) == count_by_partitions(CLUES)


def test_every_term_counts_the_solutions_with_its_partitions():
    solutions: Counter[tuple[Partition, ...]] = Counter()
    for cells in naive.solutions(BOARD):
        # Of the first band, which has the same partitions as the second one.
        columns = {(digit, i % 4 // 2): i % 2 for i, digit in enumerate(cells) if i < 8}
        codes = [[columns[digit, stack] for digit in range(1, 5)] for stack in (0, 1)]
        solutions[tuple(map(split, codes))] += 1
    for (x, y), row in list(TABLES["x"].items())[1:]:
        assert solutions[PAIRS[x], PAIRS[y]] == int(row[-1])


def test_the_empty_4x4():
    assert naive.count(parse("." * 16)) == count_by_codes([]) == count_by_partitions([]) == 288


def test_other_4x4_boards():
    for line in "1.2...3.........", "12..........3...", "1.....2....3....", "1..1............":
        clues = clues_of(parse(line))
        assert naive.count(parse(line)) == count_by_codes(clues) == count_by_partitions(clues)


def test_the_files_are_there():
    """A name without a folder is in the folder of the name before."""
    names = re.findall(r"`([\w/.]+)`", PROSE)
    assert len(names) >= 9
    folder = PAGE.parents[1]
    for name in names:
        path = PAGE.parents[1] / name if "/" in name else folder / name
        assert path.exists(), name
        folder = path if path.is_dir() else path.parent
