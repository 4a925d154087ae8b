"""Random puzzles: made from random grids, each a function of a seed and its number.

A puzzle is made by *attempts*: a random grid loses clues, or all outside of a pattern, and what is
left may be refused. Attempt t of number k depends on the seed, t and k alone, and the first that is
not refused is puzzle k. So puzzles can be made in any order, by any number of threads or machines.
(Unbiased puzzles are made in batches: ``unbiased`` tells how.)
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch, RowBlock
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import FEWEST_CLUES, NINE, Geometry
from gpusudoku.board.text import draw
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration.sampling import SEED_BITS, checked_seed, keys
from gpusudoku.errors import Cancelled, GaveUp, InputError, described, shown
from gpusudoku.jobs.cancel import CancelToken, cancelling, check_cancelled, interruptible, made_in
from gpusudoku.jobs.forks import cached_property
from gpusudoku.jobs.job import Pace
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.options import MAX_NUMBER, Options, is_integer
from gpusudoku.planning.batch import search_block
from gpusudoku.puzzles.clue_patterns import pattern_of, symmetric_units, twin_of
from gpusudoku.puzzles.difficulty import LEVELS, Ratings, rate_batch
from gpusudoku.puzzles.random_grids import Grids
from gpusudoku.puzzles.remove_clues import reduced
from gpusudoku.puzzles.weighted import split

SECONDS = 60.0
"""Time without another puzzle after which a run gives up."""
PIECE_SECONDS = 0.2
"""A thread makes so many puzzles at a time that this takes about so long."""
MOST_PUZZLES = 1 << 14
"""Puzzles that are made, or attempted, together."""
FEW_CELLS = 49
"""Boards of no more cells have so few puzzles that some come again. Two 9x9 puzzles of a run are
equal only if their grids are: one run of a billion puzzles in 13,000 would have such a pair."""
PROVEN_DIGITS, MOST_GUESSES = 16, 100
"""On boards of more digits a clue stays, unless the puzzle is to be minimal, if so many guesses do
not tell whether it is redundant."""


@dataclass(frozen=True)
class Puzzle:
    """A random puzzle."""

    board: Board
    """The puzzle, with exactly one solution."""
    solution: Board
    """The solution."""
    difficulty: str
    """How hard it is: see ``rate``."""
    guesses: int
    """The guesses of a search: see ``rate``."""
    seed: int
    """The seed of the run: with it and the same options the number gives the same puzzle again."""
    number: int
    """The number in the run, from 0."""
    weight: float = 1.0
    """Of an unbiased puzzle the number of minimal puzzles, a grid, for which it stands."""

    def __str__(self) -> str:
        return str(self.board)

    def _repr_html_(self) -> str:
        board = self.board
        return draw(board.geometry, board.cells, caption=f"{board.clues} clues, {self.difficulty}")


@dataclass(frozen=True)
class PuzzleBlock(RowBlock):
    """Random puzzles of one run, in columns of k rows."""

    COLUMNS = ("numbers", "puzzles", "solutions", "weights")
    geometry: Geometry
    seed: int
    numbers: NDArray[np.int64]
    """int64 (k): their numbers in the run, ascending."""
    puzzles: NDArray[np.uint8]
    """uint8 (k, cells): the puzzles, 0 for an empty cell."""
    solutions: NDArray[np.uint8]
    """uint8 (k, cells): their solutions."""
    weights: NDArray[np.float64]
    """float64 (k): their weights, 1 if they are not unbiased."""
    whole: bool = True
    """False if the run gave up before it found all of them, or they are cut from a batch."""

    @cached_property
    def ratings(self) -> Ratings:
        """Rate them: levels, indices into ``LEVELS``, and guesses."""
        return rate_batch(Batch(self.geometry, self.puzzles))

    def __repr__(self) -> str:
        boards = Batch(self.geometry, self.puzzles).describe()
        return f"<PuzzleBlock: {boards}, with seed {self.seed}>"

    def __iter__(self) -> Iterator[Puzzle]:
        levels, guesses = (column.tolist() for column in self.ratings)
        weights = self.weights.tolist()
        for i, number in enumerate(self.numbers.tolist()):
            board, solution = (
                Board.of_digits(rows[i].copy(), self.geometry)
                for rows in (self.puzzles, self.solutions)
            )
            level, weight = LEVELS[levels[i]], weights[i]
            yield Puzzle(board, solution, level, guesses[i], self.seed, number, weight)


class PuzzleOptions:
    """The puzzles that are wanted, checked; parameters and errors as of ``generate``."""

    def __init__(
        self,
        box: Geometry | str | None = None,
        *,
        minimal: bool = False,
        clues: int | Iterable[int] | None = None,
        symmetry: str | Iterable[str] | None = None,
        pattern: Any = None,
        difficulty: str | Iterable[str] | None = None,
        unbiased: bool = False,
    ) -> None:
        wishes = clues, symmetry, pattern, difficulty
        if unbiased and any(wish is not None for wish in wishes):
            raise InputError(
                "unbiased puzzles stand for all: leave out clues, symmetry, pattern, difficulty"
            )
        geometry = Geometry.of(box)
        self.pattern = None if pattern is None else pattern_of(pattern, geometry)
        if geometry is None:
            cells = NINE.cells if self.pattern is None else len(self.pattern)
            geometry = Geometry.of_cells(cells)
        assert geometry is not None
        self.geometry, self.minimal, self.unbiased = geometry, minimal, unbiased
        self.least, self.most = _bounds(clues, geometry)
        self.units = None if symmetry is None else symmetric_units(geometry, symmetry)
        if self.units is not None and not _fits(self.units, self.least, self.most):
            raise InputError(
                f"no puzzle of this symmetry has {self.least} to {self.most} clues, as cells go"
                " together"
            )
        self.levels = None if difficulty is None else _levels(difficulty)
        if self.pattern is not None:
            for name, other in (("clues", clues), ("symmetry", symmetry)):
                if other is not None:
                    raise InputError(f"{name} and a pattern: a pattern has all clues already")
            if (why := twin_of(self.pattern, geometry)) is not None:
                raise InputError(f"no puzzle has this pattern: {why}")
            _bounds(int(self.pattern.sum()), geometry)

    @property
    def is_small(self) -> bool:
        """True if boards have so few puzzles that some come again: those are refused then."""
        return self.geometry.cells <= FEW_CELLS


def _bounds(clues: int | Iterable[int] | None, geometry: Geometry) -> tuple[int, int]:
    """Return the least and the most clues."""
    if clues is None:
        return 0, geometry.cells
    bounds = [*clues] if isinstance(clues, Iterable) else [clues, clues]
    least, most = bounds if len(bounds) == 2 and all(map(is_integer, bounds)) else (-1, -1)
    if not 0 <= least <= most <= geometry.cells:
        said = f"{least}-{most}" if least > most else described(clues)
        raise InputError(
            f"clues {said}: expected a number from 0 to {geometry.cells}, or the least and the most"
        )
    if geometry == NINE and most < FEWEST_CLUES:
        raise InputError(f"{most} clues: no 9x9 puzzle has fewer than {FEWEST_CLUES}")
    return least, most


def _fits(units: NDArray[np.int64], least: int, most: int) -> bool:
    """Tell whether some units together have as many cells as wanted."""
    sums = 1  # bit i is set if i cells can be had
    for size in (units >= 0).sum(axis=1).tolist():
        sums |= sums << size
    return any(sums >> number & 1 for number in range(least, most + 1))


def _levels(difficulty: str | Iterable[str]) -> list[int]:
    """Return the indices of levels."""
    if not isinstance(difficulty, Iterable):
        raise InputError(f"difficulty {described(difficulty)}: expected names of levels")
    words = difficulty.split(",") if isinstance(difficulty, str) else map(str, difficulty)
    words = [word.strip() for word in words]
    if not words:
        raise InputError(f"no difficulty: expected {', '.join(LEVELS)}")
    for word in words:
        if word not in LEVELS:
            raise InputError(f"difficulty {shown(word)}: expected {', '.join(LEVELS)}")
    return [*map(LEVELS.index, words)]


class _Patience(CancelToken):
    """A token that is cancelled once some seconds have passed without a puzzle, of any thread."""

    def __init__(self, seconds: float, last: list[float]) -> None:
        super().__init__()
        self._seconds, self._last, self._start = seconds, last, time.monotonic()

    @property
    def cancelled(self) -> bool:
        """True if the time is over."""
        return time.monotonic() - max(self._start, self._last[0]) > self._seconds


class Puzzles:
    """An iterator over the puzzles of a run; see ``generate``.

    ``blocks`` gives the same as arrays, without an object for each.
    """

    def __init__(
        self,
        n: int,
        options: PuzzleOptions,
        seed: int | None = None,
        *,
        first: int = 0,
        done: int = 0,
        batches: int = 0,
        seconds: float = SECONDS,
        threads: int = 1,
        cancel: CancelToken | None = None,
    ) -> None:
        if not is_integer(n) or not 0 <= n <= MAX_NUMBER:
            raise InputError(f"{described(n)} puzzles: expected an integer from 0 to {MAX_NUMBER}")
        if not isinstance(seconds, int | float) or not seconds > 0:
            raise InputError(f"seconds {described(seconds)}: expected a number above 0")
        self.seed = secrets.randbits(SEED_BITS) if seed is None else checked_seed(seed)
        self._grids = Grids(options.geometry, self.seed)
        if options.unbiased and not self.uniform:
            raise InputError(f"no unbiased puzzles of {options.geometry}: grids are not uniform")
        self._options, self._numbers, self._done = options, range(first + done, n), done
        self._batches = batches
        """Batches of unbiased puzzles that are done, with all before the first of the numbers."""
        self._seconds, self._threads, self._cancel = seconds, threads, cancel
        self._last = [0.0]
        """The time by ``time.monotonic`` of the last puzzle."""
        self._puzzles = made_in(lambda: interruptible(cancel), self._one_by_one())

    def __repr__(self) -> str:
        n, number = self._options.geometry.n, len(self._numbers)
        return f"<Puzzles: {number} of {n}x{n} cells, with seed {self.seed}>"

    @property
    def uniform(self) -> bool:
        """True if all grids have exactly the same chance."""
        return self._grids.uniform

    def __iter__(self) -> Iterator[Puzzle]:
        return self

    def __next__(self) -> Puzzle:
        return next(self._puzzles)

    def close(self) -> None:
        """Stop the work."""
        self._puzzles.close()

    def _one_by_one(self) -> Generator[Puzzle, None, None]:
        with closing(self._blocks()) as blocks:
            for block in blocks:
                yield from block

    def blocks(self) -> Generator[PuzzleBlock, None, None]:
        """Yield the puzzles in blocks of several; a GaveUp as ``generate`` raises."""
        return made_in(lambda: interruptible(self._cancel), self._blocks())

    def _blocks(self) -> Generator[PuzzleBlock, None, None]:
        return self._split() if self._options.unbiased else self._reduce()

    def _split(self) -> Generator[PuzzleBlock, None, None]:
        """Make unbiased puzzles; each block is a batch, the last may be cut."""
        left = self._numbers
        with closing(ordered_map(count(self._batches), self._batch, self._threads)) as made:
            while left:
                batch = next(made).result
                assert batch is not None
                block = batch.part(0, len(left))
                numbers = np.arange(left.start, left.start + len(block))
                left = left[len(block) :]
                yield replace(block, numbers=numbers, whole=len(block) == len(batch))

    def _batch(self, number: int) -> PuzzleBlock:
        """Make a batch of unbiased puzzles, numbered from 0."""
        grids, found = split(self._options.geometry, self.seed, number)
        solutions, numbers = grids[found.grids], np.arange(len(found.grids))
        puzzles = solutions * found.clues
        return PuzzleBlock(
            self._options.geometry, self.seed, numbers, puzzles, solutions, found.weights
        )

    def _reduce(self) -> Generator[PuzzleBlock, None, None]:
        """Make puzzles from the top down, without repeats if they are small."""
        found, numbers = 0, self._numbers
        seen: set[bytes] | None = set() if self._options.is_small else None
        pace = Pace(1, PIECE_SECONDS, MOST_PUZZLES)

        def some() -> Iterator[range]:
            # Those before the first are needed only to know which may not come again.
            start = numbers.start if seen is None else 0
            while numbers and start < numbers.stop:
                end = min(start + pace.size, numbers.stop)
                yield range(start, end)
                start = end

        with closing(ordered_map(some(), self._make, self._threads)) as made:
            for done in made:
                assert done.result is not None
                block = done.result if seen is None else self._without_repeats(done.result, seen)
                if len(done.item) == pace.size:
                    pace.took(done.seconds, full=True)
                block = block.part(int(np.searchsorted(block.numbers, numbers.start)), len(block))
                found += len(block)
                if len(block):
                    yield block
                if not block.whole:
                    found, wanted = found + self._done, len(numbers) + self._done
                    raise GaveUp(
                        f"gave up after {self._seconds:g} s without another puzzle:"
                        f" {found} of {wanted} found"
                        f"{'' if found else ', and perhaps there are none'}"
                    )

    def _without_repeats(self, block: PuzzleBlock, seen: set[bytes]) -> PuzzleBlock:
        """Make puzzles anew that were there before, from their next attempts."""
        for i, number in enumerate(block.numbers.tolist()):
            if bytes(block.puzzles[i]) in seen:
                again = self._make(range(number, number + 1), seen)
                if not len(again):
                    return replace(block.part(0, i), whole=False)
                block.puzzles[i], block.solutions[i] = again.puzzles[0], again.solutions[0]
            seen.add(bytes(block.puzzles[i]))
        return block

    def _make(self, wanted: range, seen: Collection[bytes] = ()) -> PuzzleBlock:
        """Make the puzzles of some numbers, as far as there is time, and none that was seen."""
        left, geometry = np.arange(wanted.start, wanted.stop), self._options.geometry
        empty = np.empty((0, geometry.cells), np.uint8)
        found = [(left[:0], empty, empty)]
        first, together = 0, 1  # attempts that all had, and those that are worth making at once
        try:
            with cancelling(_Patience(self._seconds, self._last)):
                while len(left):
                    start = time.monotonic()
                    each = max(1, together // len(left))
                    attempts = np.tile(np.arange(first, first + each), len(left))
                    numbers = np.repeat(left, each)
                    grids = self._grids.at(numbers, attempts)
                    puzzles, good = self._attempt(grids, keys(self.seed, numbers, attempts))
                    if seen:
                        good &= [bytes(puzzle) not in seen for puzzle in puzzles]
                    good = good.reshape(len(left), each)
                    there = good.any(axis=1)
                    rows = (np.arange(len(left)) * each + good.argmax(axis=1))[there]
                    found.append((left[there], puzzles[rows], grids[rows]))
                    if len(rows):
                        self._last[0] = time.monotonic()
                    left, first = left[~there], first + each
                    if time.monotonic() - start < PIECE_SECONDS:
                        together = min(2 * together, MOST_PUZZLES)
        except Cancelled:
            check_cancelled()  # by the caller, not for want of time
        numbers, puzzles, grids = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(numbers)
        if len(left):  # those before the first that was not found: a resumed run begins with it
            order = order[: left.min() - wanted.start]
        return PuzzleBlock(
            geometry,
            self.seed,
            numbers[order],
            puzzles[order],
            grids[order],
            np.ones(len(order)),
            whole=not len(left),
        )

    def _attempt(
        self, grids: NDArray[np.uint8], seeds: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Make puzzles of grids, uint8 (B, cells); return them, and which are as wanted."""
        options, geometry = self._options, self._options.geometry
        if options.pattern is not None:
            puzzles = grids * options.pattern
            counts = search_block(Batch(geometry, puzzles), Options(limit=2), CpuEngine(1)).numbers
            good = counts == 1
        else:
            proven = options.minimal or geometry.n <= PROVEN_DIGITS
            puzzles = reduced(
                Batch(geometry, grids),
                grids,
                seeds,
                units=options.units,
                least=0 if options.minimal else options.least,
                most=-1 if proven else MOST_GUESSES,
            )
            clues = np.count_nonzero(puzzles, axis=1)
            good = (options.least <= clues) & (clues <= options.most)
        if options.minimal and (options.pattern is not None or options.units is not None):
            these = Batch(geometry, puzzles[good])
            good[good] = (reduced(these, grids[good], seeds[good]) == these.cells).all(axis=1)
        if options.levels is not None:
            levels = rate_batch(Batch(geometry, puzzles[good])).levels
            good[good] = np.isin(levels, options.levels)
        return puzzles, good


