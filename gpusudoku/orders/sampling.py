"""Uniform random numbers, each a function of a seed and its index alone.

The raw bits are those of Philox 4x64, which makes every word of its stream from a key, here the
seed, and a counter. NumPy promises that these streams never change. The reduction to numbers below
a count is our own: the remainder of a whole word, or of some words together as one integer, if that
is less than the largest multiple of the count that fits; else another is drawn. So every number has
exactly the same chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.random import Philox
from numpy.typing import NDArray

from gpusudoku.errors import InputError, described
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.options import is_integer

SEED_BITS = 128
WORD_BITS = 64
WORDS = 4
"""The number of words that Philox makes of one value of its counter."""
ROUND = 1 << 192
"""The distance of the counter from one round to the next."""
FIRST, BLOCK = 1 << 10, 1 << 18
"""Numbers that are drawn together, at first and at most: the first solutions come soon, and boards
with many pairs of partitions take as long for a few as for many."""
PIECE = 1 << 14
"""Numbers that are made at a time, as an interrupt waits for them."""


class Uniform:
    """An endless sequence of independent, uniform numbers below a count, from a seed below 2^128.

    In every round number i has words of its own, those from i * w on, where w words are enough for
    the count. It takes those of the first round that are not refused.
    """

    def __init__(self, seed: int, count: int) -> None:
        if not is_integer(seed) or not 0 <= seed < 1 << SEED_BITS:
            raise InputError(
                f"seed {described(seed)}: expected an integer from 0 to 2^{SEED_BITS} - 1"
            )
        if count < 1:
            raise InputError("there are no solutions to take samples of")
        self._seed, self._count = int(seed), count
        self._words = -(-count.bit_length() // WORD_BITS)
        """The number of words of a number."""
        all_values = 1 << WORD_BITS * self._words
        self._largest = all_values - all_values % count - 1
        """The largest value that is not refused."""
        self._dtype = np.dtype(np.int64 if count <= 1 << 63 else object)

    def numbers(self, first: int, last: int) -> NDArray[Any]:
        """Draw the numbers ``first`` to before ``last``: int64, or object if any may pass 2^63."""
        if last - first > PIECE:
            parts = (range(first, last)[at : at + PIECE] for at in range(0, last - first, PIECE))
            return np.concatenate([self.numbers(part.start, part.stop) for part in parts])
        check_cancelled()
        found = np.zeros(last - first, self._dtype)
        left, turn = np.arange(last - first), 0
        while len(left):
            start, end = int(left[0]), int(left[-1]) + 1
            drawn = self._drawn(turn, first + start, first + end)[left - start]
            good = (drawn <= self._largest).astype(np.bool_)
            found[left[good]] = drawn[good] % self._count
            left, turn = left[~good], turn + 1
        return found

    def first(self, n: int, start: int = 0) -> Iterator[NDArray[Any]]:
        """Yield the first n numbers, in blocks, or those of them from the index ``start`` on."""
        size = min(FIRST, BLOCK)
        while start < n:
            end = min(start + size, n)
            yield self.numbers(start, end)
            start, size = end, min(4 * size, BLOCK)

    def distinct(self, n: int, start: int = 0) -> Iterator[NDArray[Any]]:
        """Yield the first n different numbers, at most the count, in blocks; see ``first``."""
        seen: set[int] = set()
        drawn = 0
        while (left := n - len(seen)) > 0:
            # So many draws that about twice as many numbers should be new as are left.
            last = drawn + min(BLOCK, 2 * left * self._count // (self._count - len(seen)))
            new: list[int] = []
            for at in range(drawn, last, PIECE):
                numbers = dict.fromkeys(self.numbers(at, min(at + PIECE, last)).tolist())
                fresh = [number for number in numbers if number not in seen]
                seen.update(fresh)
                new += fresh
            drawn = last
            new = new[max(0, start - (n - left)) : left]
            if new:
                yield np.array(new, self._dtype)

    def _drawn(self, turn: int, first: int, last: int) -> NDArray[Any]:
        """Draw some numbers in one round, before the reduction; their low words come first."""
        value, skipped = divmod(first * self._words, WORDS)
        size = skipped + (last - first) * self._words
        raw = Philox(counter=turn * ROUND + value, key=self._seed).random_raw(size)
        words = np.asarray(raw, np.uint64)[skipped:].reshape(last - first, self._words)
        drawn: NDArray[Any] = words[:, -1].astype(np.uint64 if self._words == 1 else object)
        for word in reversed(range(self._words - 1)):
            drawn = drawn << WORD_BITS | words[:, word].astype(object)
        return drawn
