"""Samples: the specified random numbers, without bias, each determined by its index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.random import Philox
from numpy.typing import NDArray

from gpusudoku import Board, Solutions, collection
from gpusudoku.board.batch import sort_keys
from gpusudoku.enumeration import sampling
from gpusudoku.enumeration.sampling import Uniform
from gpusudoku.enumeration.solutions import solutions
from gpusudoku.errors import InputError
from tests.boards import puzzle
from tests.enumeration.chances import assert_frequencies, assert_uniform
from tests.enumeration.short import short_lists

COUNTS = [1, 3, 288, 2**32 + 1, 2**63, 2**64 - 1, 2**64, 2**64 + 1, 2**127 + 3, 2**192, 10**60]
WORD = (1 << 64) - 1
PART = Board([1, 2, 3, 4, *[0] * 12])
"""A board of 4x4 cells with twelve solutions."""


def philox(key: int, counter: int) -> list[int]:
    """Compute four words of Philox 4x64 with ten rounds, in plain integers."""
    keys = [key & WORD, key >> 64]
    words = [counter >> 64 * place & WORD for place in range(4)]
    for _ in range(10):
        first_product = 0xD2E7470EE14C6C93 * words[0]
        second_product = 0xCA5A826395121157 * words[2]
        words = [
            second_product >> 64 ^ words[1] ^ keys[0],
            second_product & WORD,
            first_product >> 64 ^ words[3] ^ keys[1],
            first_product & WORD,
        ]
        keys = [keys[0] + 0x9E3779B97F4A7C15 & WORD, keys[1] + 0xBB67AE8584CAA73B & WORD]
    return words


def number(seed: int, count: int, index: int, attempt: int = 0) -> int:
    """Compute random number ``index`` in plain integers."""
    words = -(-count.bit_length() // 64)
    turn = 0
    while True:
        places = range(index * words, (index + 1) * words)
        start = (turn << 192) + (attempt << 128) + 1
        drawn = [philox(seed, start + place // 4)[place % 4] for place in places]
        value = sum(word << 64 * place for place, word in enumerate(drawn))
        if value < (1 << 64 * words) // count * count:
            return value % count
        turn += 1


def test_the_published_words_of_philox() -> None:
    """The authors of Philox published them for zeros and for ones."""
    assert philox(0, 0) == [
        0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B,
    ]  # fmt: skip
    assert philox((1 << 128) - 1, (1 << 256) - 1) == [
        0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0,
    ]  # fmt: skip


@pytest.mark.parametrize("count", COUNTS)
def test_numbers_equal_a_plain_implementation(count: int) -> None:
    """Each number depends on its index alone."""
    for seed in (0, 2**64 + 3, 2**128 - 1):
        drawn = Uniform(seed, count).numbers(0, 20)
        assert drawn.tolist() == [number(seed, count, i) for i in range(20)]
        assert drawn.dtype == (np.int64 if count <= 2**63 else object)
    uniform = Uniform(5, count)
    whole = uniform.numbers(0, 300).tolist()
    for start, end in [(0, 1), (3, 11), (17, 300), (299, 300), (40, 40)]:
        assert uniform.numbers(start, end).tolist() == whole[start:end]
    far = 10**30
    assert uniform.numbers(far, far + 9).tolist()[4:] == uniform.numbers(far + 4, far + 9).tolist()


@pytest.mark.parametrize("seed", [0, 2**64 + 3, 2**128 - 1])
def test_philox_of_many_counters_is_that_of_numpy(seed: int) -> None:
    counters = np.random.default_rng(1).integers(0, WORD, (4, 50), np.uint64, endpoint=True)
    counters[:, :2] = 0, WORD
    results = np.stack(sampling.philox(seed, [*counters]), axis=1)
    for counter, words in zip(counters.T.tolist(), results, strict=True):
        previous_counter = sum(word << 64 * place for place, word in enumerate(counter)) - 1
        assert (Philox(counter=previous_counter % 2**256, key=seed).random_raw(4) == words).all()


@pytest.mark.parametrize("count", COUNTS)
def test_numbers_may_be_drawn_in_any_order_and_have_attempts(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in (0, 2**128 - 1):
        uniform = Uniform(seed, count)
        order = np.random.default_rng(2).permutation(40)
        attempts = order % 3
        pairs = zip(order.tolist(), attempts.tolist(), strict=True)
        expected = [number(seed, count, *pair) for pair in pairs]
        drawn = uniform.at(order, attempts)
        assert (drawn.tolist(), drawn.dtype) == (expected, uniform.numbers(0, 1).dtype)
        with monkeypatch.context() as patched:
            patched.setattr(sampling, "CHUNK", 7)
            assert uniform.at(order, attempts).tolist() == expected
        zeros = np.zeros(40, np.int64)
        assert (uniform.at(order, zeros) == uniform.numbers(0, 40)[order]).all()
        assert (uniform.at(np.arange(40), zeros) == uniform.numbers(0, 40)).all()
        largest = 2**63 - 1
        assert uniform.at(np.array([largest] * 2), zeros[:2])[1] == number(seed, count, largest)
        assert len(uniform.at(zeros[:0], zeros[:0])) == 0


def test_other_uses_draw_different_random_words() -> None:
    numbers = np.array([5, 2**63 - 1, 5])
    attempts = np.array([0, 7, 1])
    expected = [
        philox(9, (1 << 255) + (attempt << 128) + index)[0]
        for index, attempt in zip(numbers.tolist(), attempts.tolist(), strict=True)
    ]
    words, *_ = sampling.random_words(9, numbers, attempts, sampling.KEYS)
    assert words.tolist() == expected


def test_blocks_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "MAX_BLOCK", 7)
    uniform = Uniform(1, 1000)
    blocks = list(uniform.first(33))
    assert [len(block) for block in blocks] == [7, 7, 7, 7, 5]
    assert np.concatenate(blocks).tolist() == uniform.numbers(0, 33).tolist()
    assert list(uniform.first(0)) == list(uniform.distinct(0)) == []


@pytest.mark.parametrize("count", [288, 10**6])
def test_all_numbers_have_the_same_chance(count: int) -> None:
    """Chi-square over the numbers or a thousand runs, over pairs at a distance, and over seeds."""
    cells = min(count, 1000)
    drawn = Uniform(2024, count).numbers(0, 200_000)
    assert_uniform(drawn * cells // count, cells)
    tenths = drawn * 10 // count
    expected = np.diff([-(-k * count // 10) for k in range(11)]) / count
    for lag in (1, 64):
        pairs = np.bincount(tenths[:-lag] * 10 + tenths[lag:], minlength=100)
        assert_frequencies(pairs, np.outer(expected, expected).ravel() * (len(drawn) - lag))
    firsts = np.array([int(Uniform(seed, count).numbers(0, 1)[0]) for seed in range(3000)])
    assert_uniform(firsts * 10 // count, 10)


@pytest.mark.parametrize("block", [3, 1 << 16])
@pytest.mark.parametrize("count", [1, 2, 288])
def test_distinct_numbers_come_once_in_their_order(
    count: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "MAX_BLOCK", block)
    drawn = Uniform(3, count).numbers(0, 60 * count).tolist()
    expected = list(dict.fromkeys(drawn))
    assert sorted(expected) == list(range(count))
    for n in {0, 1, count // 2, count}:
        numbers = [value for block in Uniform(3, count).distinct(n) for value in block.tolist()]
        assert numbers == expected[:n]


def test_distinct_large_numbers() -> None:
    [block] = Uniform(3, 10**30).distinct(50)
    assert block.dtype == object
    assert block.tolist() == Uniform(3, 10**30).numbers(0, 50).tolist()


@pytest.mark.parametrize("seed", [-1, 2**128, 1.5, "7", True])
def test_seeds_out_of_range(seed: Any) -> None:
    with pytest.raises(InputError, match=r"seed .*: expected an integer from 0 to 2\^128 - 1"):
        Uniform(seed, 10)


def test_nothing_to_draw_from() -> None:
    with pytest.raises(InputError, match="there are no solutions to take samples of"):
        Uniform(1, 0)


def keys(rows: NDArray[np.uint8]) -> list[bytes]:
    return [row.tobytes() for row in rows]


@pytest.mark.usefixtures("uncompiled")
class TestSolutions:
    """Samples of the solutions of a board."""

    @pytest.fixture
    def all_solutions(self) -> Solutions:
        return solutions(PART, device="cpu")

    def test_a_longer_sample_begins_as_a_shorter_one(self, all_solutions: Solutions) -> None:
        whole = all_solutions.sample(200, seed=9)
        assert (whole.shape, whole.dtype) == ((200, 16), np.uint8)
        for n in (0, 1, 17):
            assert (all_solutions.sample(n, seed=9) == whole[:n]).all()
        assert (all_solutions.sample(200, seed=10) != whole).any()
        assert (all_solutions.sample(50) != all_solutions.sample(50)).any()
        assert (np.concatenate(list(all_solutions.sample_blocks(200, seed=9))) == whole).all()
        blocks = all_solutions.sample_blocks(10**9, seed=1)
        assert sum(len(next(blocks)) for _ in range(3)) > 1000

    def test_distinct(self, all_solutions: Solutions) -> None:
        picked = keys(all_solutions.sample(12, seed=5, distinct=True))
        assert len(set(picked)) == 12
        assert list(dict.fromkeys(keys(all_solutions.sample(300, seed=5)))) == picked
        assert keys(all_solutions.sample(4, seed=5, distinct=True)) == picked[:4]
        with pytest.raises(ValueError, match="13 distinct solutions: there are only 12"):
            all_solutions.sample(13, distinct=True)

    @pytest.mark.parametrize("n", [-1, 1.5, "7", None, True, 1 << 63])
    def test_wrong_sizes(self, all_solutions: Solutions, n: Any) -> None:
        with pytest.raises(InputError, match="expected an integer from 0 to"):
            all_solutions.sample_blocks(n)


@pytest.mark.parametrize("board", [PART, puzzle("2x3", 8, 1), puzzle("3x3", 28, 1)], ids=str)
def test_every_solution_has_the_same_chance(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds for contractions, too; the sample does not depend on the number of threads."""
    short_lists(monkeypatch)
    all_solutions = solutions(board, device="cpu", jobs=2)
    places = {key: place for place, key in enumerate(keys(np.asarray(all_solutions)))}
    picked = keys(all_solutions.sample(40 * all_solutions.count, seed=12))
    assert_uniform([places[key] for key in picked], all_solutions.count)
    assert keys(solutions(board, device="cpu", jobs=1).sample(50, seed=12)) == picked[:50]


@pytest.mark.slow
@pytest.mark.parametrize("one_order", [1 << 16, 1 << 20])
def test_samples_of_a_million_solutions(one_order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Listed and contracted: over runs of ranks, and from one to the next, and the one after."""
    monkeypatch.setattr("gpusudoku.enumeration.solution_set.IN_MEMORY_NINE", one_order)
    rows = np.asarray(solutions(collection.load("2d"), device="cpu"))
    assert len(rows) == collection.entry("2d").count > 10**6
    drawn = solutions(collection.load("2d"), device="cpu").sample(200_000, seed=12)
    ranks = np.searchsorted(sort_keys(rows), sort_keys(drawn))
    assert (rows[ranks] == drawn).all()
    assert_uniform(ranks * 1000 // len(rows), 1000)
    tenths = ranks * 10 // len(rows)
    for lag in (1, 2):
        assert_uniform(tenths[:-lag] * 10 + tenths[lag:], 100)
