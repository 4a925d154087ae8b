"""Uniform random numbers, each determined by a seed, its index and an attempt.

The raw bits come from Philox 4x64 with ten rounds (Salmon et al. 2011, "Parallel random numbers: as
easy as 1, 2, 3"). It computes four words from a key, here the seed, and a counter of four words:

====  ==========================================================================
word  of the counter
====  ==========================================================================
0, 1  the index of the number, or of the first of its words
2     the attempt: 0 for the first object with an index, 1 for the one that replaces it, ...
3     the round; for words of other uses, KEYS or more
====  ==========================================================================

NumPy guarantees that these streams never change. ``philox`` computes the same words for any array
of counters. A number below a count is the remainder of one word, or of several words as one
integer. Values at or above the largest multiple of the count are rejected and drawn again in the
next round, so that every number is equally likely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Philox
from numpy.typing import NDArray

from gpusudoku.errors import InputError
from gpusudoku.jobs.cancel import check_cancelled
from gpusudoku.options import checked_seed

WORD_BITS = 64
WORDS = 4
"""Words that Philox makes from one value of its counter."""
ROUND = 1 << 192
"""The distance of the counter from one round to the next."""
KEYS = 1 << 63
"""The smallest last word of counters of other uses. No number needs as many rounds."""
FIRST_BLOCK = 1 << 10
"""Numbers in the first block. It is small, so that the first solutions come soon."""
MAX_BLOCK = 1 << 18
"""Numbers in the largest block. For some boards a few numbers take as long as many."""
CHUNK = 1 << 14
"""Numbers that are drawn at a time. An interrupt waits for them."""

ROUNDS = 10
MULTIPLIERS = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
KEY_STEPS = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
"""The constants of Philox 4x64."""
WORD = (1 << WORD_BITS) - 1
HALF = np.uint64(32)
LOW = np.uint64((1 << 32) - 1)

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]


def multiply(words: Words, factor: np.uint64) -> tuple[Words, Words]:
    """Multiply words by a word. Return the high and the low words of the 128-bit products."""
    # Split into halves of 32 bits: (a * 2^32 + b) * (c * 2^32 + d). No sum below exceeds 64 bits.
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
    """Compute four words for each counter. Both are four arrays uint64 (k), low word first."""
    x0, x1, x2, x3 = counter
    keys = seed & WORD, seed >> WORD_BITS
    # Ten rounds of multiplication, exchange of words, and exclusive or with the keys.
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

    ``numbers`` and ``attempts`` are int64 (k), from 0. ``use`` is KEYS or more. Words of different
    uses are independent, also of the numbers that ``Uniform`` draws with the same seed.
    """
    index = numbers.astype(np.uint64)
    zeros = np.zeros(len(numbers), np.uint64)
    return philox(seed, (index, zeros, attempts.astype(np.uint64), zeros + np.uint64(use)))