def generate(
    n: int = 1,
    *,
    box: Geometry | str | None = None,
    seed: int | None = None,
    minimal: bool = False,
    clues: int | Iterable[int] | None = None,
    symmetry: str | Iterable[str] | None = None,
    pattern: Any = None,
    difficulty: str | Iterable[str] | None = None,
    unbiased: bool = False,
    seconds: float = SECONDS,
    jobs: int | None = None,
    cancel: CancelToken | None = None,
) -> Puzzles:
    """Make random puzzles, each with exactly one solution, and no two of them equal.

    A random grid loses its clues in a random order, as ``minimise`` does it, to the last that is
    redundant. Grids of 9x9 cells and of most smaller boards are exactly uniform, others come from
    random walks: see ``Puzzles.uniform``. Puzzle k depends on the options, the seed
    and k alone: more puzzles begin with the same ones.

    Parameters
    ----------
    n
        The number of puzzles.
    box
        The boxes of the board, 3x3 by default.
    seed
        From 0 to below 2^128; by default a new one every time.
    minimal
        True if every clue is to be necessary. Without ``clues``, ``symmetry`` and ``pattern`` it
        always is, on boards of up to 16x16 cells; on larger ones only with this.
    clues
        The number of clues, or the least and the most: clues stay once there are no more than the
        least, and puzzles with more than the most are refused.
    symmetry
        Names, in a list or separated by commas, out of ``rotational`` (half a turn),
        ``quarter-turn``, ``left-right``, ``top-bottom``, ``diagonal``, ``antidiagonal``, or ``all``
        of them. Cells that these make one of each other lose their clues together.
    pattern
        The cells that have clues, all of them and no others: a text or a ``pathlib.Path`` with a
        character for each cell, a ``.`` for an empty one, or truth values. All puzzles with this
        pattern have the same chance where grids are uniform.
    difficulty
        Levels, in a list or separated by commas, of those of ``rate``.
    unbiased
        True for minimal puzzles with weights: weighted statistics are those of all minimal puzzles,
        of 9x9 cells or a smaller shape whose grids are exactly uniform. They come in batches from
        random grids, some of which give several. It cannot be combined with ``clues``,
        ``symmetry``, ``pattern`` and ``difficulty``.
    seconds
        The time without another puzzle after which it gives up.
    jobs
        Threads; by default as many as there are usable cores.
    cancel
        Stops it, whichever thread cancels it.

    Raises
    ------
    InputError
        If a value is out of range, or no puzzle can be as wanted.
    GaveUp
        In the place of the first puzzle that was not found in time.
    Interrupted, Cancelled
        After Ctrl-C, or once ``cancel`` is cancelled.
    """
    options = PuzzleOptions(
        box,
        minimal=minimal,
        clues=clues,
        symmetry=symmetry,
        pattern=pattern,
        difficulty=difficulty,
        unbiased=unbiased,
    )
    threads = CpuEngine(Options(jobs=jobs).jobs).threads
    return Puzzles(n, options, seed, seconds=seconds, threads=threads, cancel=cancel)
