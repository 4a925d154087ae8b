"""Minimal puzzles with weights that make up for how they are found: multilevel splitting.

A *particle* is a set C of m clues with one solution, its *redundant* clues R, those without which
there is still one solution, and a weight w. A batch begins with m0 random clues of each of G
uniform grids; those sets with one solution are particles with w = 1 / G. A child of a particle is C
without a clue of R, and has the weight w / m on average. If R is empty, C is a minimal puzzle, and
leaves with the weight w * binom(N, m), where N is the number of cells.

Let P be a minimal puzzle of n <= m0 clues of a grid. If C contains P, each of its other clues is
redundant, so they may go in any order, and P is reached. The mean of its weight is the product of

    1 / G                                     the weight of its grid
    binom(N - n, m0 - n) / binom(N, m0)       the chance that the first clues contain P
    (m0 - n)! * n! / m0!                      the orders in which others go, 1 / m for each clue
    binom(N, n)                               the last factor

which is 1 / G: the same for all minimal puzzles of up to m0 clues, and weights of a batch add up,
on average, to the number that a grid has. Of 9x9 puzzles one in billions has more than 36 clues.

That does not depend on how many children are made. A particle is to have x of them, which is
rounded at random to k, with the mean x. If k < q = |R|, k different ones are drawn, each of weight
w/x * q/m; else all q are made, each of weight w/x * k/m. The mean is w/m for each, both times. x is
large where much is still up to chance: this is splitting (Kahn and Harris 1951) by levels (Garvels,
The splitting method in rare event simulation, 2000). Particles of a level are rounded together, by
one random number, and equal ones are joined; both leave all means as they are.
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
from gpusudoku.planning.batch import search_block
from gpusudoku.planning.search import SearchPlan
from gpusudoku.puzzles.random_grids import Grids
from gpusudoku.search.frontier import Frontier

GRIDS = 2000
"""Grids of a batch."""
FIRST_CLUES = 36
"""Clues of the first particles, or of all cells, if there are no more."""
CHILDREN = {
    36: 250, 35: 250, 34: 300, 33: 500, 32: 1300, 31: 3600, 30: 6000, 29: 5500, 28: 2200,
    27: 1100, 26: 500, 25: 100,
}  # fmt: skip
"""Children that all particles of so many clues of a 9x9 board are to have together; they are fewer
where there are few redundant clues."""
OTHERS = 1000
"""Of other boards; and of so few clues that it does not matter."""
DRAWS = KEYS + 2
"""The last word of the counters from which the random bits of batches come."""

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Particles(NamedTuple):
    """Sets of clues with one solution, all of m clues."""

    grids: NDArray[np.int64]
    """int64 (k): the index of the grid of each."""
    clues: Bools
    """bool (k, cells): the clues."""
    redundant: Bools
    """bool (k, cells): those that are redundant."""
    weights: Floats
    """float64 (k)."""

    def chosen(self, which: Any) -> Particles:
        """Return some of them."""
        return Particles(*(column[which] for column in self))

    def without(self, parent: NDArray[np.int64], cell: NDArray[np.int64]) -> Particles:
        """Return some without a clue each; equal ones become one, with the sum of their weights."""
        made = self.chosen(parent)
        made.clues[np.arange(len(parent)), cell] = False
        made.redundant[np.arange(len(parent)), cell] = False
        bits = np.packbits(made.clues, axis=1)
        key = np.concatenate([made.grids[:, None].astype(">u4").view(np.uint8), bits], axis=1)
        key = np.ascontiguousarray(key).view(np.dtype((np.void, key.shape[1])))[:, 0]
        _, first, which = np.unique(key, return_index=True, return_inverse=True)
        sums = np.bincount(which, made.weights).astype(np.float64)
        return made.chosen(first)._replace(weights=sums)


class _Draws:
    """The random numbers of a batch."""

    def __init__(self, seed: int, number: int) -> None:
        self._raw = Philox(counter=DRAWS << 192 | number << 128, key=seed).random_raw

    def __call__(self, size: int) -> Floats:
        """Draw float64 (size), from 0 to below 1."""
        words = np.asarray(self._raw(size), np.uint64)
        return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


class _Tests:
    """Tells which clues of some grids are redundant."""

    def __init__(self, geometry: Geometry, grids: NDArray[np.uint8]) -> None:
        frontier = Frontier.of(Batch(geometry, grids))
        self._shape, self._solved = frontier.shape, frontier.boards
        self._digits, (self._words, self._bits) = grids.astype(np.int64) - 1, self._shape.places
        self._bit_of = np.zeros((geometry.cells, self._shape.plane_words), self._shape.word)
        self._bit_of[np.arange(geometry.cells), self._words] = self._bits

    def redundant(self, of: NDArray[np.int64], clues: Bools, wanted: Bools) -> Bools:
        """Tell which of the wanted clues are redundant, bool (k, cells), in sets of one solution.

        Without a clue there is another solution if the cell may have any digit but its own, and
        the search of that board finds one: the loop of ``minimise`` looks for the same.
        """
        shape = self._shape
        which, cells = np.nonzero(wanted)
        grids, places = of[which], np.arange(len(which))
        empty = ((~clues).astype(shape.word) @ self._bit_of)[which] | self._bit_of[cells]
        boards = self._solved[grids]
        planes = boards[:, : shape.planes].reshape(len(which), shape.n, shape.plane_words)
        planes |= empty[:, None]  # any digit
        planes[places, self._digits[grids, cells], self._words[cells]] ^= self._bits[cells]
        frontier = Frontier(shape, boards, places)
        found = wanted.copy()
        with watching(None):
            numbers = SearchPlan(frontier, Options(limit=1)).run(CpuEngine(1)).numbers
        found[which, cells] = numbers == 0
        return found


def worth(geometry: Geometry, m: int, q: NDArray[np.int64]) -> Floats:
    """Return how many children sets of m clues with q redundant ones are worth, relatively, q > 0.

    Ideal is, for each, the standard deviation of what a child adds to the results, divided by the
    root of its price (that of q - 1 tests). With few redundant clues left, or many removed at once,
    a child is more likely to be a minimal puzzle, which weighs much. On 9x9 boards this was fitted
    by hand to ten million children; any positive numbers are right, only slower.
    """
    if geometry != NINE:
        return np.ones(len(q))
    falling = -max(0.0, m - 24.2) / 5.8 * (q - 1) ** 0.7
    worths: Floats = np.exp(np.maximum(falling, 19.0 - m + 0.1 * q))
    # The last bits of exp and ** depend on the processor: without them a seed gives equal weights.
    rounded: Floats = worths.astype(np.float32).astype(np.float64)
    return rounded


def split(geometry: Geometry, seed: int, number: int) -> tuple[NDArray[np.uint8], Particles]:
    """Make a batch: its grids, uint8 (G, cells), and its minimal puzzles in a random order."""
    draw, cells = _Draws(seed, number), geometry.cells
    numbers = np.arange(number * GRIDS, (number + 1) * GRIDS)
    grids = Grids(geometry, seed).at(numbers, np.zeros_like(numbers))
    m = min(FIRST_CLUES, cells)
    clues = draw(grids.size).reshape(grids.shape).argsort(axis=1).argsort(axis=1) < m
    counts = search_block(Batch(geometry, grids * clues), Options(limit=2), CpuEngine(1)).numbers
    of, clues, tests = np.flatnonzero(counts == 1), clues[counts == 1], _Tests(geometry, grids)
    some = Particles(of, clues, tests.redundant(of, clues, clues), np.full(len(of), 1 / GRIDS))
    made = list[Particles]()
    while True:
        q = some.redundant.sum(axis=1)
        minimal, some, q = some.chosen(q == 0), some.chosen(q > 0), q[q > 0]
        made.append(minimal._replace(weights=minimal.weights * comb(cells, m)))
        if not len(q):
            break
        x = some.weights * worth(geometry, m, q)
        x *= CHILDREN.get(m, OTHERS) / x.sum()
        k = np.diff(np.floor(np.cumsum(x) + draw(1)).astype(np.int64), prepend=0)
        # The redundant clues of each particle in a random order, and the first k of them.
        parent, cell = np.nonzero(some.redundant)
        cell = cell[np.lexsort((draw(len(parent)), parent))]
        place = np.arange(len(parent)) - np.repeat(np.cumsum(q) - q, q)
        parent, cell = (each[place < k[parent]] for each in (parent, cell))
        weights = some.weights / x * np.maximum(k, q) / m
        some, m = some._replace(weights=weights).without(parent, cell), m - 1
        some = some._replace(redundant=tests.redundant(*some[:3]))
    every = Particles(*map(np.concatenate, zip(*made, strict=True)))
    return grids, every.chosen(np.argsort(draw(len(every.weights))))


class ClueStatistics:
    """What whole batches say of all minimal puzzles: how many a grid has, and of how many clues.

    ``moments`` are what they were when it stopped: float64 (4, 4), the sum over batches of the
    outer product of 1, the sum of weights, that of weights times clues, and times their squares.
    """

    def __init__(self, moments: Any = None) -> None:
        self.moments: Floats = np.zeros((4, 4)) if moments is None else np.array(moments)

    @property
    def batches(self) -> int:
        """The number of batches."""
        return int(self.moments[0, 0])

    def add(self, clues: NDArray[np.int64], weights: Floats) -> None:
        """Add a batch: the numbers of clues, int64 (k), and the weights."""
        sums = np.array([1.0, *(weights @ clues**power for power in range(3))])
        self.moments += np.outer(sums, sums)

    def summary(self) -> str | None:
        """Say means with their standard errors, by batches; None if there are fewer than two."""
        batches, weight, clues, squares = self.moments[0].tolist()
        if batches < 2:
            return None
        mean, a_grid, spread = clues / weight, weight / batches, batches / (batches - 1)
        errors = [
            sqrt(max(0.0, float(row @ self.moments @ row)) * spread) / weight
            for row in (np.array([0, -mean, 1, 0]), np.array([-a_grid, 1, 0, 0]))
        ]
        variance = squares / weight - mean**2
        effective = variance / errors[0] ** 2 if errors[0] else inf
        return (
            f"weighted mean {mean:.3f} +- {errors[0]:.3f} clues; {effective:,.0f} effective puzzles"
            f"; {a_grid:.4g} +- {a_grid * errors[1]:.2g} minimal puzzles a grid"
        )
