"""The numbers in docs/contraction.md, computed again from the definitions.

Nothing here comes from the package but ``Board``, and everything is as plain as it can be: words
are tuples, partitions are sets of sets.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, permutations, product
from math import factorial, prod
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest

from gpusudoku import Board
from gpusudoku.formats import parse
from tests import naive

PAGE = Path(__file__).parents[2] / "docs" / "contraction.md"
TEXT = PAGE.read_text(encoding="utf-8")
PROSE = " ".join(TEXT.split())
"""The page without line breaks, for sentences."""

Partition = frozenset[frozenset[int]]


class Clue(NamedTuple):
    digit: int
    row: int
    column: int


# What the page says


def tables() -> dict[str, dict[tuple[str, ...], list[str]]]:
    """The tables of the page by the first field of their heads; rows by the names they begin with.

    A table of x and y names its rows by both; every other by one field. The head has the key ().
    """
    found: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for lines in re.findall(r"(?:^\|.*\n)+", TEXT, re.MULTILINE):
        head, _, *rows = [
            [field.strip() for field in line.strip("|\n").split("|")]
            for line in lines.splitlines(keepends=True)
        ]
        names = 2 if head[1] == "y" else 1
        table = {tuple(row[:names]): row[names:] for row in rows}
        assert len(table) == len(rows)
        found[head[0]] = {(): head[names:], **table}
    return found


TABLES = tables()


def partition(text: str) -> Partition:
    return frozenset(frozenset(map(int, digits)) for digits in text.split("/"))


def integer(text: str) -> int:
    assert re.fullmatch(r"\d{1,3}(,\d{3})*", text), text
    return int(text.replace(",", ""))


def says(sentence: str) -> bool:
    return sentence in PROSE


def board() -> Board:
    """The drawing of section 4."""
    lines = re.findall(r"^ {4}([1-4.]) ([1-4.]) \| ([1-4.]) ([1-4.])$", TEXT, re.MULTILINE)
    assert len(lines) == 4
    return parse("".join(map("".join, lines)))


# The definitions of section 2


def partitions(digits: Sequence[int], size: int) -> Iterator[Partition]:
    """Every split of the digits into sets of a size."""
    if not digits:
        yield frozenset()
        return
    first, *others = digits
    for rest in combinations(others, size - 1):
        block = frozenset({first, *rest})
        for more in partitions([d for d in others if d not in block], size):
            yield more | {block}


def orthogonal(one: Partition, other: Partition) -> bool:
    return all(len(a & b) == 1 for a in one for b in other)


def line_maps(
    digits: int, crossing: int, clues: Iterable[tuple[int, int, int]] = ()
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every map of a stack (or band): for each band (or stack) it crosses, the word of that box.

    Digits take a permutation each, in all ways that leave no column with too many digits. A clue is
    a digit, what it crosses, and the column that it has there.
    """
    wanted = list(clues)
    size = digits // crossing
    counts = [[0] * crossing for _ in range(crossing)]
    chosen: list[tuple[int, ...]] = []

    def extend(digit: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        if digit > digits:
            yield tuple(zip(*chosen, strict=True))
            return
        for way in permutations(range(crossing)):
            if any(d == digit and way[i] != column for d, i, column in wanted):
                continue
            if any(counts[i][column] == size for i, column in enumerate(way)):
                continue
            for i, column in enumerate(way):
                counts[i][column] += 1
            chosen.append(way)
            yield from extend(digit + 1)
            chosen.pop()
            for i, column in enumerate(way):
                counts[i][column] -= 1

    return extend(1)


def split(word: Sequence[int]) -> Partition:
    """The partition of a word: which digits share a column."""
    sets = defaultdict(set)
    for digit, column in enumerate(word, start=1):
        sets[column].add(digit)
    return frozenset(map(frozenset, sets.values()))


def clues_of(board: Board) -> list[Clue]:
    n = board.n
    return [Clue(d, i // n, i % n) for i, d in enumerate(board.cells.tolist()) if d]


def stacks_of(clues: Sequence[Clue]) -> list[list[tuple[tuple[int, ...], ...]]]:
    """The maps of both stacks of a 4x4 board."""
    return [
        list(line_maps(4, 2, [(d, r // 2, c % 2) for d, r, c in clues if c // 2 == stack]))
        for stack in range(2)
    ]


def bands_of(clues: Sequence[Clue]) -> list[list[tuple[tuple[int, ...], ...]]]:
    return stacks_of([Clue(d, c, r) for d, r, c in clues])


def listed(maps: Iterable[tuple[tuple[int, ...], ...]]) -> Counter[tuple[Partition, ...]]:
    """A list: tuples of partitions with their multiplicities."""
    return Counter(tuple(map(split, words)) for words in maps)


def tensor(band: Counter[tuple[Partition, ...]], columns: Sequence[Partition]) -> int:
    """W at the given column partitions."""
    return sum(
        multiplicity for rows, multiplicity in band.items() if all(map(orthogonal, rows, columns))
    )


def by_words(clues: Sequence[Clue]) -> int:
    """Step 3 for a 4x4 board: the sum over words, every box bijection tried."""
    bands = bands_of(clues)

    def bijective(rows: Sequence[int], columns: Sequence[int]) -> bool:
        return len(set(zip(rows, columns, strict=True))) == 4

    return sum(
        prod(
            sum(all(bijective(rows[j], stacks[j][i]) for j in range(2)) for rows in bands[i])
            for i in range(2)
        )
        for stacks in product(*stacks_of(clues))
    )


def by_partitions(clues: Sequence[Clue]) -> int:
    """Step 4 for a 4x4 board."""
    bands = list(map(listed, bands_of(clues)))
    return sum(
        prod(multiplicities)
        * prod(tensor(bands[i], [columns[i] for columns in stacks]) for i in range(2))
        for entries in product(*(listed(maps).items() for maps in stacks_of(clues)))
        for stacks, multiplicities in [tuple(zip(*entries, strict=True))]
    )


# Section 4: the board by hand

BOARD = board()
CLUES = clues_of(BOARD)
PAIRS = {text: partition(text) for text in TABLES["multiplicity"][()]}
LINES = {
    f"{kind} {number}": listed(maps)
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


def test_an_entry_of_a_list_is_one_partition():
    for entries in LINES.values():
        assert all(one == other for one, other in entries)


@pytest.mark.parametrize("line", LINES)
def test_multiplicities(line: str):
    printed = TABLES["multiplicity"][line,]
    assert [int(m) for m in printed] == [LINES[line][twice(x)] for x in PAIRS.values()]
    assert set(TABLES["multiplicity"]) == {(), *((name,) for name in LINES)}


@pytest.mark.parametrize("band", [1, 2])
def test_tensors(band: int):
    head, *rows = TABLES[f"W_{band}"].items()
    assert head[1] == list(PAIRS)
    for (x,), printed in rows:
        found = [tensor(LINES[f"band {band}"], [PAIRS[x], y]) for y in PAIRS.values()]
        assert list(map(int, printed)) == found
    # Rows are left out only where stack 1 has no map.
    assert {PAIRS[x] for (x,), _ in rows} == {x for x, _ in LINES["stack 1"]}


def test_one_entry_explained():
    assert says("For W_1(13/24, 14/23), say, only 12/34 is left, and band 1 does not have it.")
    x, y = PAIRS["13/24"], PAIRS["14/23"]
    left = [z for z in PAIRS.values() if orthogonal(z, x) and orthogonal(z, y)]
    assert left == [PAIRS["12/34"]]
    assert LINES["band 1"][twice(left[0])] == 0


def test_the_sum():
    terms = {names: list(map(int, row)) for names, row in TABLES["x"].items() if names}
    assert TABLES["x"][()] == ["m(x)", "m(y)", "W_1", "W_2", "product"]
    pairs = product(LINES["stack 1"], LINES["stack 2"])
    assert {(PAIRS[x], PAIRS[y]) for x, y in terms} == {(x[0], y[0]) for x, y in pairs}
    for (x, y), (*factors, value) in terms.items():
        columns = [PAIRS[x], PAIRS[y]]
        many = [LINES["stack 1"][twice(columns[0])], LINES["stack 2"][twice(columns[1])]]
        ways = [tensor(LINES[f"band {band}"], columns) for band in (1, 2)]
        assert factors == [*many, *ways]
        assert prod(factors) == value
    total = int(re.search(r"The board has \*\*(\d+)\*\* solutions", PROSE)[1])
    assert sum(term[-1] for term in terms.values()) == total
    assert total == naive.count(BOARD) == by_words(CLUES) == by_partitions(CLUES)


def test_every_term_counts_the_solutions_with_its_partitions():
    found: Counter[tuple[Partition, ...]] = Counter()
    for cells in naive.solutions(BOARD):
        column = {(d, i % 4 // 2): i % 2 for i, d in enumerate(cells) if i < 8}
        found[tuple(split([column[d, stack] for d in range(1, 5)]) for stack in (0, 1))] += 1
    for (x, y), row in list(TABLES["x"].items())[1:]:
        assert found[PAIRS[x], PAIRS[y]] == int(row[-1])


def test_the_empty_4x4():
    stack, band = listed(line_maps(4, 2)), listed(line_maps(4, 2))
    assert says("all twelve multiplicities are 2, and W(x, y) is 4 if x = y, else 2.")
    assert [*stack.values(), *band.values()] * 2 == [2] * 12
    squares = Counter()
    for x, y in product(PAIRS.values(), repeat=2):
        assert tensor(band, [x, y]) == (4 if x == y else 2)
        squares[x == y, tensor(band, [x, y]) ** 2] += 1
    assert says("There are 3 pairs x = y and 6 others")
    assert says("the sum of W_1 * W_2 is 3 * 16 + 6 * 4 = 72.")
    assert squares == {(True, 16): 3, (False, 4): 6}
    assert says("Each pair has m(x) m(y) = 4, and 4 * 72 = **288**.")
    assert naive.count(parse("." * 16)) == by_words([]) == by_partitions([]) == 4 * 72 == 288


@pytest.mark.parametrize(
    "line", ["1.2...3.........", "12..........3...", "1.....2....3....", "1..1............"]
)
def test_other_4x4_boards(line: str):
    clues = clues_of(parse(line))
    assert naive.count(parse(line)) == by_words(clues) == by_partitions(clues)


def test_a_forbidden_candidate_that_maps_do_not_see():
    """Section 7. The digit keeps candidates in both columns and both rows of its box."""
    assert says("forbidding 2 in the lower right corner leaves 10 of the 12 solutions")
    solutions = list(naive.solutions(BOARD))
    assert len(solutions) == 12
    assert sum(cells[15] != 2 for cells in solutions) == 10
    others = {i for cells in solutions for i in (10, 11, 14) if cells[i] == 2}
    assert {i // 4 for i in others} == {2, 3}
    assert {i % 4 for i in others} == {2, 3}


# Sections 2, 5 and 6: 9x9


@cache
def thirds() -> list[Partition]:
    return sorted(partitions(range(1, 10), 3), key=lambda p: sorted(map(sorted, p)))


@cache
def clue_free() -> Counter[tuple[Partition, ...]]:
    """The list of a stack without clues."""
    cached = cache(split)
    return Counter(tuple(map(cached, words)) for words in line_maps(9, 3))


@cache
def orthogonality() -> np.ndarray:
    return np.array([[orthogonal(x, y) for y in thirds()] for x in thirds()])


@cache
def clue_free_tensor() -> np.ndarray:
    """W of a band without clues: the list as an array, each index summed over what is orthogonal.

    In 32-bit floating point numbers, which are exact up to 2^24.
    """
    number = {p: i for i, p in enumerate(thirds())}
    result = np.zeros((280, 280, 280), np.float32)
    for entry, multiplicity in clue_free().items():
        result[tuple(number[p] for p in entry)] = multiplicity
    near = orthogonality().astype(np.float32)
    for _ in range(3):  # each time the first index is summed, and comes last
        result = np.tensordot(result, near, axes=(0, 0))
    assert result.max() < 2**24
    return result.astype(np.int64)


def test_partitions_of_nine_digits():
    assert says("A word is one of 1,680, a partition one of **280**")
    assert says("each is orthogonal to **36** others")
    assert len(set(thirds())) == len(thirds()) == 280
    assert 280 * factorial(3) == len(set(permutations((0, 0, 0, 1, 1, 1, 2, 2, 2)))) == 1680
    assert set(orthogonality().sum(axis=1).tolist()) == {36}


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3)])
def test_orthogonal_partitions_of_any_shape(rows: int, columns: int):
    digits = range(1, rows * columns + 1)
    assert says("((R!)^(C - 1) in general)")
    split_by_column = next(partitions(digits, rows))
    split_by_row = partitions(digits, columns)
    found = sum(orthogonal(split_by_column, other) for other in split_by_row)
    assert found == factorial(rows) ** (columns - 1)


def test_maps_of_a_stack():
    assert says("94,080 = 1,680 * 56 maps")
    assert says("only 15,400 distinct triples of partitions, of multiplicity 6 or 12")
    assert sum(clue_free().values()) == 94_080 == 1680 * 56
    assert len(clue_free()) == 15_400
    assert set(clue_free().values()) == {6, 12}
    completions = Counter(first for first, _, _ in clue_free())
    assert set(completions.values()) == {55}


def orbits() -> list[list[tuple[Partition, Partition]]]:
    """Pairs of partitions that relabelling takes to each other, by union-find.

    Exchanging 1 and 2 and moving every digit one up generate all relabellings.
    """
    number = {p: i for i, p in enumerate(thirds())}
    swap = {d: d for d in range(1, 10)} | {1: 2, 2: 1}
    turn = {d: d % 9 + 1 for d in range(1, 10)}
    images = [
        [number[frozenset(frozenset(map(g.get, block)) for block in p)] for p in thirds()]
        for g in (swap, turn)
    ]
    parent = list(range(280 * 280))

    def root(pair: int) -> int:
        while parent[pair] != pair:
            parent[pair] = parent[parent[pair]]
            pair = parent[pair]
        return pair

    for image in images:
        for pair in range(280 * 280):
            a, b = divmod(pair, 280)
            parent[root(pair)] = root(image[a] * 280 + image[b])
    found = defaultdict(list)
    for pair in range(280 * 280):
        a, b = divmod(pair, 280)
        found[root(pair)].append((thirds()[a], thirds()[b]))
    return list(found.values())


def test_orbits_of_pairs():
    assert says("at most 280 * 280 = 78,400 values")
    assert says("for each of 5 orbits")
    assert says("With a = 123/456/789 the orbits are")
    printed = {partition(b): integer(row[0]) for (b,), row in list(TABLES["b"].items())[1:]}
    found = orbits()
    assert len(found) == len(printed) == 5
    assert sum(printed.values()) == 280 * 280 == 78_400
    first = partition("123/456/789")
    for orbit in found:
        (size,) = (size for b, size in printed.items() if (first, b) in set(orbit))
        assert size == len(orbit)


def share(a: int, b: int) -> int:
    """S(a, b) of the empty board by its formula; the dot products are those of two matrices."""
    w = clue_free_tensor()
    number = {p: i for i, p in enumerate(thirds())}
    entries = np.array([[number[p] for p in entry] for entry in clue_free()])
    many = np.array(list(clue_free().values()))
    outer = [(entries[entries[:, 0] == x], many[entries[:, 0] == x]) for x in (a, b)]
    (k, of_k), (l, of_l) = outer  # noqa: E741 - as in the formula
    u = w[k[:, None, 1], l[None, :, 1]].reshape(-1, 280)
    v = w[k[:, None, 2], l[None, :, 2]] * (of_k[:, None] * of_l)[:, :, None]
    assert u.max() * v.max() * len(u) < 2**53  # so floating point numbers are exact
    dots = (u.T.astype(float) @ v.reshape(-1, 280).astype(float)).astype(np.int64)
    factors = many * w[a, b][entries[:, 0]]
    return sum((factors * dots[entries[:, 1], entries[:, 2]]).tolist())


def test_the_empty_9x9():
    first = thirds().index(partition("123/456/789"))
    rows = [(b, *map(integer, row)) for (b,), row in list(TABLES["b"].items())[1:]]
    for b, _, printed in rows:
        assert share(first, thirds().index(partition(b))) == printed
    total = sum(size * printed for _, size, printed in rows)
    assert total == 6_670_903_752_021_072_936_960
    assert says(f"Sizes times S add up to {total:,}.")
    assert says(f"the empty 9x9 board, with its {total:,} grids")
    assert says("the largest of the five values in the table is 97,034,115,530,096,640 < 2^57")
    assert max(printed for *_, printed in rows) == 97_034_115_530_096_640 < 2**57
    assert total > 2**64
    assert says("55 * 55 * 15,400 for each of 5 orbits, 232,925,000 together")
    assert (clue_free_tensor() > 0).all()
    assert 5 * 55 * 55 * 15_400 == 232_925_000


def test_bounds():
    largest = int(clue_free_tensor().max())
    assert says(
        "a multiplicity is at most 12, an entry of W at most 1,728 and an entry of V at most"
    )
    assert says("12 * 12 * 1,728 = 248,832.")
    assert largest == 1728
    assert 12 * 12 * 1728 == 248_832
    assert says("multiplicities become 1 and 2, an entry of W at most 288")
    assert says("2 * 2 * 288 = 1,152")
    assert says("288 * 1,152 * 3,025 = 1,003,622,400 < 2^31")
    assert {m // 6 for m in clue_free().values()} == {1, 2}
    assert largest // 6 == 288
    assert 2 * 2 * 288 == 1152 < 2**15
    assert 288 * 1152 * 55 * 55 == 1_003_622_400 < 2**31


# Section 3: the picture


def test_the_picture_is_there():
    name = re.search(r"!\[[^]]+\]\(([^)]+)\)", TEXT)[1]
    root = ElementTree.fromstring((PAGE.parent / name).read_text(encoding="utf-8"))
    sizes = {float(e.get("font-size")) for e in root.iter() if e.get("font-size")}
    assert min(sizes) >= 12
