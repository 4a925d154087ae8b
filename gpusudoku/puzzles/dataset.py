"""Random puzzles as a data set: one of each class of puzzles, with columns, and split by classes.

The class of a board is its canonical form. Puzzles whose solutions are in the same class are in the
same split, so a model is not tested on a solution that it was trained on. The split depends only on
this class and the shares, so it is the same in data sets with other seeds and options.
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
"""The default shares of the splits."""
SPLIT_BYTES = 8
"""Bytes of the hash that determines the split of a class."""
MAX_ROWS = 10**18
"""A number of unbiased puzzles that is never reached: they are made in batches until there are
enough."""
MIN_SHARED_ROWS = 256
"""The columns of fewer puzzles are computed at once, not by another thread."""

Columns = dict[str, NDArray[Any]]
"""The columns of rows by name, in order. Texts are ASCII bytes."""


class PuzzleDataset:
    """The rows of a data set of random puzzles with ``options``, one of each class.

    Parameters
    ----------
    options
        The options of the puzzles.
    shares
        Three numbers separated by commas, for train, validation and test. Only their ratios matter.

    Raises
    ------
    InputError
        If the shares are invalid, if boards of the shape have no canonical form, or if unbiased
        puzzles are so small that many of them, and their weights, would be left out.
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

        The columns puzzle, solution and canonical (the canonical form of the puzzle) contain boards
        on one line. difficulty, split and seed are texts, too. clues (int16), guesses (int32),
        weight (float64) and number (int64) are numbers.

        Raises
        ------
        InputError
            If a puzzle has no canonical form.
        """
        canonical = _canonical(block, block.puzzles)
        # Solutions of some shapes have no canonical form: there the class of the puzzle is used.
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

        Puzzles of a class that already has a row are left out, so numbers may have gaps.

        Parameters
        ----------
        n
            The number of rows.
        seed
            The seed of the puzzles.
        first
            The number of the first puzzle. To continue a data set, pass the number after its last
            row.
        seen
            The keys of the classes of the data set that is continued. Each counts as one of the n
            rows.
        seconds
            The time without a new class after which it gives up.
        threads
            The number of threads.

        Raises
        ------
        GaveUp
            If it gives up, after all rows that were found.
        """
        rows = self._blocks(n, seed, first, set(seen), seconds, threads)
        return iterate_in(lambda: interruptible(None), rows)

    def _blocks(
        self,
        n: int,
        seed: int,
        next_number: int,
        known_keys: set[bytes],
        seconds: float,
        threads: int,
    ) -> Generator[Columns, None, None]:
        # A part of the threads computes columns. One of these also waits for the threads that make
        # puzzles, so these may be one more.
        column_threads = max(1, threads // 3)
        puzzle_threads = threads - column_threads + 1
        last_progress = time.monotonic()
        try:
            while len(known_keys) < n:
                if self._options.unbiased:  # whole batches, from the first one on
                    start = 0
                    end = MAX_ROWS
                else:  # as many puzzles as rows are missing; more if some classes are not new
                    start = next_number
                    end = min(start + max(n, start) - len(known_keys), MAX_NUMBER)
                puzzles = Puzzles(
                    end, self._options, seed, first=start, seconds=seconds, threads=puzzle_threads
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
                            is_new = number >= next_number and key not in known_keys
                            if is_new and len(known_keys) < n:
                                known_keys.add(key)
                                new_rows.append(row)
                        # Batches before the first number are only repeated, which takes time but
                        # is no reason to give up.
                        if new_rows or numbers[-1] < next_number:
                            last_progress = time.monotonic()
                        next_number = max(next_number, numbers[-1] + 1)
                        if new_rows:
                            yield {name: column[new_rows] for name, column in columns.items()}
                        if len(known_keys) == n:
                            return
                        if time.monotonic() - last_progress > seconds:
                            raise GaveUp
        except GaveUp:
            raise GaveUp(
                f"gave up after {seconds:g} s without another class of puzzles:"
                f" {len(known_keys)} of {n} found"
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
    """Return the smallest hash that belongs to validation, and the smallest that belongs to test.

    Smaller hashes belong to train. The ranges of the hashes are proportional to the shares.
    """
    words = shares.split(",")
    if len(words) == len(SPLITS) and all(
        re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", word, re.ASCII) for word in words
    ):
        # Fractions: the bounds must not depend on the rounding of the processor.
        *ends, total = accumulate(map(Fraction, words))
        if total:
            return [ceil((1 << 8 * SPLIT_BYTES) * end / total) for end in ends]
    raise InputError(
        f"split {described(shares)}: expected shares of train, validation and test, such as"
        f" {SHARES}"
    )


def _choose_schedule(block: PuzzleBlock) -> Schedule:
    """Process a block with few puzzles at once: they took long to make, so they are not delayed."""
    return Schedule.INLINE if len(block) < MIN_SHARED_ROWS else Schedule.POOL


def _canonical(block: PuzzleBlock, rows: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Return the canonical forms of boards of a block as lines, or raise a board's InputError."""
    canonical = canonical_block(Batch(block.geometry, rows))
    for index, error in canonical.errors.items():
        raise InputError(f"puzzle {block.numbers[index]}: {error}")
    return _lines(canonical.forms)


def _lines(rows: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Write boards as lines."""
    return np.array(write_lines(rows).splitlines(), np.bytes_)
