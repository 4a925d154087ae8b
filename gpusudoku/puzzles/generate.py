"""Random puzzles: made from random grids, each determined by a seed and its number.

A puzzle is made by *attempts*. An attempt removes clues from a random grid, or all clues outside a
pattern, and may be rejected. Attempt t of puzzle k depends only on the seed, t and k, and the first
accepted attempt is puzzle k. So puzzles can be made in any order, by any number of threads or
machines. Unbiased puzzles are made in batches, see ``weighted``.
"""

from __future__ import annotations

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
from gpusudoku.enumeration.sampling import KEYS, random_words
from gpusudoku.errors import Cancelled, GaveUp, InputError, described, shown
from gpusudoku.jobs.cancel import (
    CancelToken,
    cancelling,
    check_cancelled,
    interruptible,
    iterate_in,
)
from gpusudoku.jobs.forks import cached_property
from gpusudoku.jobs.job import ChunkSize
from gpusudoku.jobs.ordered import ordered_map
from gpusudoku.options import MAX_NUMBER, Options, checked_seed, is_integer
from gpusudoku.planning.count import search_block
from gpusudoku.puzzles.clue_patterns import describe_empty_twins, parse_pattern, symmetric_units
from gpusudoku.puzzles.difficulty import LEVELS, Ratings, rate_batch
from gpusudoku.puzzles.random_grids import Grids
from gpusudoku.puzzles.remove_clues import remove_redundant_clues
from gpusudoku.puzzles.weighted import make_batch

SECONDS = 60.0
"""The default time without a new puzzle after which a run gives up."""
CHUNK_SECONDS = 0.2
"""A thread makes puzzles in chunks that take about this long."""
MAX_PUZZLES = 1 << 14
"""Puzzles, or attempts, that are made together."""
SMALL_CELLS = 49
"""Boards of at most this many cells have so few puzzles that a run may draw one twice. On larger
boards that is too unlikely to be checked: two 9x9 puzzles of a run can be equal only if their grids
are, and one in 13,000 runs of a billion puzzles has such a pair."""
MAX_PROVEN_DIGITS = 16
MAX_GUESSES = 100
"""On boards with more than MAX_PROVEN_DIGITS digits, a clue stays if MAX_GUESSES guesses do not
decide whether it is redundant, unless the puzzle must be minimal."""


@dataclass(frozen=True)
class Puzzle:
    """A random puzzle."""

    board: Board
    """The puzzle, with exactly one solution."""
    solution: Board
    """The solution."""
    difficulty: str
    """The level: see ``rate``."""
    guesses: int
    """The guesses of a search: see ``rate``."""
    seed: int
    """The seed of the run. Seed, options and number determine the puzzle."""
    number: int
    """The number in the run, from 0."""
    weight: float = 1.0
    """For an unbiased puzzle, the number of minimal puzzles per grid that it represents."""

    def __str__(self) -> str:
        return str(self.board)

    def _repr_html_(self) -> str:
        board = self.board
        return draw(board.geometry, board.cells, caption=f"{board.clues} clues, {self.difficulty}")


@dataclass(frozen=True)
class PuzzleBlock(RowBlock):
    """Random puzzles of one run, in columns of k rows."""

    _COLUMNS = ("numbers", "puzzles", "solutions", "weights")
    geometry: Geometry
    seed: int
    numbers: NDArray[np.int64]
    """int64 (k): their numbers in the run, ascending."""
    puzzles: NDArray[np.uint8]
    """uint8 (k, cells): the puzzles, 0 for an empty cell."""
    solutions: NDArray[np.uint8]
    """uint8 (k, cells): their solutions."""
    weights: NDArray[np.float64]
    """float64 (k): their weights. They are 1 unless the puzzles are unbiased."""
    whole: bool = True
    """False if the run gave up before it found all puzzles, or if the block is part of a batch."""

    @cached_property
    def ratings(self) -> Ratings:
        """The difficulty of the puzzles."""
        return rate_batch(Batch(self.geometry, self.puzzles))

    def __repr__(self) -> str:
        boards = Batch(self.geometry, self.puzzles).describe()
        return f"<PuzzleBlock: {boards}, with seed {self.seed}>"

    def __iter__(self) -> Iterator[Puzzle]:
        levels, guesses = (column.tolist() for column in self.ratings)
        weights = self.weights.tolist()
        for i, number in enumerate(self.numbers.tolist()):
            # Copies, so that a puzzle does not keep the arrays of its block in memory.
            board = Board.of_digits(self.puzzles[i].copy(), self.geometry)
            solution = Board.of_digits(self.solutions[i].copy(), self.geometry)
            level = LEVELS[levels[i]]
            yield Puzzle(board, solution, level, guesses[i], self.seed, number, weights[i])


