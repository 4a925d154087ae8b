"""Minimal puzzles with weights that correct their probabilities: multilevel splitting.

A *particle* has a set C of m clues with one solution, the set R of its *redundant* clues, and a
weight w. (A clue is redundant if there is still one solution without it.) A batch starts with m0
random clues of each of G uniform grids. Those sets with one solution are the first particles, with
w = 1 / G. A child of a particle is C without a clue of R, and has the weight w / m on average. If R
is empty, C is a minimal puzzle: it is output with the weight w * binom(N, m), where N is the number
of cells.

Let P be a minimal puzzle of n <= m0 clues of a grid. If C contains P, each of its other clues is
redundant. So they can be removed in any order, and P is reached. The mean of its weight is the
product of

    1 / G                                     the weight of its grid
    binom(N - n, m0 - n) / binom(N, m0)       the probability that the first clues contain P
    (m0 - n)! * n! / m0!                      the orders of removal, 1 / m for each removed clue
    binom(N, n)                               the last factor

which is 1 / G: the same for all minimal puzzles of up to m0 clues. So the weights of a batch add up
on average to the number of minimal puzzles of a grid. (One in billions of 9x9 puzzles has more than
36 clues.)

This does not depend on the number of children that are made. A particle should have x children,
which is rounded at random to an integer k with the mean x. Let q = |R|. If k < q, k different
children are drawn, each of weight w/x * q/m; otherwise all q are made, each of weight w/x * k/m. In
both cases the mean is w/m for each. x is large where much still depends on chance: this is
splitting (Kahn and Harris 1951) by levels (Garvels, The splitting method in rare event simulation,
2000). The particles of a level are rounded together, by one random number, and equal ones are
joined. Neither changes any mean.
"""

from __future__ import annotations

from math import comb, inf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Philox
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.enumeration.sampling import KEYS
from gpusudoku.jobs.watch import watching
from gpusudoku.options import Options
from gpusudoku.planning.count import search_block
from gpusudoku.planning.search import SearchPlan
from gpusudoku.puzzles.random_grids import Grids
from gpusudoku.search.frontier import Frontier

GRIDS = 2000
"""The number of grids of a batch, G."""
FIRST_CLUES = 36
"""The number of clues of the first particles, m0. On boards with fewer cells, all cells."""
CHILDREN = {
    36: 250, 35: 250, 34: 300, 33: 500, 32: 1300, 31: 3600, 30: 6000, 29: 5500, 28: 2200,
    27: 1100, 26: 500, 25: 100,
}  # fmt: skip
"""The number of children of all particles of a 9x9 batch together, by the particles' number of
clues. There are fewer if particles have few redundant clues."""
DEFAULT_CHILDREN = 1000
"""The same for other boards and numbers of clues."""
COUNTER_WORD = KEYS + 2
"""The last word of the random generator's counters for batches. Each use has another one, so that
their random bits differ."""

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Particles(NamedTuple):
    """Particles, all with the same number of clues."""

    grids: NDArray[np.int64]
    """int64 (k): the index of the grid of each."""
    clues: Bools
    """bool (k, cells): the clues."""
    redundant: Bools
    """bool (k, cells): the clues that are redundant."""
    weights: Floats
    """float64 (k)."""

    def select(self, rows: Any) -> Particles:
        """Return the particles of a mask or of indices."""
        return Particles(*(column[rows] for column in self))

    def without(self, parents: NDArray[np.int64], cells: NDArray[np.int64]) -> Particles:
        """Return children, each without a clue. Equal ones are joined, and their weights added up.

        Child i is particle ``parents[i]`` without the clue in cell ``cells[i]``.
        """
        children = self.select(parents)
        rows = np.arange(len(parents))
        children.clues[rows, cells] = False
        children.redundant[rows, cells] = False

        # The key of a child is its grid and its clues, as bytes: NumPy compares them as a whole.
        clue_bits = np.packbits(children.clues, axis=1)
        grid_bytes = children.grids[:, None].astype(">u4").view(np.uint8)
        key_bytes = np.ascontiguousarray(np.concatenate([grid_bytes, clue_bits], axis=1))
        keys = key_bytes.view(np.dtype((np.void, key_bytes.shape[1])))[:, 0]
        _, first_rows, key_index = np.unique(keys, return_index=True, return_inverse=True)
        sums = np.bincount(key_index, children.weights).astype(np.float64)
        return children.select(first_rows)._replace(weights=sums)


