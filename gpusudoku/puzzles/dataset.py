"""Random puzzles as a data set: one of each class of puzzles, with columns, and split by classes.

The class of a board is its canonical form. Puzzles whose solutions are in one class are in the same
split: a model is not tested on a solution that it was trained on. The split depends only on that
class and the shares, so it is the same in data sets with other seeds and options.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Generator, Iterable
from contextlib import closing
from fractions import Fraction
from hashlib import blake2b
from itertools import accumulate
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.text import write_lines
from gpusudoku.errors import GaveUp, InputError, described
from gpusudoku.jobs.cancel import interruptible, iterate_in
from gpusudoku.jobs.ordered import Schedule, ordered_map
from gpusudoku.options import MAX_NUMBER
from gpusudoku.puzzles.canonical import canonical_block, canonical_kernels, class_key
from gpusudoku.puzzles.difficulty import LEVELS
from gpusudoku.puzzles.generate import SECONDS, PuzzleBlock, PuzzleOptions, Puzzles

SPLITS = ("train", "validation", "test")
SHARES = "80,10,10"
"""The shares of the splits, if none are given."""
SPLIT_BYTES = 8
"""Bytes of the number that decides the split of a class."""
MAX_ROWS = 10**18
"""The end of unbiased puzzles, which are made in batches until there are enough."""
FEW_ROWS = 256
"""Puzzles whose columns take less time than to hand them to another thread is worth."""

Columns = dict[str, NDArray[Any]]
"""The columns of some rows by name, in order; texts are ASCII in bytes."""


class PuzzleDataset:
    """The rows of a data set of random puzzles: those of ``options``, one of each class.

    ``shares`` are three numbers separated by commas, of train, validation and test; only their
    ratios matter. An InputError if they are not, if boards of the shape have no canonical form, or
    if unbiased puzzles are so small that many of a class would be left out with their weights.
    """

    def __init__(self, options: PuzzleOptions, shares: str = SHARES) -> None:
        if options.unbiased and options.is_small:
            raise InputError(
                f"unbiased puzzles of {options.geometry}: equivalent ones come again, and a data"
                " set has one of each class"
            )
        self._options = options
        self._bounds = _bounds(shares)
        self._by_solution = len(canonical_kernels(options.geometry)) > 1

    def columns(self, block: PuzzleBlock) -> Columns:
        """Return the columns of puzzles, one row for each.

        puzzle, solution and canonical, the canonical form of the puzzle, are boards on one line;
        difficulty, split and seed texts, too. clues (int16), guesses (int32), weight (float64) and
        number (int64) are numbers. Full boards of some shapes have no canonical form: there the
        split is that of the class of the puzzle. An InputError if a puzzle has none.
        """
        canonical = _canonical(block, block.puzzles)
        classes = _canonical(block, block.solutions) if self._by_solution else canonical
        levels, guesses = block.ratings
        return {
            "puzzle": _lines(block.puzzles),
            "solution": _lines(block.solutions),
            "clues": np.count_nonzero(block.puzzles, axis=1).astype(np.int16),
            "difficulty": np.array(LEVELS, np.bytes_)[levels],
            "guesses": guesses.astype(np.int32),
            "weight": block.weights,
            "canonical": canonical,
            "split": np.array(SPLITS, np.bytes_)[self._splits(classes)],
            "seed": np.full(len(block), str(block.seed).encode()),
            "number": block.numbers,
        }

    def blocks(
        self,
        n: int,
        seed: int,
        *,
        first: int = 0,
        seen: Iterable[bytes] = (),
        seconds: float = SECONDS,
        threads: int = 1,
    ) -> Generator[Columns, None, None]:
        """Yield the columns of n rows in blocks, in the order of their numbers.

        A puzzle whose class has a row already gets none, so numbers may have gaps. To continue a
        data set, pass the number of the ``first`` puzzle to try, and the keys of its classes:
        each counts as one of the n rows. A GaveUp, after all rows that were found, if no new class
        is found for some seconds.
        """
        rows = self._blocks(n, seed, first, set(seen), seconds, threads)
        return iterate_in(lambda: interruptible(None), rows)

    def _blocks(
        self, n: int, seed: int, first: int, seen: set[bytes], seconds: float, threads: int
    ) -> Generator[Columns, None, None]:
        last_progress = time.monotonic()
        try:
            while len(seen) < n:
                if self._options.unbiased:  # whole batches, from the first one on
                    begin = 0
                    end = MAX_ROWS
                else:  # no more puzzles than rows are missing, as far as no class comes again
                    begin = first
                    end = min(first + max(n, first) - len(seen), MAX_NUMBER)
                # Threads that compute columns. One of them also takes the puzzles from the others.
                column_threads = max(1, threads // 3)
                puzzle_threads = threads - column_threads + 1
                puzzles = Puzzles(
                    end, self._options, seed, first=begin, seconds=seconds, threads=puzzle_threads
                )
                results = ordered_map(
                    puzzles.blocks(), self._with_keys, column_threads, schedule=_choose_schedule
                )
                with closing(results):
                    for finished in results:
                        assert finished.result is not None
                        columns, keys = finished.result
                        if not keys:
                            continue
                        numbers = columns["number"].tolist()
                        new_rows = []
                        for row, (number, key) in enumerate(zip(numbers, keys, strict=True)):
                            if number >= first and key not in seen and len(seen) < n:
                                seen.add(key)
                                new_rows.append(row)
                        # Puzzles before the first one are only made again, which takes its time.
                        if new_rows or numbers[-1] < first:
                            last_progress = time.monotonic()
                        first = max(first, numbers[-1] + 1)
                        if new_rows:
                            yield {name: column[new_rows] for name, column in columns.items()}
                        if len(seen) == n:
                            return
                        if time.monotonic() - last_progress > seconds:
                            raise GaveUp
        except GaveUp:
            raise GaveUp(
                f"gave up after {seconds:g} s without another class of puzzles:"
                f" {len(seen)} of {n} found"
            ) from None

    def _with_keys(self, block: PuzzleBlock) -> tuple[Columns, list[bytes]]:
        """Return the columns of puzzles, and the keys of their classes."""
        columns = self.columns(block)
        return columns, [class_key(line) for line in columns["canonical"].tolist()]

    def _splits(self, classes: NDArray[np.bytes_]) -> list[int]:
        """Return the split of each class, an index into ``SPLITS``."""
        hashes = (blake2b(line, digest_size=SPLIT_BYTES).digest() for line in classes.tolist())
        return [bisect_right(self._bounds, int.from_bytes(digest, "big")) for digest in hashes]


def _bounds(shares: str) -> list[int]:
    """Return the first of 2^64 numbers that is of validation, and the first of test."""
    words = shares.split(",")
    if len(words) == len(SPLITS) and all(
        re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", word, re.ASCII) for word in words
    ):
        *ends, whole = accumulate(map(Fraction, words))
        if whole:
            return [ceil((1 << 8 * SPLIT_BYTES) * end / whole) for end in ends]
    raise InputError(
        f"split {described(shares)}: expected shares of train, validation and test, such as"
        f" {SHARES}"
    )


def _choose_schedule(block: PuzzleBlock) -> Schedule:
    """Process a block with few puzzles at once: they took long to make, and are written first."""
    return Schedule.INLINE if len(block) < FEW_ROWS else Schedule.POOL


def _canonical(block: PuzzleBlock, rows: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Find the canonical forms of boards of a block, as lines; an InputError if one has none."""
    canonical = canonical_block(Batch(block.geometry, rows))
    for index, error in canonical.errors.items():
        raise InputError(f"puzzle {block.numbers[index]}: {error}")
    return _lines(canonical.forms)


def _lines(rows: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Write boards as lines."""
    return np.array(write_lines(rows).splitlines(), np.bytes_)
