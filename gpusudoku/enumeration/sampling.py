"""Uniform random numbers, each a function of a seed, its index and an attempt alone.

The raw bits are those of Philox 4x64 with ten rounds (Salmon et al. 2011, "Parallel random numbers:
as easy as 1, 2, 3"), which makes four words from a key, here the seed, and a counter of four words:

====  ==========================================================================
word  of the counter
====  ==========================================================================
0, 1  the index: that of the number, or of the four words that it is made from
2     the attempt: 0 for the first object with a number, 1 for the one that replaces it, ...
3     the round, for numbers; for words of other uses KEYS, or a number after it
====  ==========================================================================

NumPy promises that these streams never change; ``philox`` computes the same for any counters at
once. The reduction to numbers below a count is our own: the remainder of a whole word, or of some
words together as one integer, if that is less than the largest multiple of the count that fits;
else another is drawn. So every number has exactly the same chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
KEYS = 1 << 63
"""The least last word of the counters of other uses. No number needs this many rounds."""
FIRST = 1 << 10
BLOCK = 1 << 18
"""Numbers that are drawn together, at first and at most: the first solutions come soon, and boards
with many pairs of partitions take as long for a few as for many."""
PIECE = 1 << 14
"""Numbers that are made at a time, as an interrupt waits for them."""

ROUNDS = 10
MULTIPLIERS = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
KEY_STEPS = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
"""The constants of Philox 4x64."""
WORD = (1 << WORD_BITS) - 1
HALF = np.uint64(32)
LOW = np.uint64((1 << 32) - 1)

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]


def checked_seed(seed: int) -> int:
    """Return a seed as a plain integer; InputError if it is out of range."""
    if not is_integer(seed) or not 0 <= seed < 1 << SEED_BITS:
        raise InputError(f"seed {described(seed)}: expected an integer from 0 to 2^{SEED_BITS} - 1")
    return int(seed)


def multiply(words: Words, factor: np.uint64) -> tuple[Words, Words]:
    """Multiply words by a word; return the high and the low words of the products."""
    a = words >> HALF
    b = words & LOW
    c = factor >> HALF
    d = factor & LOW
    middle = a * d
    middle += b * d >> HALF
    carried = b * c
    carried += middle & LOW
    return a * c + (middle >> HALF) + (carried >> HALF), words * factor


def philox(seed: int, counter: Sequence[Words]) -> list[Words]:
    """Make the four words of each counter; all are four uint64 (k), the lowest word first."""
    x0, x1, x2, x3 = counter
    keys = seed & WORD, seed >> WORD_BITS
    for _ in range(ROUNDS):
        (high0, low0) = multiply(x0, MULTIPLIERS[0])
        (high2, low2) = multiply(x2, MULTIPLIERS[1])
        x0 = high2 ^ x1 ^ np.uint64(keys[0])
        x1 = low2
        x2 = high0 ^ x3 ^ np.uint64(keys[1])
        x3 = low0
        keys = (keys[0] + KEY_STEPS[0]) & WORD, (keys[1] + KEY_STEPS[1]) & WORD
    return [x0, x1, x2, x3]


def random_words(seed: int, numbers: Ints, attempts: Ints, use: int) -> list[Words]:
    """Draw four random words for each pair of a number and an attempt: four uint64 (k).

    Different uses, from KEYS on, have different words, which are independent of the numbers that
    ``Uniform`` draws with the same seed. numbers and attempts are int64 (k), from 0 on.
    """
    index = numbers.astype(np.uint64)
    zeros = np.zeros(len(numbers), np.uint64)
    return philox(seed, (index, zeros, attempts.astype(np.uint64), zeros + np.uint64(use)))


class Uniform:
    """An endless sequence of independent, uniform numbers below a count, from a seed below 2^128.

    In every round number i has words of its own, those from i * w on, where w words are enough for
    the count. It takes those of the first round that are not refused.
    """

    def __init__(self, seed: int, count: int) -> None:
        self._seed = checked_seed(seed)
        self._count = count
        if count < 1:
            raise InputError("there are no solutions to take samples of")
        self._words = -(-count.bit_length() // WORD_BITS)
        """The number of words of a number."""
        all_values = 1 << WORD_BITS * self._words
        self._largest = all_values - all_values % count - 1
        """The largest value that is not refused."""
        self._dtype = np.dtype(np.int64 if count <= 1 << 63 else object)

    def numbers(self, first: int, last: int) -> NDArray[Any]:
        """Draw the numbers ``first`` to before ``last``: int64, or object if any may pass 2^63."""
        if last - first > PIECE:
            starts = range(first, last, PIECE)
            return np.concatenate([self.numbers(at, min(at + PIECE, last)) for at in starts])

        def draw(turn: int, refused: Ints) -> NDArray[Any]:
            start = int(refused[0])
            end = int(refused[-1]) + 1
            return self._drawn(turn, first + start, first + end)[refused - start]

        return self._reduced(last - first, draw)

    def at(self, numbers: Ints, attempts: Ints) -> NDArray[Any]:
        """Draw numbers by index and attempt, both int64 (k), from 0 on; see ``numbers``.

        Those of attempt 0 are those of ``numbers``.
        """
        if len(numbers) and not attempts.any() and (np.diff(numbers) == 1).all():
            return self.numbers(int(numbers[0]), int(numbers[-1]) + 1)
        pieces = [slice(at, at + PIECE) for at in range(0, max(1, len(numbers)), PIECE)]
        if len(pieces) > 1:
            return np.concatenate([self.at(numbers[piece], attempts[piece]) for piece in pieces])

        def draw(turn: int, refused: Ints) -> NDArray[Any]:
            return self._scattered(turn, numbers[refused], attempts[refused])

        return self._reduced(len(numbers), draw)

    def _reduced(self, n: int, draw: Callable[[int, Ints], NDArray[Any]]) -> NDArray[Any]:
        """Make n numbers from values that are drawn for a round and some indices below n."""
        check_cancelled()
        numbers = np.zeros(n, self._dtype)
        refused = np.arange(n)
        turn = 0
        while len(refused):
            values = draw(turn, refused)
            is_good = (values <= self._largest).astype(np.bool_)
            numbers[refused[is_good]] = values[is_good] % self._count
            refused = refused[~is_good]
            turn += 1
        return numbers

    def first(self, n: int, start: int = 0) -> Iterator[NDArray[Any]]:
        """Yield the first n numbers, in blocks, or those of them from the index ``start`` on."""
        size = min(FIRST, BLOCK)
        while start < n:
            end = min(start + size, n)
            yield self.numbers(start, end)
            start = end
            size = min(4 * size, BLOCK)

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
        return self._joined(np.asarray(raw, np.uint64)[skipped:].reshape(-1, self._words))

    def _scattered(self, turn: int, numbers: Ints, attempts: Ints) -> NDArray[Any]:
        """Draw the same for any indices and attempts."""
        high, low = multiply(numbers.astype(np.uint64), np.uint64(self._words))
        place = high << np.uint64(62) | low >> np.uint64(2)
        skipped = (low % WORDS).astype(np.int64)
        # So many values of the counter hold the words of a number, wherever in them it begins.
        values = 1 if WORDS % self._words == 0 else (self._words + WORDS - 2) // WORDS + 1
        found = list[Words]()
        for value in range(1, 1 + values):
            counter = place + np.uint64(value)
            carry = (high >> np.uint64(2)) + (counter < place)
            rounds = np.full(len(numbers), turn, np.uint64)
            found += philox(self._seed, (counter, carry, attempts.astype(np.uint64), rounds))
        places = skipped[:, None] + np.arange(self._words)
        return self._joined(np.take_along_axis(np.stack(found, axis=1), places, axis=1))

    def _joined(self, words: Words) -> NDArray[Any]:
        """Make one integer of each row of words."""
        drawn: NDArray[Any] = words[:, -1].astype(np.uint64 if self._words == 1 else object)
        for word in reversed(range(self._words - 1)):
            drawn = drawn << WORD_BITS | words[:, word].astype(object)
        return drawn