class PuzzleOptions:
    """The checked options of random puzzles. Parameters and errors are those of ``generate``."""

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
        filters = (clues, symmetry, pattern, difficulty)
        if unbiased and any(value is not None for value in filters):
            raise InputError(
                "unbiased cannot be combined with clues, symmetry, pattern or difficulty"
            )
        geometry = Geometry.of(box)
        self.pattern = None if pattern is None else parse_pattern(pattern, geometry)
        if geometry is None:  # it follows from the size of the pattern; the default is 9x9
            cells = NINE.cells if self.pattern is None else len(self.pattern)
            geometry = Geometry.of_cells(cells)
        assert geometry is not None
        self.geometry = geometry
        self.minimal = minimal
        self.unbiased = unbiased
        self.min_clues, self.max_clues = _bounds(clues, geometry)
        self.units = None if symmetry is None else symmetric_units(geometry, symmetry)
        if self.units is not None and not _fits(self.units, self.min_clues, self.max_clues):
            raise InputError(
                f"no puzzle of this symmetry has {self.min_clues} to {self.max_clues} clues, as"
                " cells go together"
            )
        self.levels = None if difficulty is None else _levels(difficulty)
        if self.pattern is not None:
            for name, value in (("clues", clues), ("symmetry", symmetry)):
                if value is not None:
                    raise InputError(f"{name} and a pattern: a pattern has all clues already")
            if (reason := describe_empty_twins(self.pattern, geometry)) is not None:
                raise InputError(f"no puzzle has this pattern: {reason}")
            _bounds(int(self.pattern.sum()), geometry)  # raises an error for too few clues

    @property
    def is_small(self) -> bool:
        """True if boards have so few puzzles that a run may repeat some. Repeats are rejected."""
        return self.geometry.cells <= SMALL_CELLS


def _bounds(clues: int | Iterable[int] | None, geometry: Geometry) -> tuple[int, int]:
    """Return the minimum and the maximum number of clues."""
    if clues is None:
        return 0, geometry.cells
    bounds = [*clues] if isinstance(clues, Iterable) else [clues, clues]
    # Anything but a pair of integers is out of range.
    is_pair = len(bounds) == 2 and all(map(is_integer, bounds))
    min_clues, max_clues = bounds if is_pair else (-1, -1)
    if not 0 <= min_clues <= max_clues <= geometry.cells:
        value = f"{min_clues}-{max_clues}" if min_clues > max_clues else described(clues)
        raise InputError(
            f"clues {value}: expected a number from 0 to {geometry.cells}, or a minimum and"
            " a maximum"
        )
    if geometry == NINE and max_clues < FEWEST_CLUES:
        raise InputError(f"{max_clues} clues: no 9x9 puzzle has fewer than {FEWEST_CLUES}")
    return min_clues, max_clues


def _fits(units: NDArray[np.int64], min_clues: int, max_clues: int) -> bool:
    """Return whether some set of units has a total number of cells between two bounds."""
    sums = 1  # bit i is set if some set of units has i cells in total
    for size in (units >= 0).sum(axis=1).tolist():
        sums |= sums << size
    return any(sums >> number & 1 for number in range(min_clues, max_clues + 1))