class _Draws:
    """The random numbers of a batch."""

    def __init__(self, seed: int, number: int) -> None:
        self._raw = Philox(counter=COUNTER_WORD << 192 | number << 128, key=seed).random_raw

    def __call__(self, size: int) -> Floats:
        """Draw float64 (size), from 0 to below 1."""
        # 53 bits of each word: as many as a float64 holds exactly.
        words = np.asarray(self._raw(size), np.uint64)
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


class _RedundancyTest:
    """A test which clues are redundant in sets of clues of grids."""

    def __init__(self, geometry: Geometry, grids: NDArray[np.uint8]) -> None:
        frontier = Frontier.of(Batch(geometry, grids))
        self._shape = frontier.shape
        self._grids = frontier.boards  # packed
        self._digits = grids.astype(np.int64) - 1
        self._words, self._bits = self._shape.cell_positions
        # For each cell, a plane with only its bit.
        self._bit_of = np.zeros((geometry.cells, self._shape.plane_words), self._shape.word)
        self._bit_of[np.arange(geometry.cells), self._words] = self._bits

    def redundant(self, grids: NDArray[np.int64], clues: Bools, tested: Bools) -> Bools:
        """Return which of the ``tested`` clues are redundant, bool (k, cells).

        A clue is necessary if the other clues have a solution with another digit in its cell. A
        search looks for that solution, as in ``minimise``.

        Parameters
        ----------
        grids
            The index of the grid of each set, int64 (k).
        clues
            The sets of clues, bool (k, cells), each with one solution.
        tested
            The clues to be tested, bool (k, cells).
        """
        shape = self._shape
        sets, cells = np.nonzero(tested)
        grid_index = grids[sets]
        tests = np.arange(len(sets))
        empty_cells = ((~clues).astype(shape.word) @ self._bit_of)[sets] | self._bit_of[cells]
        boards = self._grids[grid_index]
        planes = boards[:, : shape.planes].reshape(len(sets), shape.n, shape.plane_words)
        planes |= empty_cells[:, None]  # empty cells may have any digit
        # The cell of the tested clue may have any digit but this one.
        planes[tests, self._digits[grid_index, cells], self._words[cells]] ^= self._bits[cells]
        frontier = Frontier(shape, boards, tests)
        with watching(None):  # its progress is not that of the run
            numbers = SearchPlan(frontier, Options(limit=1)).run(CpuEngine(1)).numbers
        redundant = tested.copy()
        redundant[sets, cells] = numbers == 0
        return redundant


def relative_children(geometry: Geometry, m: int, q: NDArray[np.int64]) -> Floats:
    """Return the relative number of children for sets of m clues with q > 0 redundant ones.

    The ideal number is proportional to the standard deviation of a child's contribution to the
    results, divided by the square root of its cost (q - 1 tests). If few redundant clues remain, or
    removing one makes many necessary, a child is more likely to be a minimal puzzle, which has a
    large weight. For 9x9 boards the formula was fitted by hand to ten million children. Any
    positive numbers are correct, but other numbers are slower.
    """
    if geometry != NINE:
        return np.ones(len(q))
    exponents = -max(0.0, m - 24.2) / 5.8 * (q - 1) ** 0.7
    numbers: Floats = np.exp(np.maximum(exponents, 19.0 - m + 0.1 * q))
    # The last bits of exp and ** depend on the processor. Rounding removes them, so that a seed
    # gives the same weights on all processors.
    rounded: Floats = numbers.astype(np.float32).astype(np.float64)
    return rounded


