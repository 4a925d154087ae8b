"""One GPU: how large it is, how much memory is free, and how arrays get there and back.

CuPy holds the memory; in the simulator, NumPy does. ``launch`` allocates what a search needs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from textwrap import shorten
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.occupancy import WARP, Multiprocessor
from gpusudoku.engines.cuda.tuning import Tuning, tuning_of
from gpusudoku.errors import DeviceError, GpusudokuError

SIMULATED = Tuning(threads_per_block=4, blocks_per_multiprocessor=2, sum_threads_per_block=4)
"""The simulator runs every thread of a kernel as one of Python's."""

MOST_TOLD = 200
"""Characters of a message that is not ours: NVIDIA's go on with what else may be the matter."""

_CONFIGURING = threading.Lock()
"""Held while what Numba has for the whole process is changed: its settings, its list of GPUs."""


class OutOfMemoryError(DeviceError):
    """There was too little memory for something on a GPU: with less of it, it may do."""


@contextmanager
def one_line_errors(what: str = "CUDA") -> Iterator[None]:
    """Turn the many errors of CuPy, Numba and the driver into a DeviceError of one line."""
    try:
        yield
    except GpusudokuError:
        raise
    except Exception as error:
        reason = shorten(str(error) or type(error).__name__, MOST_TOLD, placeholder=" …")
        kind = OutOfMemoryError if _of_memory(error) else DeviceError
        raise kind(f"{what} cannot be used: {reason}") from error


def _of_memory(error: Exception) -> bool:
    """Whether CuPy says that memory has run out, or NumPy, or the driver in one of its ways."""
    said = str(error).lower().replace("_", " ")
    return isinstance(error, MemoryError) or "out of memory" in said


