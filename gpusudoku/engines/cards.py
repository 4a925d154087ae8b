"""One GPU: how big it is, and how to use its memory. CuPy holds it; in the simulator, NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines import driver
from gpusudoku.errors import DeviceError, GpusudokuError

THREADS_PER_BLOCK = 128
BLOCKS_PER_MULTIPROCESSOR = 8


@contextmanager
def one_line_errors() -> Iterator[None]:
    """What CuPy, Numba and the driver raise in many classes: the device cannot be used."""
    try:
        yield
    except GpusudokuError:
        raise
    except Exception as error:
        raise DeviceError(f"CUDA cannot be used: {' '.join(str(error).split())}") from error


class Card:
    """One GPU: its array module, its size, and how to make it the current device."""

    def __init__(self, number: int) -> None:
        self.number = number
        if driver.simulated():
            self.xp: Any = np
            self.threads_per_block, self.blocks, self.multiprocessors = 4, 2, 1
        else:
            import cupy

            self.xp = cupy
            with cupy.cuda.Device(number) as device:
                cupy.zeros(1)  # fails here and now where the card is not to be had
            attributes = device.attributes
            self.threads_per_block = THREADS_PER_BLOCK
            self.multiprocessors = attributes["MultiProcessorCount"]
            self.blocks = BLOCKS_PER_MULTIPROCESSOR * self.multiprocessors

    @property
    def threads(self) -> int:
        """Threads of a launch that fills the card."""
        return self.threads_per_block * self.blocks

    def current(self) -> AbstractContextManager[Any]:
        """Make this the device of the calling thread, for CuPy and for Numba."""
        if driver.simulated():
            return nullcontext()
        from numba import cuda

        self.xp.cuda.Device(self.number).use()
        return cuda.gpus[self.number]  # type: ignore[no-any-return]

    def free_bytes(self) -> int:
        """Memory to be had on the card."""
        if driver.simulated():
            return 1 << 28
        unused = self.xp.get_default_memory_pool().free_bytes()
        return int(self.xp.cuda.runtime.memGetInfo()[0] + unused)

    def host(self, array: Any) -> NDArray[Any]:
        """Copy an array from the card."""
        return np.array(array) if self.xp is np else self.xp.asnumpy(array)
