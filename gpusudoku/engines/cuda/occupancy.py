"""How many blocks of a kernel run on a multiprocessor at once: arithmetic that needs no GPU."""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32
"""Threads that are given registers together."""
REGISTERS_AT_ONCE = 256
"""Registers are given to a warp in multiples of this."""
PARTS = 4
"""A multiprocessor has this many parts, each with its share of the registers and its own warps."""

MOST_THREADS = 1024
"""The most threads of a block, on any GPU so far."""


@dataclass(frozen=True)
class Multiprocessor:
    """What the threads that run on a multiprocessor at once have to share."""

    threads: int
    """The most threads."""
    blocks: int
    """The most blocks."""
    registers: int = 1 << 16
    """Registers of 32 bits."""
    block_registers: int = 1 << 16
    """Registers that a block may have."""
    shared: int = 0
    """Bytes of shared memory; 0 if no kernel in question uses it."""
    reserved: int = 0
    """Bytes of shared memory that every block takes in addition to its own."""

    def blocks_of(self, threads_per_block: int, registers: int, shared: int = 0) -> int:
        """The blocks that run at once, given registers per thread and shared bytes per block."""
        warps = -(-threads_per_block // WARP)
        with_registers = self._warps_with(registers)
        most = [self.blocks, self.threads // (warps * WARP), with_registers // warps]
        if shared:
            most.append(self.shared // (shared + self.reserved))
        return min(most)

    def most_threads(self, registers: int) -> int:
        """The most threads of a block, given registers per thread."""
        warps = min(self._warps_with(registers), self.block_registers // _of_warp(registers))
        return min(self.threads, MOST_THREADS, warps * WARP)

    def _warps_with(self, registers: int) -> int:
        """The warps for which there are registers, given those of a thread."""
        return self.registers // PARTS // _of_warp(registers) * PARTS


def _of_warp(registers: int) -> int:
    """The registers that a warp is given, by those of a thread."""
    return -(-max(1, registers) * WARP // REGISTERS_AT_ONCE) * REGISTERS_AT_ONCE