class Uniform:
    """An infinite sequence of independent, uniform numbers below a count, from a seed below 2^128.

    If w words are enough for the count, number i has the words from i * w on in every round. The
    first round whose value is not rejected determines the number.
    """

    def __init__(self, seed: int | None, count: int) -> None:
        self._seed = checked_seed(seed)
        self._count = count
        if count < 1:
            raise InputError("there are no solutions to take samples of")
        self._words = -(-count.bit_length() // WORD_BITS)
        """The number of words for one number."""
        all_values = 1 << WORD_BITS * self._words
        self._largest = all_values - all_values % count - 1
        """The largest value that is not rejected."""
        # Numbers are below the count, so a count of 2^63 still fits.
        self._dtype = np.dtype(np.int64 if count <= 1 << 63 else object)

    def numbers(self, start: int, stop: int) -> NDArray[Any]:
        """Draw the numbers from ``start`` to before ``stop``: int64, or object from 2^63 on."""
        if stop - start > CHUNK:
            chunk_starts = range(start, stop, CHUNK)
            return np.concatenate([
                self.numbers(chunk_start, min(chunk_start + CHUNK, stop))
                for chunk_start in chunk_starts
            ])  # fmt: skip

        def draw(round_number: int, rejected: Ints) -> NDArray[Any]:
            # Consecutive values are cheap, so those between the rejected ones are drawn, too.
            low = int(rejected[0])
            high = int(rejected[-1]) + 1
            return self._drawn(round_number, start + low, start + high)[rejected - low]

        return self._reduced(stop - start, draw)

    def at(self, numbers: Ints, attempts: Ints) -> NDArray[Any]:
        """Draw numbers by index and attempt, both int64 (k), from 0; see ``numbers``.

        Attempt 0 of an index is its number in ``numbers``.
        """
        if len(numbers) and not attempts.any() and (np.diff(numbers) == 1).all():
            return self.numbers(int(numbers[0]), int(numbers[-1]) + 1)
        starts = range(0, max(1, len(numbers)), CHUNK)
        chunks = [slice(start, start + CHUNK) for start in starts]
        if len(chunks) > 1:
            return np.concatenate([self.at(numbers[chunk], attempts[chunk]) for chunk in chunks])

        def draw(round_number: int, rejected: Ints) -> NDArray[Any]:
            return self._scattered(round_number, numbers[rejected], attempts[rejected])

        return self._reduced(len(numbers), draw)

    def _reduced(self, n: int, draw: Callable[[int, Ints], NDArray[Any]]) -> NDArray[Any]:
        """Return n numbers below the count.

        ``draw`` returns values for a round and for indices below n. Rejected indices are drawn
        again in the next round.
        """
        check_cancelled()
        numbers = np.zeros(n, self._dtype)
        rejected = np.arange(n)
        round_number = 0
        while len(rejected):
            values = draw(round_number, rejected)
            # Comparing Python integers gives an array of objects, hence the conversion.
            is_accepted = (values <= self._largest).astype(np.bool_)
            numbers[rejected[is_accepted]] = values[is_accepted] % self._count
            rejected = rejected[~is_accepted]
            round_number += 1
        return numbers

    def first(self, n: int, start: int = 0) -> Iterator[NDArray[Any]]:
        """Yield the first n numbers in blocks, beginning with the index ``start``."""
        size = min(FIRST_BLOCK, MAX_BLOCK)
        while start < n:
            end = min(start + size, n)
            yield self.numbers(start, end)
            start = end
            size = min(4 * size, MAX_BLOCK)

    def distinct(self, n: int, start: int = 0) -> Iterator[NDArray[Any]]:
        """Yield the first n different numbers, at most the count, in blocks; see ``first``."""
        earlier: set[int] = set()
        drawn_count = 0
        while (missing := n - len(earlier)) > 0:
            # About twice as many of these draws as are missing should be new.
            draws = 2 * missing * self._count // (self._count - len(earlier))
            stop = drawn_count + min(MAX_BLOCK, draws)
            block: list[int] = []
            for chunk_start in range(drawn_count, stop, CHUNK):
                drawn = self.numbers(chunk_start, min(chunk_start + CHUNK, stop))
                # A dict, unlike a set, keeps the order of its keys.
                different = dict.fromkeys(drawn.tolist())
                new_numbers = [number for number in different if number not in earlier]
                earlier.update(new_numbers)
                block += new_numbers
            drawn_count = stop
            skipped = max(0, start - (n - missing))
            block = block[skipped:missing]
            if block:
                yield np.array(block, self._dtype)

    def _drawn(self, round_number: int, start: int, stop: int) -> NDArray[Any]:
        """Draw the values of consecutive numbers in one round."""
        counter, skipped = divmod(start * self._words, WORDS)
        size = skipped + (stop - start) * self._words
        generator = Philox(counter=round_number * ROUND + counter, key=self._seed)
        words = np.asarray(generator.random_raw(size), np.uint64)
        return self._joined(words[skipped:].reshape(-1, self._words))

    def _scattered(self, round_number: int, numbers: Ints, attempts: Ints) -> NDArray[Any]:
        """Draw the values of any numbers and attempts in one round."""
        # The first word of a number, as a 128-bit integer. Divided by 4, the counter that makes it.
        high, low = multiply(numbers.astype(np.uint64), np.uint64(self._words))
        counter_low = high << np.uint64(62) | low >> np.uint64(2)
        skipped = (low % WORDS).astype(np.int64)
        # This many counters contain all words of a number, whichever of four words comes first.
        counter_count = 1 if WORDS % self._words == 0 else (self._words + WORDS - 2) // WORDS + 1
        rounds = np.full(len(numbers), round_number, np.uint64)
        words: list[Words] = []
        # From 1, because NumPy's Philox increments the counter before it makes words.
        for offset in range(1, 1 + counter_count):
            counter = counter_low + np.uint64(offset)
            carry = (high >> np.uint64(2)) + (counter < counter_low)
            words += philox(self._seed, (counter, carry, attempts.astype(np.uint64), rounds))
        columns = skipped[:, None] + np.arange(self._words)
        return self._joined(np.take_along_axis(np.stack(words, axis=1), columns, axis=1))

    def _joined(self, words: Words) -> NDArray[Any]:
        """Return each row of words as one integer. The lowest word comes first."""
        values: NDArray[Any] = words[:, -1].astype(np.uint64 if self._words == 1 else object)
        for column in reversed(range(self._words - 1)):
            values = values << WORD_BITS | words[:, column].astype(object)
        return values
