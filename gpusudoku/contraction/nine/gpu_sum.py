"""The sum of a 9x9 contraction on a GPU. Special to 3x3 boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.kernels.contraction.nine.arrays import A, B, C, Operands, Roles, Tensors


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
    """

    def __init__(
        self,
        gpu: Any,
        *,
        roles: Roles,
        operands: Operands,
        tensors: Tensors,
        pairs: NDArray[np.int32],
    ) -> None:
        from gpusudoku.kernels.contraction.nine.cuda import DeviceOperands, RoleTensors

        def brought(array: NDArray[Any]) -> Any:
            return gpu.for_kernel(gpu.xp.asarray(array))

        self._gpu, self._pairs, self._start = gpu, pairs, operands.start
        self._terms = int(operands.start[C, -1])
        lengths = roles.shape.prod(axis=0).tolist()
        made = zip(roles.tensor.tolist(), lengths, strict=True)
        self._arguments = (
            brought(pairs),
            brought(roles.shape),
            DeviceOperands(brought(operands.entries), brought(operands.start)),
            RoleTensors(*(brought(tensors.entries[role, :length]) for role, length in made)),
            self._terms,
        )

    def __call__(self, first: int, last: int) -> tuple[int, int]:
        """The sum of pairs[first:last], and how many products were added up, at most."""
        from gpusudoku.kernels.contraction.nine.cuda import kernel

        sums = self._gpu.xp.zeros(last - first, np.uint64)
        threads = self._gpu.block_of(kernel(), self._gpu.tuning.sum_threads_per_block)
        launch = self._gpu.configured(kernel(), last - first, threads)
        launch(first, *self._arguments, self._gpu.for_kernel(sums))
        found = self._gpu.host(sums).tolist()  # waits for the kernel
        sizes = self._pairs[first:last, 2].tolist()
        total = sum(one * size for one, size in zip(found, sizes, strict=True))
        return total, self._products_of(first, last)

    def _products_of(self, first: int, last: int) -> int:
        """Products that the sum of pairs[first:last] adds up, at most."""
        b, a = self._pairs[first:last, :2].T
        lengths = np.diff(self._start, axis=1)
        return int((lengths[A, a] * lengths[B, b]).sum()) * self._terms
