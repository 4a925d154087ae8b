"""What the sum over pairs reads in memory of a GPU: all that the host needs without Numba.

Special to 3x3 boxes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gpusudoku.kernels.contraction.nine.arrays import Lists, Roles, Tensors
from gpusudoku.kernels.contraction.nine.slabs import PER_PARTITION

MOST_THREADS = 512
"""Threads of a block, at most."""
FOUR = 4
"""Fields of a word of 64 bits."""


class DeviceOperands(NamedTuple):
    """The arrays of ``Operands``, in memory of the GPU."""

    entries: Any
    """int16 (3, entries, 4)"""
    words: Any
    """int64 (entries of C): the four fields of each entry as one word, the first one lowest."""
    start: Any
    """int64 (3, 281)"""


class RoleTensors(NamedTuple):
    """The tensors of the crossing roles, each indexed [a][b][c] by numbers.

    The last axis is filled up to a multiple of FOUR.
    """

    p: Any
    """int16: the tensor of P."""
    q: Any
    """int64: the tensor of Q, FOUR numbers of C a word, the first one lowest."""
    r: Any
    """int64: the tensor of R, in the same way."""


def narrow_on_gpu(lists: Lists, roles: Roles, tensors: Tensors) -> bool:
    """Tell whether columns of 16 bits and inner sums of 32 bits hold on a GPU.

    The CPU's sum has other bounds: ``dot.narrow_enough``.
    """
    p, _, r = (int(largest) for largest in tensors.largest[roles.tensor])
    a, b, c = (int(largest) for largest in lists.largest[roles.summed])
    return r * a * b < 1 << 16 and r * a * b * p * c * PER_PARTITION < 1 << 32
