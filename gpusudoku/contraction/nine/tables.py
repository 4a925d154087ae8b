"""The 280 partitions of nine digits into three sets of three. Special to 3x3 boxes."""

from __future__ import annotations

from functools import cache
from itertools import permutations

import numpy as np

from gpusudoku.kernels.contraction.nine.arrays import PARTITIONS, Tables


@cache
def tables() -> Tables:
    """What holds for every 9x9 board, made once: some ten milliseconds.

    The sets of a partition are numbered by their least digit. Partitions are numbered by the digits
    of their codes, digit 1's set first, in ascending order.
    """
    powers = 3 ** np.arange(9)
    codes = np.arange(3**9)[:, None] // powers % 3
    balanced = ((codes == 0).sum(1) == 3) & ((codes == 1).sum(1) == 3)
    codes = codes[balanced]
    canonical = _canonical(codes)
    order, index = np.unique(canonical @ powers[::-1], return_inverse=True)
    number_of = np.full(3**9, -1, np.int16)
    number_of[codes @ powers] = index
    partitions = order[:, None] // powers[::-1] % 3
    masks = np.stack([((partitions == s) << np.arange(9)).sum(1) for s in range(3)], axis=1)
    common = np.bitwise_count(masks[:, None, :, None] & masks[None, :, None, :])
    orthogonal = (common == 1).all(axis=(2, 3))
    bits = np.zeros((PARTITIONS, 320), np.uint8)
    bits[:, :PARTITIONS] = orthogonal
    permuted = np.array(list(permutations(range(3))))
    boxes = np.arange(3)
    swaps = np.empty((9, 9, PARTITIONS), np.int16)
    for one in range(9):
        for two in range(9):
            moved = np.arange(9)
            moved[[one, two]] = two, one
            swaps[one, two] = number_of[partitions[:, moved] @ powers]
    return Tables.holding(
        partition_of=number_of,
        sets=partitions.astype(np.int8),
        orthogonal=np.nonzero(orthogonal)[1].reshape(PARTITIONS, -1).astype(np.int16),
        orthogonal_bits=np.packbits(bits, axis=1, bitorder="little").view(np.uint64),
        count_steps=(1 << 3 * (3 * boxes + permuted)).sum(axis=1),
        code_steps=(permuted[None] * powers[:, None, None] << 16 * boxes).sum(axis=2),
        permutations=permuted,
        swaps=swaps,
    )


def _canonical(codes: np.ndarray) -> np.ndarray:
    """The codes, digit by digit, with their sets renumbered in the order in which they come up."""
    first = np.stack([np.argmax(codes == s, axis=1) for s in range(3)], axis=1)
    rank = np.argsort(np.argsort(first, axis=1), axis=1)
    return np.take_along_axis(rank, codes, axis=1)
