"""How many blocks of a kernel a multiprocessor holds at once: arithmetic that needs no GPU."""

from __future__ import annotations

from dataclasses import dataclass

WARP = 32
"""Threads that are given registers together,"""
REGISTERS_AT_ONCE = 256
"""in portions of so many registers."""
PARTS = 4
"""Every multiprocessor is four, each with a quarter of the registers and its own warps."""


@dataclass(frozen=True)
class Multiprocessor:
    """What there is for all threads that a multiprocessor holds at once."""

    threads: int
    blocks: int
    registers: int = 1 << 16
    shared: int = 0
    """Bytes of shared memory, which few kernels use,"""
    reserved: int = 0
    """and of which every block costs so many besides its own."""

    def blocks_of(self, threads_per_block: int, registers: int, shared: int = 0) -> int:
        """Blocks of a kernel that takes so many registers a thread, and shared bytes a block."""
        warps = -(-threads_per_block // WARP)
        portions = -(-max(1, registers) * WARP // REGISTERS_AT_ONCE)
        with_registers = self.registers // PARTS // (portions * REGISTERS_AT_ONCE) * PARTS
        most = [self.blocks, self.threads // (warps * WARP), with_registers // warps]
        if shared:
            most.append(self.shared // (shared + self.reserved))
        return min(most)
