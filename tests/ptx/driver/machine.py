"""The GPUs of the stand-in driver: their memory, contexts, launches and failures."""

from __future__ import annotations

import json
import os
import sys
import threading
from ctypes import string_at
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.ptx.driver.modules import Function
from tests.ptx.function import offsets
from tests.ptx.launch import MAX_THREADS, POISON, Fault, Region, memory

# The numbers of errors in the driver's header.
INVALID_VALUE = 1
OUT_OF_MEMORY = 2
INVALID_DEVICE = 101
INVALID_CONTEXT = 201
ILLEGAL_ADDRESS = 700
OUT_OF_RESOURCES = 701

REGISTERS = 1 << 16
"""The number of registers of a multiprocessor, and the largest number for a block."""
MAJOR, MINOR = 75, 76
"""The numbers of the attributes with the compute capability."""
ATTRIBUTES = {
    1: MAX_THREADS,  # of a block
    10: 32,  # threads of a warp
    12: REGISTERS,  # of a block
    13: 1_980_000,  # kilohertz
    16: 1,  # multiprocessors
    39: 1024,  # threads of a multiprocessor
    81: 100 << 10,  # bytes of shared memory of a multiprocessor
    82: REGISTERS,  # of a multiprocessor
    106: 16,  # blocks of a multiprocessor
    111: 1 << 10,  # bytes of shared memory of each block that the driver takes
}
"""The attributes that all cards share, by their numbers in the driver's header."""


class DriverError(Exception):
    """An error whose code a function of the driver returns instead of 0."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Device:
    """A card. Its memory is memory of the host."""

    number: int
    capability: tuple[int, int]
    memory: int
    """The size of the memory in bytes."""
    arrays: dict[int, NDArray[np.uint8]] = field(default_factory=dict)
    """The allocated arrays by address."""
    error_code: int = 0
    """The code that all functions return after a kernel has failed."""

    @property
    def name(self) -> str:
        return "Stand-in {}.{}".format(*self.capability)

    @property
    def attributes(self) -> dict[int, int]:
        return ATTRIBUTES | dict(zip((MAJOR, MINOR), self.capability, strict=True))

    @property
    def free(self) -> int:
        """The number of free bytes."""
        return self.memory - sum(map(len, list(self.arrays.values())))

    def allocate(self, size: int) -> int:
        """Return the address of new memory, which is full of garbage."""
        if size == 0:
            raise DriverError(INVALID_VALUE)
        if size > self.free:
            raise DriverError(OUT_OF_MEMORY)
        array = memory(size)
        array[:] = POISON % 256
        self.arrays[array.ctypes.data] = array
        return int(array.ctypes.data)

    def check(self, address: int, size: int) -> None:
        """Raise an error unless the ``size`` bytes from an address are inside one array."""
        for start, array in list(self.arrays.items()):
            if start <= address and address + size <= start + len(array):
                return
        raise DriverError(INVALID_VALUE)

    def blocks_at_once(self, function: Function, block: int) -> int:
        """Return the number of blocks of ``block`` threads that a multiprocessor can hold."""
        warps = -(-block // 32)
        by_threads = self.attributes[39] // (32 * warps)
        by_registers = REGISTERS // registers_of_warp(function) // warps
        by_shared_memory = self.attributes[81] // (function.shared + self.attributes[111])
        return min(self.attributes[106], by_threads, by_registers, by_shared_memory)

    def launch(
        self,
        function: Function,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        shared: int,
        parameters: Any,
    ) -> None:
        """Run a kernel; ``parameters`` are the addresses of its parameters.

        As on a card, the next call of any function reports an error of the kernel.
        """
        assert (shared, *grid[1:], *block[1:]) == (0, 1, 1, 1, 1), "no kernel here needs it"
        if not (grid[0] and 0 < block[0] <= MAX_THREADS):
            raise DriverError(INVALID_VALUE)
        if -(-block[0] // 32) * registers_of_warp(function) > REGISTERS:
            raise DriverError(OUT_OF_RESOURCES)
        kernel = function.kernel()
        words = bytearray()
        for i, (variable, offset) in enumerate(offsets(kernel.function.parameters)):
            words += bytes(offset - len(words)) + string_at(parameters[i], variable.size)
        arrays = enumerate(list(self.arrays.items()))
        regions = [Region(start, len(array), f"array {i}") for i, (start, array) in arrays]
        try:
            kernel.run(grid[0], block[0], bytes(words), regions)
        except Fault as fault:
            print(f"the stand-in for the driver: {fault}", file=sys.stderr)
            self.error_code = ILLEGAL_ADDRESS
        self.error_code = self.error_code or machine.failure("kernel")


def registers_of_warp(function: Function) -> int:
    """Return the registers that a warp takes: those of a thread are rounded up to 8."""
    return -(-function.registers // 8) * 8 * 32


class Machine:
    """The cards that PTX_CARDS describes: JSON with ``cards`` (capabilities), ``memory`` (bytes of
    each card) and ``failures``.

    Failures are lists of error codes by the name of a function, a code for each call; a call with
    code 0 succeeds. The name "kernel" is for errors of kernels while they run.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.devices = [
            Device(number, tuple(capability), settings.get("memory", 1 << 28))
            for number, capability in enumerate(settings.get("cards", [[9, 0]]))
        ]
        self.failures: dict[str, list[int]] = settings.get("failures", {})

    def device(self, number: int) -> Device:
        if not 0 <= number < len(self.devices):
            raise DriverError(INVALID_DEVICE)
        return self.devices[number]

    def failure(self, name: str) -> int:
        """Return the code of the failure of this call, or 0."""
        codes = self.failures.get(name)
        return codes.pop(0) if codes else 0

    def mend(self, failures: dict[str, list[int]]) -> None:
        """Repair all cards, as no program can do with real ones, and set the next failures."""
        for device in self.devices:
            device.error_code = 0
        self.failures = failures


machine = Machine(json.loads(os.environ.get("PTX_CARDS", "{}")))


class Contexts(threading.local):
    """The stack of contexts of the calling thread; the last is the current one.

    Each card has only its primary context, whose handle is FIRST + the number of the card.
    """

    FIRST = 0x1000

    def __init__(self) -> None:
        self.stack: list[int] = []

    @property
    def device(self) -> Device:
        if not self.stack:
            raise DriverError(INVALID_CONTEXT)
        return machine.device(self.stack[-1] - self.FIRST)


contexts = Contexts()