def _levels(difficulty: str | Iterable[str]) -> list[int]:
    """Return the indices of levels in ``LEVELS``."""
    if not isinstance(difficulty, Iterable):
        raise InputError(f"difficulty {described(difficulty)}: expected names of levels")
    words = difficulty.split(",") if isinstance(difficulty, str) else map(str, difficulty)
    words = [word.strip() for word in words]
    if not words:  # an empty list would accept no puzzle at all
        raise InputError(f"no difficulty: expected {', '.join(LEVELS)}")
    for word in words:
        if word not in LEVELS:
            raise InputError(f"difficulty {shown(word)}: expected {', '.join(LEVELS)}")
    return [*map(LEVELS.index, words)]


class _Patience(CancelToken):
    """A token that counts as cancelled when no thread has found a puzzle for ``seconds``."""

    def __init__(self, seconds: float, last_puzzle: list[float]) -> None:
        super().__init__()
        self._seconds = seconds
        self._last_puzzle = last_puzzle
        """The time of the last puzzle: a list of one number, which all threads share."""
        self._start = time.monotonic()

    @property
    def cancelled(self) -> bool:
        """True if the time is over."""
        waiting_since = max(self._start, self._last_puzzle[0])
        return time.monotonic() - waiting_since > self._seconds


class Puzzles:
    """An iterator over the puzzles of a run; see ``generate``.

    ``blocks`` yields the same puzzles as arrays, without an object for each.
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
        self.seed = checked_seed(seed)
        self._grids = Grids(options.geometry, self.seed)
        if options.unbiased and not self.uniform:
            raise InputError(f"no unbiased puzzles of {options.geometry}: grids are not uniform")
        self._options = options
        self._done = done
        self._numbers = range(first + done, n)
        self._batches = batches
        """Finished batches of unbiased puzzles: those with the puzzles before the first number."""
        self._seconds = seconds
        self._threads = threads
        self._cancel = cancel
        self._last_puzzle = [0.0]
        """The time of the last puzzle by ``time.monotonic``: see ``_Patience``."""
        self._puzzles = iterate_in(lambda: interruptible(cancel), self._one_by_one())

    def __repr__(self) -> str:
        n = self._options.geometry.n
        return f"<Puzzles: {len(self._numbers)} of {n}x{n} cells, with seed {self.seed}>"

    @property
    def uniform(self) -> bool:
        """True if all grids have exactly the same probability."""
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
        """Yield the puzzles in blocks. Errors are those of ``generate``."""
        return iterate_in(lambda: interruptible(self._cancel), self._blocks())

    def _blocks(self) -> Generator[PuzzleBlock, None, None]:
        return self._split() if self._options.unbiased else self._reduce()

    def _split(self) -> Generator[PuzzleBlock, None, None]:
        """Make unbiased puzzles. Each block is a batch, and the last may be a part of one."""
        numbers = self._numbers
        with closing(ordered_map(count(self._batches), self._batch, self._threads)) as batches:
            while numbers:
                batch = next(batches).result
                assert batch is not None
                block = batch.part(0, len(numbers))
                block_numbers = np.arange(numbers.start, numbers.start + len(block))
                numbers = numbers[len(block) :]
                yield replace(block, numbers=block_numbers, whole=len(block) == len(batch))

    def _batch(self, number: int) -> PuzzleBlock:
        """Make a batch of unbiased puzzles, numbered from 0."""
        grids, particles = make_batch(self._options.geometry, self.seed, number)
        solutions = grids[particles.grids]
        return PuzzleBlock(
            self._options.geometry,
            self.seed,
            np.arange(len(solutions)),
            solutions * particles.clues,
            solutions,
            particles.weights,
        )

    def _reduce(self) -> Generator[PuzzleBlock, None, None]:
        """Make puzzles by removing clues, without repeats if the boards are small."""
        numbers = self._numbers
        known_puzzles: set[bytes] | None = set() if self._options.is_small else None
        chunk_size = ChunkSize(1, CHUNK_SECONDS, MAX_PUZZLES)

        def chunks() -> Iterator[range]:
            # On small boards, earlier puzzles are made, too, because they must not be repeated.
            start = numbers.start if known_puzzles is None else 0
            while numbers and start < numbers.stop:
                end = min(start + chunk_size.size, numbers.stop)
                yield range(start, end)
                start = end

        puzzles_made = self._done
        with closing(ordered_map(chunks(), self._make, self._threads)) as results:
            for finished in results:
                block = finished.result
                assert block is not None
                if known_puzzles is not None:
                    block = self._without_repeats(block, known_puzzles)
                if len(finished.item) == chunk_size.size:  # not the shorter last chunk
                    chunk_size.adapt(finished.seconds, full=True)
                is_whole = block.whole
                first_row = int(np.searchsorted(block.numbers, numbers.start))
                block = block.part(first_row, len(block))
                puzzles_made += len(block)
                if len(block):
                    yield block
                if not is_whole:
                    total = len(numbers) + self._done
                    raise GaveUp(
                        f"gave up after {self._seconds:g} s without another puzzle:"
                        f" {puzzles_made} of {total} found"
                        f"{'' if puzzles_made else ', and perhaps there are none'}"
                    )

    def _without_repeats(self, block: PuzzleBlock, known_puzzles: set[bytes]) -> PuzzleBlock:
        """Replace each known puzzle by its next accepted attempt that is not known.

        Blocks are processed in the order of their numbers, so the replacements are deterministic.
        """
        for i, number in enumerate(block.numbers.tolist()):
            if bytes(block.puzzles[i]) in known_puzzles:
                replacement = self._make(range(number, number + 1), known_puzzles)
                if not len(replacement):
                    return replace(block.part(0, i), whole=False)
                block.puzzles[i] = replacement.puzzles[0]
                block.solutions[i] = replacement.solutions[0]
            known_puzzles.add(bytes(block.puzzles[i]))
        return block

    def _make(self, numbers: range, known_puzzles: Collection[bytes] = ()) -> PuzzleBlock:
        """Make the puzzles with the given numbers, except known ones, until the time is over.

        Each round makes the same attempts for all puzzles that are still missing. Of each puzzle,
        the first accepted attempt counts.
        """
        geometry = self._options.geometry
        missing = np.arange(numbers.start, numbers.stop)
        no_rows = np.empty((0, geometry.cells), np.uint8)
        accepted = [(missing[:0], no_rows, no_rows)]  # numbers, puzzles, grids of each round
        first_attempt = 0
        attempts_per_round = 1  # for all puzzles together; it grows while rounds are short
        try:
            with cancelling(_Patience(self._seconds, self._last_puzzle)):
                while len(missing):
                    start = time.monotonic()
                    repeats = max(1, attempts_per_round // len(missing))
                    attempt_range = np.arange(first_attempt, first_attempt + repeats)
                    attempts = np.tile(attempt_range, len(missing))
                    attempt_numbers = np.repeat(missing, repeats)

                    grids = self._grids.at(attempt_numbers, attempts)
                    seeds, *_ = random_words(self.seed, attempt_numbers, attempts, KEYS)
                    puzzles, is_good = self._attempt(grids, seeds)
                    if known_puzzles:
                        is_good &= [bytes(puzzle) not in known_puzzles for puzzle in puzzles]

                    # A row for each missing puzzle, with its attempts in order.
                    is_good = is_good.reshape(len(missing), repeats)
                    is_found = is_good.any(axis=1)
                    first_good = np.arange(len(missing)) * repeats + is_good.argmax(axis=1)
                    rows = first_good[is_found]
                    accepted.append((missing[is_found], puzzles[rows], grids[rows]))
                    if len(rows):
                        self._last_puzzle[0] = time.monotonic()
                    missing = missing[~is_found]

                    first_attempt += repeats
                    if time.monotonic() - start < CHUNK_SECONDS:
                        attempts_per_round = min(2 * attempts_per_round, MAX_PUZZLES)
        except Cancelled:
            check_cancelled()  # raises if the caller cancelled; otherwise the time is over
        columns = zip(*accepted, strict=True)
        made_numbers, puzzles, grids = (np.concatenate(column) for column in columns)
        order = np.argsort(made_numbers)
        if len(missing):
            # Only the puzzles before the first missing one: a resumed run starts there.
            order = order[: missing.min() - numbers.start]
        return PuzzleBlock(
            geometry,
            self.seed,
            made_numbers[order],
            puzzles[order],
            grids[order],
            np.ones(len(order)),
            whole=not len(missing),
        )

    def _attempt(
        self, grids: NDArray[np.uint8], seeds: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Make puzzles from grids, uint8 (B, cells). Return them, and which meet the options."""
        options = self._options
        geometry = options.geometry
        if options.pattern is not None:
            puzzles = grids * options.pattern
            # Most patterns leave several solutions, so most attempts are rejected.
            counts = search_block(Batch(geometry, puzzles), Options(limit=2), CpuEngine(1)).numbers
            is_good = counts == 1
        else:
            is_proven = options.minimal or geometry.n <= MAX_PROVEN_DIGITS
            puzzles = remove_redundant_clues(
                Batch(geometry, grids),
                grids,
                seeds,
                units=options.units,
                min_clues=0 if options.minimal else options.min_clues,
                max_guesses=-1 if is_proven else MAX_GUESSES,
            )
            clues = np.count_nonzero(puzzles, axis=1)
            is_good = (options.min_clues <= clues) & (clues <= options.max_clues)
        if options.minimal and (options.pattern is not None or options.units is not None):
            # A pattern, or units of several cells, may leave redundant clues.
            boards = Batch(geometry, puzzles[is_good])
            minimal_puzzles = remove_redundant_clues(boards, grids[is_good], seeds[is_good])
            is_good[is_good] = (minimal_puzzles == boards.cells).all(axis=1)
        if options.levels is not None:  # last, because rating takes longest
            levels = rate_batch(Batch(geometry, puzzles[is_good])).levels
            is_good[is_good] = np.isin(levels, options.levels)
        return puzzles, is_good


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
    """Make random puzzles, each with exactly one solution. Without ``unbiased``, all are different.

    The clues of a random grid are removed in a random order, as by ``minimise``, until no clue is
    redundant. Grids of 9x9 cells and of most smaller shapes are exactly uniform; others come from
    random walks, see ``Puzzles.uniform``. Puzzle k depends only on the options, the seed and k, so
    a larger ``n`` begins with the same puzzles.

    Parameters
    ----------
    n
        The number of puzzles.
    box
        The shape of the boxes, 3x3 by default.
    seed
        An integer from 0 to below 2^128; by default a new random one.
    minimal
        True to make only puzzles without a redundant clue. On boards of up to 16x16 cells, all
        puzzles are minimal anyway unless ``clues``, ``symmetry`` or ``pattern`` is given.
    clues
        The number of clues, or its minimum and maximum. Removing ends at the minimum, and puzzles
        above the maximum are discarded.
    symmetry
        Names, in a list or separated by commas, out of ``rotational`` (half a turn),
        ``quarter-turn``, ``left-right``, ``top-bottom``, ``diagonal``, ``antidiagonal``, or ``all``
        of them. Cells that a symmetry maps to each other lose their clues together.
    pattern
        The cells that have clues; no other cells have any. A text or a ``pathlib.Path`` with a
        character for each cell, ``.`` for an empty one, or an array of bools. If grids are uniform,
        all puzzles with the pattern are equally likely.
    difficulty
        Levels of ``rate``, in a list or separated by commas.
    unbiased
        True to make minimal puzzles with weights. Weighted statistics of them estimate those of all
        minimal puzzles. The shape must be one whose grids are exactly uniform. A random grid may
        give several puzzles. Excludes ``clues``, ``symmetry``, ``pattern`` and ``difficulty``.
    seconds
        The time without another puzzle after which ``GaveUp`` is raised.
    jobs
        The number of threads; by default one per usable core.
    cancel
        A token that stops the work, from any thread.

    Raises
    ------
    InputError
        If a value is out of range, or no puzzle can meet the options.
    GaveUp
        By the iterator, if the next puzzle is not found in time.
    Interrupted, Cancelled
        After Ctrl-C, or when ``cancel`` is cancelled.
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
