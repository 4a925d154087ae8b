"""How much work a search will be, from a small sample of its tree.

Knuth's estimator (Estimating the efficiency of backtrack programs, Mathematics of Computation 29,
1975) walks down at random and weighs every node by the choices that led to it. This is its form
for many walkers at once, stochastic enumeration (Rubinstein; Vaisman and Kroese, 2013): all
children of all walkers are made, and some of them go on, with the weight of all. It is unbiased,
varies less, and is exact where the tree is no wider than the walkers are many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpusudoku.kernels.search.select import search_for
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

WALKERS = 256
WALKED_WORDS = 256 * 21
"""The most words of packed boards at a time: boards larger than 9x9 have fewer walkers."""
LEAST_WALKERS = 4
"""The fewest walkers, whatever the size of the board."""
HOPELESS = 1e18
"""The number of nodes from which on nothing more is to be learnt: thousands of years."""
SEED = 1


@dataclass(frozen=True)
class SearchEstimate:
    """What a search would take."""

    nodes: float
    """Boards looked at; HOPELESS or more if it is that many, however many."""
    solutions: float
    exact: bool
    """Whether the whole tree was seen."""
    node_seconds: float
    """What a node takes, on the average."""

    @property
    def endless(self) -> bool:
        """Whether it is HOPELESS, so that no more was learnt."""
        return self.nodes >= HOPELESS

    def seconds(self, limit: int | None = None) -> float:
        """Time on one core, in seconds of a machine of 2024; stopping at a limit of solutions."""
        share = 1.0 if limit is None or self.solutions <= limit else limit / self.solutions
        return self.nodes * share * self.node_seconds


def estimate_search(roots: Frontier, settings: SearchSettings) -> SearchEstimate:
    """Estimate the search below some boards; the same for the same boards, always.

    What is HOPELESS is not looked into any further: nodes and solutions are then lower.
    """
    rng = np.random.default_rng(SEED)
    todo, weight, nodes, dead, solutions = roots, 1.0, 0.0, 0.0, 0.0
    walkers = max(LEAST_WALKERS, min(WALKERS, WALKED_WORDS // roots.layout.words))
    while len(todo) and nodes < HOPELESS:
        looked = len(todo)
        solved, todo = todo.split(settings)
        nodes += weight * looked
        dead += weight * (looked - len(solved) - len(todo) + todo.guesses)
        solutions += weight * len(solved)
        if len(todo) > walkers:
            weight *= len(todo) / walkers
            chosen = rng.choice(len(todo), walkers, replace=False)
            todo = Frontier(todo.layout, todo.boards[chosen], todo.roots[chosen])
    search = search_for(roots.layout, settings)
    seconds = (nodes - dead) * search.node_seconds + dead * search.dead_seconds
    return SearchEstimate(nodes, solutions, weight == 1.0, seconds / nodes if nodes else 0.0)
