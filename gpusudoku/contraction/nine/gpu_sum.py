"""The sum of a 9x9 contraction on a GPU. Special to 3x3 boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.contraction.nine.arrays import A, B, C, Operands, P, Q, R, Roles, Tensors

BLOCKS_EACH = 4
"""Blocks for every one that the GPU runs at once, at least, so that all end together."""


class DeviceSum:
    """What is summed, on a GPU.

    Parameters
    ----------
    gpu
        An ``engines.cuda.device.Gpu``, which is the current one.
    roles, operands, tensors
        Groups of the workspace, once they are written.
    pairs
        int32 (pairs, 3): the pairs to be summed, as in ``Orbits``.
    wide
        Whether the wide kernel is needed.
    """

    def __init__(
        self,
        gpu: Any,
        *,
        roles: Roles,
        operands: Operands,
        tensors: Tensors,
        pairs: NDArray[np.int32],
        wide: bool,
    ) -> None:
        from gpusudoku.kernels.contraction.nine import cuda

        def brought(array: NDArray[Any]) -> Any:
            return gpu.for_kernel(gpu.xp.asarray(array))

        self._gpu, self._pairs, self._start = gpu, pairs, operands.start
        self._terms = int(operands.start[C, -1])
        self._kernel = cuda.kernel(wide)
        wanted, most = gpu.tuning.sum_threads_per_block, cuda.MOST_THREADS
        self._threads = (
            gpu.fullest_block(self._kernel, most)
            if wanted is None
            else gpu.block_of(self._kernel, min(wanted, most))
        )
        words = operands.entries[C].view(np.int64).ravel()
        on_gpu = {role: self._numbered_last(tensors, roles, role) for role in {*roles.tensor}}
        p, q, r = (on_gpu[role] for role in roles.tensor[[P, Q, R]])
        self._arguments = (
            brought(pairs),
            brought(roles.shape),
            cuda.DeviceOperands(brought(operands.entries), brought(words), brought(operands.start)),
            cuda.RoleTensors(brought(p), brought(q.view(np.int64)), brought(r.view(np.int64))),
        )

    def _numbered_last(self, tensors: Tensors, roles: Roles, role: int) -> Any:
        """The tensor of a role as the kernel wants it, in memory of the GPU.

        Returns
        -------
        int16, flat: [a][b][c], filled up with zeros
        """
        from gpusudoku.kernels.contraction.nine.cuda import FOUR

        a, b, c = roles.shape[:, role].tolist()
        xp = self._gpu.xp
        entries = xp.asarray(tensors.entries[role, : a * b * c]).reshape(c, a, b)
        filled = xp.zeros((a, b, -(-c // FOUR) * FOUR), np.int16)
        filled[:, :, :c] = entries.transpose(1, 2, 0)
        return filled.ravel()

    def __call__(self, first: int, last: int) -> tuple[int, int]:
        """The sum of pairs[first:last], and how many products were added up, at most."""
        pairs = last - first
        at_once = self._gpu.blocks_at_once(self._kernel, self._threads)
        parts = max(1, -(-BLOCKS_EACH * at_once // pairs))  # none would be a sum of 0
        sums = self._gpu.xp.zeros(pairs, np.uint64)
        launch = self._gpu.configured(self._kernel, pairs * parts, self._threads)
        launch(first, parts, *self._arguments, self._gpu.for_kernel(sums))
        found = self._gpu.host(sums).tolist()  # waits for the kernel
        sizes = self._pairs[first:last, 2].tolist()
        total = sum(one * size for one, size in zip(found, sizes, strict=True))
        return total, self._products_of(first, last)

    def _products_of(self, first: int, last: int) -> int:
        """Products that the sum of pairs[first:last] adds up, at most."""
        b, a = self._pairs[first:last, :2].T
        lengths = np.diff(self._start, axis=1)
        return int((lengths[A, a] * lengths[B, b]).sum()) * self._terms
