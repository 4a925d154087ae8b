"""Where one thread keeps the sums of a turn by kinds. Special to 3x3 boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.arguments import Group
from gpusudoku.kernels.contraction.nine.arrays import MOST_ENTRIES, PARTITIONS
from gpusudoku.kernels.contraction.nine.slabs import STRIDE, TILE

FIRST, LAST, USED, PENDING, MOST, FIELDS = range(6)
"""Fields of ``Ledger.state``, and their number."""


class Ledger(Group):
    """Where one thread keeps its sums by kinds. A sweep writes it."""

    state: NDArray[np.int64]
    """int64 (FIELDS): the pairs FIRST to before LAST are to be summed, USED solutions of the first
    pair's orbit were already. PENDING, MOST at most, is what the environments hold."""
    by_a: NDArray[np.int64]
    """int64 (280 * STRIDE): by number of C at P and, changing faster, kind of a."""
    by_b: NDArray[np.int64]
    """int64 (280 * STRIDE): by number of C at P and, changing faster, kind of b."""
    by_c: NDArray[np.int64]
    """int64 (MOST_ENTRIES): by kind of C at P."""
    columns: NDArray[np.int64]
    """int64 (2, STRIDE): sums over the k of one kind, and of all, for every l."""
    pivots: NDArray[np.int64]
    """int64 (280): the tensor of P at one (a, b)."""
    joined: NDArray[np.int64]
    """int64 (280 * STRIDE): by number of P at C and, changing faster, kind of a: ``by_a``, added up
    over what is orthogonal."""
    joined_for: NDArray[np.int64]
    """int64 (280): the pair for which that is written."""
    touched: NDArray[np.int64]
    """int64 (280): by number of P at A, whether ``of_c`` and ``of_b`` are in use."""
    of_c: NDArray[np.int64]
    """int64 (280 * MOST_ENTRIES): for every number of P at A, ``by_c``, added up over the a that
    are orthogonal to it."""
    of_b: NDArray[np.int64]
    """int64 (280 * 280 * STRIDE): ``by_b`` likewise."""
    start: NDArray[np.int64]
    """int64 (281): where in ``fitting`` the entries of every number at A begin; then their end."""
    fitting: NDArray[np.int16]
    """int16 (MOST_ENTRIES): the entries of P that are orthogonal to b, by their numbers at A."""
    products: NDArray[np.int32] | NDArray[np.int64]
    """(TILE): the sum of T over the c of one number, for some k and all l; 64 bits for wide slabs,
    else 32."""


def make_ledger(wide: bool) -> Ledger:
    """Room for one thread's sums: 75 MB; what a board does not touch takes no memory."""
    most, n = MOST_ENTRIES, PARTITIONS
    return Ledger(
        state=(np.int64, (FIELDS,)),
        by_a=(np.int64, (n * STRIDE,)),
        by_b=(np.int64, (n * STRIDE,)),
        by_c=(np.int64, (most,)),
        columns=(np.int64, (2, STRIDE)),
        pivots=(np.int64, (n,)),
        joined=(np.int64, (n * STRIDE,)),
        joined_for=(np.int64, (n,)),
        touched=(np.int64, (n,)),
        products=(np.int64 if wide else np.int32, (TILE,)),
        start=(np.int64, (n + 1,)),
        fitting=(np.int16, (most,)),
        of_c=(np.int64, (n * most,)),
        of_b=(np.int64, (n * n * STRIDE,)),
    )
