"""Numbers drawn: from the bits that they should come from, without bias, and each by its index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpusudoku.errors import InputError
from gpusudoku.orders import sampling
from gpusudoku.orders.sampling import Uniform
from tests.orders.chances import assert_expected, assert_uniform

COUNTS = [1, 2, 3, 10, 288, 1000, 10**6, 2**32 + 1, 2**63, 2**63 + 5, 2**64 - 1, 2**64, 2**64 + 1,
          6_670_903_752_021_072_936_960, 2**127 + 3, 2**192, 10**60]  # fmt: skip
WORD = (1 << 64) - 1


def philox(key: int, counter: int) -> list[int]:
    """Four words of Philox 4x64 with ten rounds, in plain integers."""
    keys = [key & WORD, key >> 64]
    words = [counter >> 64 * place & WORD for place in range(4)]
    for _ in range(10):
        first, second = 0xD2E7470EE14C6C93 * words[0], 0xCA5A826395121157 * words[2]
        words = [
            second >> 64 ^ words[1] ^ keys[0],
            second & WORD,
            first >> 64 ^ words[3] ^ keys[1],
            first & WORD,
        ]
        keys = [keys[0] + 0x9E3779B97F4A7C15 & WORD, keys[1] + 0xBB67AE8584CAA73B & WORD]
    return words


def number(seed: int, count: int, index: int) -> int:
    """What number ``index`` should be, in plain integers."""
    words = -(-count.bit_length() // 64)
    turn = 0
    while True:
        places = range(index * words, (index + 1) * words)
        drawn = [philox(seed, (turn << 192) + place // 4 + 1)[place % 4] for place in places]
        value = sum(word << 64 * place for place, word in enumerate(drawn))
        if value < (1 << 64 * words) // count * count:
            return value % count
        turn += 1


def test_the_published_words_of_philox() -> None:
    """Those of its authors, for zeros and for ones."""
    assert philox(0, 0) == [
        0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B,
    ]  # fmt: skip
    assert philox((1 << 128) - 1, (1 << 256) - 1) == [
        0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0,
    ]  # fmt: skip


@pytest.mark.parametrize("count", COUNTS)
def test_numbers_are_what_they_should_be(count: int) -> None:
    for seed in (0, 7, 2**64 + 3, 2**128 - 1):
        drawn = Uniform(seed, count).numbers(0, 20)
        assert drawn.tolist() == [number(seed, count, i) for i in range(20)]
        assert drawn.dtype == (np.int64 if count <= 2**63 else object)


@pytest.mark.parametrize("count", COUNTS)
def test_a_number_depends_on_its_index_alone(count: int) -> None:
    uniform = Uniform(5, count)
    whole = uniform.numbers(0, 300).tolist()
    assert whole == Uniform(5, count).numbers(0, 300).tolist()
    for first, last in [(0, 1), (1, 2), (3, 11), (17, 300), (299, 300), (40, 40)]:
        assert uniform.numbers(first, last).tolist() == whole[first:last]
    far = 10**30
    assert uniform.numbers(far, far + 9).tolist()[4:] == uniform.numbers(far + 4, far + 9).tolist()


def test_blocks_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "BLOCK", 7)
    uniform = Uniform(1, 1000)
    blocks = list(uniform.first(33))
    assert [len(block) for block in blocks] == [7, 7, 7, 7, 5]
    assert np.concatenate(blocks).tolist() == uniform.numbers(0, 33).tolist()
    assert list(uniform.first(0)) == list(uniform.distinct(0)) == []


def test_seeds_and_counts_matter() -> None:
    drawn = {tuple(Uniform(seed, 10**9).numbers(0, 4).tolist()) for seed in range(50)}
    assert len(drawn) == 50
    assert Uniform(1, 10**9).numbers(0, 4).tolist() != Uniform(1, 10**9 + 7).numbers(0, 4).tolist()


@pytest.mark.parametrize("count", [10, 288, 1000, 10**6])
def test_all_numbers_have_the_same_chance(count: int) -> None:
    """Chi-square over the numbers, or over a thousand runs of them."""
    size, cells = 400_000, min(count, 1000)
    drawn = Uniform(2024, count).numbers(0, size)
    assert_uniform(drawn * cells // count, cells)


@pytest.mark.parametrize("count", [10, 288, 1000, 10**6])
@pytest.mark.parametrize("lag", [1, 2, 64])
def test_numbers_do_not_depend_on_those_before(count: int, lag: int) -> None:
    """A serial test: pairs of numbers that are so far from each other."""
    cells = 10
    drawn = Uniform(99, count).numbers(0, 200_000) * cells // count
    expected = np.diff([-(-k * count // cells) for k in range(cells + 1)]) / count
    pairs = np.bincount(drawn[:-lag] * cells + drawn[lag:], minlength=cells**2)
    assert_expected(pairs, np.outer(expected, expected).ravel() * (len(drawn) - lag))


@pytest.mark.parametrize("count", [10, 288, 1000, 10**6])
def test_seeds_do_not_depend_on_each_other(count: int) -> None:
    """The first numbers of as many seeds."""
    drawn = np.array([int(Uniform(seed, count).numbers(0, 1)[0]) for seed in range(3000)])
    assert_uniform(drawn * 10 // count, 10)


class TestDistinct:
    @pytest.mark.parametrize("block", [3, 1 << 16])
    @pytest.mark.parametrize("count", [1, 2, 10, 288, 1000])
    def test_every_number_once_in_the_order_in_which_it_comes(
        self, count: int, block: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sampling, "BLOCK", block)
        drawn = Uniform(3, count).numbers(0, 60 * count).tolist()
        wanted = list(dict.fromkeys(drawn))
        assert sorted(wanted) == list(range(count))
        for n in {0, 1, count // 2, count}:
            found = [each for block in Uniform(3, count).distinct(n) for each in block.tolist()]
            assert found == wanted[:n]

    def test_the_last_ones_are_drawn_many_at_a_time(self) -> None:
        uniform, calls = Uniform(1, 20_000), 0

        def numbers(first: int, last: int) -> Any:
            nonlocal calls
            calls += 1
            return Uniform(1, 20_000).numbers(first, last)

        uniform.numbers = numbers  # type: ignore[method-assign]
        assert sum(map(len, uniform.distinct(20_000))) == 20_000
        assert calls < 100

    def test_large_numbers(self) -> None:
        [block] = Uniform(3, 10**30).distinct(50)
        assert block.dtype == object
        assert block.tolist() == Uniform(3, 10**30).numbers(0, 50).tolist()


@pytest.mark.parametrize("seed", [-1, 2**128, 1.5, "7", True, None])
def test_seeds_out_of_range(seed: Any) -> None:
    with pytest.raises(InputError, match=r"seed .*: expected an integer from 0 to 2\^128 - 1"):
        Uniform(seed, 10)


def test_nothing_to_draw_from() -> None:
    with pytest.raises(InputError, match="there are no solutions to take samples of"):
        Uniform(1, 0)