class Gpu:
    """One GPU: its array module, its size, and how to make it the current device.

    ``tuning`` is how kernels are launched on it; None takes what the tuning file says of it.
    ``warp`` is how many threads go in step; each is for itself in the simulator.
    """

    def __init__(self, number: int, tuning: Tuning | None = None) -> None:
        self.number = number
        if availability.simulated():
            self.name = "simulator"
            self.xp: Any = np
            self.warp = 1
            self.multiprocessors, self.multiprocessor = 1, Multiprocessor(2048, 32)
        else:
            import cupy

            self.name = availability.gpu_names()[number]
            self.xp = cupy
            self.warp = WARP
            self._try()
            has = cupy.cuda.runtime.getDeviceProperties(number)
            self.multiprocessors = has["multiProcessorCount"]
            self.multiprocessor = Multiprocessor(
                threads=has["maxThreadsPerMultiProcessor"],
                blocks=has["maxBlocksPerMultiProcessor"],
                registers=has["regsPerMultiprocessor"],
                block_registers=has["regsPerBlock"],
                shared=has["sharedMemPerMultiprocessor"],
                reserved=has["reservedSharedMemPerBlock"],
            )
        self.tuning = tuning or tuning_of(self.name, SIMULATED if self.xp is np else None)

    def _try(self) -> None:
        """Compile and run a kernel of a line: fails here and now where the GPU cannot be used.

        Numba gets to know the GPU here, too, by one thread: it could not be asked by several.
        """
        from gpusudoku.kernels import cuda_jit

        with _CONFIGURING, self.current():
            numbers = self.xp.zeros(1, np.int64)
            kernel = cuda_jit.trial()
        with self.current():
            self.configured(kernel, 1, 1)(self.for_kernel(numbers))
            if int(numbers[0]) != cuda_jit.TRIAL:
                raise DeviceError(f"GPU {self.number} cannot be used: it computes nothing")

    @contextmanager
    def current(self) -> Iterator[None]:
        """Make this the device of the calling thread, for CuPy and for Numba, for a while.

        What goes wrong in that is a DeviceError; what others do meanwhile passes.
        """
        with ExitStack() as devices:
            if not availability.simulated():
                from numba import cuda

                with self.errors():
                    devices.enter_context(self.xp.cuda.Device(self.number))
                    devices.enter_context(cuda.gpus[self.number])
            try:
                yield
            finally:
                with self.errors():
                    devices.close()

    def errors(self) -> AbstractContextManager[None]:
        """Turn what goes wrong on this GPU into a DeviceError of one line that names it."""
        return one_line_errors(f"GPU {self.number}")

    def block_of(self, kernel: Any, threads: int) -> int:
        """The threads of a block: so many, or as many as there are registers for; whole warps."""
        return self._block(self._registers(kernel), threads)

    def grid_of(self, kernel: Any) -> tuple[int, int]:
        """Blocks, and threads of a block, of a search that fills the GPU: all run at once."""
        registers = self._registers(kernel)
        threads = self._block(registers, self.tuning.threads_per_block)
        blocks = self.tuning.blocks_per_multiprocessor
        if blocks is None:
            blocks = self.multiprocessor.blocks_of(threads, registers)
        return blocks * self.multiprocessors, threads

    def _block(self, registers: int, threads: int) -> int:
        whole = -(-threads // self.warp) * self.warp
        return min(whole, self.multiprocessor.most_threads(registers))

    def blocks_at_once(self, kernel: Any, threads: int) -> int:
        """The blocks of so many threads of a kernel that run on the GPU at once."""
        needed = threads, self._registers(kernel), self._shared(kernel)
        return self.multiprocessors * self.multiprocessor.blocks_of(*needed)

    def fullest_block(self, kernel: Any, most: int) -> int:
        """The threads of a block, of whole warps and ``most`` at most, that fill the GPU best.

        Where several sizes let equally many threads run at once, blocks are the smallest of these.
        """
        sizes = range(self.warp, self.block_of(kernel, most) + 1, self.warp)
        return max(sizes, key=lambda threads: threads * self.blocks_at_once(kernel, threads))

    def _shared(self, kernel: Any) -> int:
        """The bytes of shared memory of a block of a kernel; the simulator has any number."""
        return 0 if self.xp is np else max(kernel.get_shared_mem_per_block().values())

    def _registers(self, kernel: Any) -> int:
        """The registers of a thread of a kernel that is compiled; the simulator has none."""
        return 0 if self.xp is np else max(kernel.get_regs_per_thread().values())

    def configured(self, kernel: Any, blocks: int, threads: int) -> Any:
        """The kernel, ready to be launched in so many blocks of so many threads.

        Numba warns of grids of few blocks; small GPUs, and GPUs short of memory, get them on
        purpose.
        """
        from numba import config

        with _CONFIGURING:
            warns = config.CUDA_LOW_OCCUPANCY_WARNINGS
            config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
            try:
                return kernel[blocks, threads]
            finally:
                config.CUDA_LOW_OCCUPANCY_WARNINGS = warns

    def for_kernel(self, array: Any) -> Any:
        """An array in Numba's form, so that not every launch has to convert it."""
        if self.xp is np:
            return array
        from numba import cuda

        return cuda.as_cuda_array(array)

    def finish(self) -> None:
        """Wait until all launched kernels are done, in any stream."""
        from numba import cuda

        cuda.synchronize()

    def free_bytes(self) -> int:
        """The bytes of memory that are free on the GPU."""
        if availability.simulated():
            return 1 << 28
        unused = self.xp.get_default_memory_pool().free_bytes()
        return int(self.xp.cuda.runtime.memGetInfo()[0] + unused)

    def free_unused(self) -> None:
        """Give back to the GPU what CuPy keeps for later."""
        if self.xp is not np:
            self.xp.get_default_memory_pool().free_all_blocks()

    def host(self, array: Any) -> NDArray[Any]:
        """Copy an array from the GPU to the host."""
        return np.array(array) if self.xp is np else self.xp.asnumpy(array)