def make_batch(geometry: Geometry, seed: int, number: int) -> tuple[NDArray[np.uint8], Particles]:
    """Make a batch: its grids, uint8 (G, cells), and its minimal puzzles in a random order."""
    draw = _Draws(seed, number)
    cells = geometry.cells
    numbers = np.arange(number * GRIDS, (number + 1) * GRIDS)
    grids = Grids(geometry, seed).at(numbers, np.zeros_like(numbers))

    # Random sets of m clues of each grid. Those with one solution are the first particles. The rank
    # of a random number among those of its grid is a random permutation of the cells.
    m = min(FIRST_CLUES, cells)
    clues = draw(grids.size).reshape(grids.shape).argsort(axis=1).argsort(axis=1) < m
    counts = search_block(Batch(geometry, grids * clues), Options(limit=2), CpuEngine(1)).numbers
    grid_index = np.flatnonzero(counts == 1)
    clues = clues[grid_index]
    test = _RedundancyTest(geometry, grids)
    redundant = test.redundant(grid_index, clues, clues)
    weights = np.full(len(grid_index), 1 / GRIDS)
    particles = Particles(grid_index, clues, redundant, weights)

    minimal_sets = list[Particles]()
    while True:
        # Output the minimal puzzles.
        q = particles.redundant.sum(axis=1)
        minimal = particles.select(q == 0)
        minimal_sets.append(minimal._replace(weights=minimal.weights * comb(cells, m)))
        particles = particles.select(q > 0)
        q = q[q > 0]
        if not len(q):
            break

        # x and k as above: the mean and the rounded number of children of each particle. Rounding
        # the cumulative sums with one random offset gives each k the mean x.
        x = particles.weights * relative_children(geometry, m, q)
        x *= CHILDREN.get(m, DEFAULT_CHILDREN) / x.sum()
        k = np.diff(np.floor(np.cumsum(x) + draw(1)).astype(np.int64), prepend=0)

        # The redundant clues of each particle in a random order, of which the first k are removed.
        parents, removed_clues = np.nonzero(particles.redundant)
        removed_clues = removed_clues[np.lexsort((draw(len(parents)), parents))]
        positions = np.arange(len(parents)) - np.repeat(np.cumsum(q) - q, q)
        is_made = positions < k[parents]
        child_weights = particles.weights / x * np.maximum(k, q) / m
        particles = particles._replace(weights=child_weights)
        particles = particles.without(parents[is_made], removed_clues[is_made])
        m -= 1
        # A necessary clue stays necessary, so only the redundant ones are tested again.
        redundant = test.redundant(particles.grids, particles.clues, particles.redundant)
        particles = particles._replace(redundant=redundant)
    all_minimal = Particles(*map(np.concatenate, zip(*minimal_sets, strict=True)))
    return grids, all_minimal.select(np.argsort(draw(len(all_minimal.weights))))


class ClueStatistics:
    """Estimates from whole batches: the mean number of clues, and of minimal puzzles per grid.

    ``moments``, float64 (4, 4), is the sum over batches of the outer product of a vector with
    itself. The vector contains 1, the sum of weights, the sum of weights times clues, and the sum
    of weights times squared clues. Pass the moments of an earlier run to continue it.
    """

    def __init__(self, moments: Any = None) -> None:
        self.moments: Floats = np.zeros((4, 4)) if moments is None else np.array(moments)

    @property
    def batches(self) -> int:
        """The number of batches."""
        return int(self.moments[0, 0])

    def add(self, clues: NDArray[np.int64], weights: Floats) -> None:
        """Add a batch: the number of clues of each puzzle, int64 (k), and the weights."""
        sums = np.array([1.0, *(weights @ clues**power for power in range(3))])
        self.moments += np.outer(sums, sums)

    def summary(self) -> str | None:
        """Describe means and their standard errors; None for fewer than two batches."""
        batches, weight, clues, squares = self.moments[0].tolist()
        if batches < 2:  # no error can be estimated
            return None
        mean_clues = clues / weight
        puzzles_per_grid = weight / batches

        def relative_error(*combination: float) -> float:
            """Return the standard error of a linear combination, relative to the weight."""
            # Of the vector of ``moments``, for a combination whose mean is 0.
            row = np.array(combination)
            square = max(0.0, float(row @ self.moments @ row))
            return sqrt(square * batches / (batches - 1)) / float(weight)

        # By linearisation: the error of a ratio a / b is that of (a - (a / b) * b) / b.
        clues_error = relative_error(0, -mean_clues, 1, 0)
        puzzles_error = puzzles_per_grid * relative_error(-puzzles_per_grid, 1, 0, 0)
        variance = squares / weight - mean_clues**2
        # As many independent puzzles would have this standard error.
        effective_count = variance / clues_error**2 if clues_error else inf
        return (
            f"weighted mean {mean_clues:.3f} +- {clues_error:.3f} clues;"
            f" {effective_count:,.0f} effective puzzles;"
            f" {puzzles_per_grid:.4g} +- {puzzles_error:.2g} minimal puzzles a grid"
        )
