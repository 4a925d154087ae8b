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
    by_codes,
    by_partitions,
    clues_of,
    list_entries,
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
PARTITIONS = {text: partition(text) for text in TABLES["multiplicity"][()]}
LINES = {
    f"{kind} {number}": list_entries(maps)
    for kind, lines in [("stack", stacks_of(CLUES)), ("band", bands_of(CLUES))]
    for number, maps in enumerate(lines, start=1)
}


def twice(columns: Partition) -> tuple[Partition, Partition]:
    return columns, columns


def test_the_three_partitions():
    assert set(PARTITIONS.values()) == set(partitions(range(1, 5), 2))
    assert says("in three ways: 12/34, 13/24 and 14/23.")
    for x, y in product(PARTITIONS.values(), repeat=2):
        assert orthogonal(x, y) == (x != y)


def test_multiplicities():
    table = {names[0]: row for names, row in TABLES["multiplicity"].items() if names}
    assert set(table) == set(LINES)
    for name, entries in LINES.items():
        assert all(upper == lower for upper, lower in entries)
        assert [int(m) for m in table[name]] == [entries[twice(x)] for x in PARTITIONS.values()]


def test_a_tensor_entry_that_is_zero():
    assert says(
        "W_1(13/24, 14/23) is 0: only 12/34 differs from both, and it has multiplicity 0 in band 1."
    )
    x = PARTITIONS["13/24"]
    y = PARTITIONS["14/23"]
    different = [z for z in PARTITIONS.values() if orthogonal(z, x) and orthogonal(z, y)]
    assert different == [PARTITIONS["12/34"]]
    assert LINES["band 1"][twice(different[0])] == 0
    assert tensor(LINES["band 1"], [x, y]) == 0


def test_the_sum():
    terms = {names: list(map(int, row)) for names, row in TABLES["x"].items() if names}
    assert TABLES["x"][()] == ["m(x)", "m(y)", "W_1", "W_2", "product"]
    entries = product(LINES["stack 1"], LINES["stack 2"])
    assert {(PARTITIONS[x], PARTITIONS[y]) for x, y in terms} == {(x[0], y[0]) for x, y in entries}
    for (x, y), (*factors, value) in terms.items():
        columns = [PARTITIONS[x], PARTITIONS[y]]
        x_multiplicity = LINES["stack 1"][twice(columns[0])]
        y_multiplicity = LINES["stack 2"][twice(columns[1])]
        band_counts = [tensor(LINES[f"band {band}"], columns) for band in (1, 2)]
        assert factors == [x_multiplicity, y_multiplicity, *band_counts]
        assert prod(factors) == value
    total = int(re.search(r"The board has \*\*(\d+)\*\* solutions", PROSE)[1])
    assert sum(term[-1] for term in terms.values()) == total
    assert total == naive.count(BOARD) == by_codes(CLUES) == by_partitions(CLUES)


def test_every_term_counts_the_solutions_with_its_partitions():
    counts: Counter[tuple[Partition, ...]] = Counter()
    for cells in naive.solutions(BOARD):
        upper_cells = enumerate(cells[:8])  # the lower boxes have the same partitions
        column = {(digit, cell % 4 // 2): cell % 2 for cell, digit in upper_cells}
        codes = [[column[digit, stack] for digit in range(1, 5)] for stack in (0, 1)]
        counts[tuple(map(split, codes))] += 1
    for (x, y), row in list(TABLES["x"].items())[1:]:
        assert counts[PARTITIONS[x], PARTITIONS[y]] == int(row[-1])


def test_the_empty_4x4():
    assert naive.count(parse("." * 16)) == by_codes([]) == by_partitions([]) == 288


def test_other_4x4_boards():
    for line in "1.2...3.........", "12..........3...", "1.....2....3....", "1..1............":
        clues = clues_of(parse(line))
        assert naive.count(parse(line)) == by_codes(clues) == by_partitions(clues)


def test_the_files_are_there():
    """A file named without a folder is in the folder that the page names before it."""
    names = re.findall(r"`([\w/.]+)`", PROSE)
    assert len(names) >= 9
    folder = PAGE.parents[1]
    for name in names:
        path = PAGE.parents[1] / name if "/" in name else folder / name
        assert path.exists(), name
        folder = path if path.is_dir() else path.parent
