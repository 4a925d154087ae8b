"""The numbers of 9x9 boards (sections 2, 5 and 6), and of partitions of any shape."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cache
from itertools import permutations
from math import factorial

import numpy as np

from tests.contraction.worked_example.definitions import (
    Partition,
    line_maps,
    orthogonal,
    partitions,
    split,
)
from tests.contraction.worked_example.page import TABLES, integer, partition, says


@cache
def thirds() -> list[Partition]:
    return sorted(partitions(range(1, 10), 3), key=lambda p: sorted(map(sorted, p)))


@cache
def clue_free() -> Counter[tuple[Partition, ...]]:
    """The list of a stack without clues."""
    cached = cache(split)
    return Counter(tuple(map(cached, codes)) for codes in line_maps(9, 3))


@cache
def orthogonality() -> np.ndarray:
    return np.array([[orthogonal(x, y) for y in thirds()] for x in thirds()])


@cache
def clue_free_tensor() -> np.ndarray:
    """Compute W of a band without clues: the list as an array, each index contracted.

    It is computed in 32-bit floating point numbers, which are exact up to 2^24.
    """
    index = {p: i for i, p in enumerate(thirds())}
    result = np.zeros((280, 280, 280), np.float32)
    for entry, multiplicity in clue_free().items():
        result[tuple(index[p] for p in entry)] = multiplicity
    is_orthogonal = orthogonality().astype(np.float32)
    for _ in range(3):  # each time the first axis is contracted, and the new axis comes last
        result = np.tensordot(result, is_orthogonal, axes=(0, 0))
    assert result.max() < 2**24
    return result.astype(np.int64)


def test_partitions_of_nine_digits():
    assert says("There are 1,680 codes and **280** partitions.")
    assert says("Each partition is orthogonal to **36** partitions")
    assert len(set(thirds())) == len(thirds()) == 280
    assert 280 * factorial(3) == len(set(permutations((0, 0, 0, 1, 1, 1, 2, 2, 2)))) == 1680
    assert set(orthogonality().sum(axis=1).tolist()) == {36}


def test_orthogonal_partitions_of_any_shape():
    assert says("((R!)^(C - 1) in general)")
    for rows, columns in (2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3):
        digits = range(1, rows * columns + 1)
        split_by_column = next(partitions(digits, rows))
        split_by_row = partitions(digits, columns)
        count = sum(orthogonal(split_by_column, x) for x in split_by_row)
        assert count == factorial(rows) ** (columns - 1)


def test_maps_of_a_stack():
    assert says("94,080 = 1,680 * 56 maps")
    assert says("only 15,400 distinct triples of partitions, of multiplicity 6 or 12")
    assert sum(clue_free().values()) == 94_080 == 1680 * 56
    assert len(clue_free()) == 15_400
    assert set(clue_free().values()) == {6, 12}
    completions = Counter(x for x, _, _ in clue_free())
    assert set(completions.values()) == {55}


def orbits() -> list[set[tuple[Partition, Partition]]]:
    """Collect the pairs of partitions that relabelling takes to each other.

    The swap of 1 and 2 and the cycle of all digits generate all relabellings.
    """
    index = {p: i for i, p in enumerate(thirds())}
    swap = {digit: digit for digit in range(1, 10)} | {1: 2, 2: 1}
    cycle = {digit: digit % 9 + 1 for digit in range(1, 10)}
    # Each pair has a label, at first its own number. It takes the least label of its images until
    # nothing changes: then all pairs of an orbit have the same label.
    labels = np.arange(280 * 280).reshape(280, 280)
    is_changed = True
    while is_changed:
        old_labels = labels.copy()
        for relabelling in swap, cycle:
            image = [
                index[frozenset(frozenset(map(relabelling.get, digits)) for digits in p)]
                for p in thirds()
            ]
            labels = np.minimum(labels, labels[np.ix_(image, image)])
        is_changed = bool((labels != old_labels).any())
    pairs_by_label = defaultdict(set)
    for (a, b), label in np.ndenumerate(labels):
        pairs_by_label[int(label)].add((thirds()[a], thirds()[b]))
    return list(pairs_by_label.values())


def test_orbits_of_pairs():
    assert says("at most 280 * 280 = 78,400 values")
    assert says("for each of 5 orbits")
    assert says("With a = 123/456/789 the orbits are")
    printed = {partition(b): integer(row[0]) for (b,), row in list(TABLES["b"].items())[1:]}
    all_orbits = orbits()
    assert len(all_orbits) == len(printed) == 5
    assert sum(printed.values()) == 280 * 280 == 78_400
    a = partition("123/456/789")
    for orbit in all_orbits:
        (size,) = (size for b, size in printed.items() if (a, b) in orbit)
        assert size == len(orbit)


def pair_sum(a: int, b: int) -> int:
    """Compute S(a, b) of the empty board by its formula, all dot products as a matrix product."""
    w = clue_free_tensor()
    index = {p: i for i, p in enumerate(thirds())}
    entries = np.array([[index[p] for p in entry] for entry in clue_free()])
    multiplicity = np.array(list(clue_free().values()))
    outer = [(entries[entries[:, 0] == x], multiplicity[entries[:, 0] == x]) for x in (a, b)]
    (k, m_k), (l, m_l) = outer  # noqa: E741 - as in the formula
    u = w[k[:, None, 1], l[None, :, 1]].reshape(-1, 280)
    v = w[k[:, None, 2], l[None, :, 2]] * (m_k[:, None] * m_l)[:, :, None]
    assert u.max() * v.max() * len(u) < 2**53  # so floating point numbers are exact
    dots = (u.T.astype(float) @ v.reshape(-1, 280).astype(float)).astype(np.int64)
    factors = multiplicity * w[a, b][entries[:, 0]]
    return sum((factors * dots[entries[:, 1], entries[:, 2]]).tolist())


def test_the_empty_9x9():
    a = thirds().index(partition("123/456/789"))
    rows = [(b, *map(integer, row)) for (b,), row in list(TABLES["b"].items())[1:]]
    for b, _, printed in rows:
        assert pair_sum(a, thirds().index(partition(b))) == printed
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
        "a multiplicity is at most 12, an element of W is at most 1,728, and an element of V is"
    )
    assert says("is at most 12 * 12 * 1,728 = 248,832.")
    assert largest == 1728
    assert 12 * 12 * 1728 == 248_832
    assert says("multiplicities become 1 and 2. An element of W is at most 288")
    assert says("2 * 2 * 288 = 1,152")
    assert says("288 * 1,152 * 3,025 = 1,003,622,400 < 2^31")
    assert {m // 6 for m in clue_free().values()} == {1, 2}
    assert largest // 6 == 288
    assert 2 * 2 * 288 == 1152 < 2**15
    assert 288 * 1152 * 55 * 55 == 1_003_622_400 < 2**31
