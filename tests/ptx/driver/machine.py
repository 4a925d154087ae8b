"""The cards that the stand-in for the driver shows: memory, contexts, launches and failures."""

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

INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, INVALID_CONTEXT = 1, 2, 101, 201
ILLEGAL_ADDRESS, OUT_OF_RESOURCES = 700, 701

REGISTERS = 1 << 16
"""Registers of a multiprocessor, and of a block at most."""
MAJOR, MINOR = 75, 76
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
"""What all cards have, by the numbers that the driver's header gives it."""


class DriverError(Exception):
    """What a function of the driver returns instead of 0."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Device:
    """A card. Its memory is the host's; every array in it is known."""

    number: int
    capability: tuple[int, int]
    memory: int
    arrays: dict[int, NDArray[np.uint8]] = field(default_factory=dict)
    """By address."""
    broken: int = 0
    """The code that everything returns, once a kernel has gone wrong."""

    @property
    def name(self) -> str:
        return "Stand-in {}.{}".format(*self.capability)

    @property
    def attributes(self) -> dict[int, int]:
        return ATTRIBUTES | dict(zip((MAJOR, MINOR), self.capability, strict=True))

    @property
    def free(self) -> int:
        """Bytes that are free."""
        return self.memory - sum(map(len, list(self.arrays.values())))

    def allocate(self, size: int) -> int:
        """The address of new memory, which is full of garbage."""
        if size == 0:
            raise DriverError(INVALID_VALUE)
        if size > self.free:
            raise DriverError(OUT_OF_MEMORY)
        array = memory(size)
        array[:] = POISON % 256
        self.arrays[array.ctypes.data] = array
        return int(array.ctypes.data)

    def check(self, address: int, size: int) -> None:
        """Fail unless so many bytes from there on are in one array."""
        for start, array in list(self.arrays.items()):
            if start <= address and address + size <= start + len(array):
                return
        raise DriverError(INVALID_VALUE)

    def blocks_at_once(self, function: Function, block: int) -> int:
        """Return how many blocks of so many threads a multiprocessor holds."""
        warps = -(-block // 32)
        most = [self.attributes[106], self.attributes[39] // (32 * warps)]
        most.append(REGISTERS // (-(-function.registers // 8) * 256) // warps)
        most.append(self.attributes[81] // (function.shared + self.attributes[111]))
        return min(most)

    def launch(
        self,
        function: Function,
        grid: tuple[int, ...],
        block: tuple[int, ...],
        shared: int,
        parameters: Any,
    ) -> None:
        """Run a kernel; ``parameters`` are the addresses of its parameters.

        As on a card, what it does wrong is told by whatever is called next.
        """
        assert (shared, *grid[1:], *block[1:]) == (0, 1, 1, 1, 1), "no kernel here needs it"
        if not (grid[0] and 0 < block[0] <= MAX_THREADS):
            raise DriverError(INVALID_VALUE)
        if -(-block[0] // 32) * -(-function.registers // 8) * 256 > REGISTERS:
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
            self.broken = ILLEGAL_ADDRESS
        self.broken = self.broken or machine.failure("kernel")


class Machine:
    """The cards as PTX_CARDS says: JSON with their capabilities, memory and ``failures``.

    Failures are codes by the name of a function, one for each call of it; 0 lets the call do what
    it should. The name "kernel" stands for what kernels do once they run.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.devices = [
            Device(number, tuple(capability), told.get("memory", 1 << 28))
            for number, capability in enumerate(told.get("cards", [[9, 0]]))
        ]
        self.failures: dict[str, list[int]] = told.get("failures", {})

    def device(self, number: int) -> Device:
        if not 0 <= number < len(self.devices):
            raise DriverError(INVALID_DEVICE)
        return self.devices[number]

    def failure(self, name: str) -> int:
        """The code of what goes wrong now, or 0."""
        codes = self.failures.get(name)
        return codes.pop(0) if codes else 0

    def mend(self, failures: dict[str, list[int]]) -> None:
        """Let all be as with new cards, which no program can do; then other things go wrong."""
        for device in self.devices:
            device.broken = 0
        self.failures = failures


machine = Machine(json.loads(os.environ.get("PTX_CARDS", "{}")))


class Contexts(threading.local):
    """The contexts of the calling thread; the last is the current one.

    A card has one: its primary context, whose handle is FIRST more than its number.
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
