"""Write all solutions of a 9x9 board of the collection to stdout, by products; see ``listing.py``.

Two arguments: the board's name, and the number of threads.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from gpusudoku import Board, collection
from gpusudoku.contraction.nine.products import Products
from gpusudoku.contraction.nine.quick import QuickOrder
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier


def candidates_of(board: Board) -> NDArray[np.uint64]:
    """uint64 (81): what singles leave of a board that has solutions."""
    return Frontier.of([board]).simplified(SearchSettings()).candidates[0]


def main(name: str, threads: int) -> None:
    """Write the lines of a board."""
    found = Products(QuickOrder(candidates_of(collection.load(name)), threads))
    with open(1, "wb", closefd=False) as out:
        for block in found.rows(text=True, threads=threads):
            out.write(block)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
