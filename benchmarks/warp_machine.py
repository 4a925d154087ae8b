"""A warp of a GPU that runs a kernel, 32 threads in lock step, and the memory that it works on.

Where threads go different ways, one party goes first and the other waits. They go on together from
where the machine code says so: BSSY notes who is to meet, and BSYNC waits until they all have come.
Which party goes first is not documented, and must not matter to what is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from warp_code import (
    EVERYONE,
    GLOBAL,
    LOCAL,
    POISON,
    SHARED,
    THREADS,
    TRUE,
    Code,
    CodeError,
    execute,
    mask_of,
    predicate,
)

WARPS = 2
FIRST_ADDRESS = 1 << 40
"""Of global memory."""
SIZES, FRAME = 0x0 // 4, 0x28 // 4
"""The words of the constant bank that have the size of a block and of the grid, in three axes each,
and the size of a thread's local memory. Others have the parameters: see ``Layout``."""


@dataclass
class Meeting:
    """Threads that go on together once all have come to a place."""

    threads: int
    come: int = 0
    at: int = -1
    """The place, if one has come."""


class Warp:
    """A warp on its way: the party that goes now, those that are ready to, and those that wait."""

    def __init__(self, code: Code, state: tuple[NDArray[Any], ...], jumpers_first: bool) -> None:
        self._code, self._state, self._jumpers_first = code, state, jumpers_first
        self._party, self._at, self._gone = EVERYONE, 0, 0
        self._ready: list[tuple[int, int]] = []
        self._meetings: dict[str, list[Meeting]] = {}

    def run(self) -> None:
        """Run until all threads have left the kernel."""
        code, counts = self._code, self._state[-1]
        while self._party:
            at, end = self._at, code.ends[self._at]
            if at == end:
                guard, name, operands = code.instructions[at]
                threads = self._party & self._mask(guard)
                counts[at, :2] += 1, threads.bit_count()
                self._at += 1
                self._control(name, threads, *operands)
            else:
                self._at = execute(code.calculate, code.rows, self._state, at, end, self._party)
                if self._at != end:
                    raise CodeError(f"unknown access to memory: {code.instructions[self._at]}")
            if not self._party and self._ready:
                self._party, self._at = self._ready.pop()
        if self._gone != EVERYONE:
            raise CodeError("threads wait for each other for ever")

    def _mask(self, text: str) -> int:
        return int(mask_of.py_func(self._state[1], predicate(text)))

    def _control(self, name: str, threads: int, *operands: str) -> None:
        """Let some threads of the party branch, meet or leave."""
        if name in ("BRA", "CALL.REL.NOINC"):
            for condition in operands[:-1]:
                threads &= self._mask(condition)
            ways = [(self._party & ~threads, self._at)]
            ways.append((threads, self._code.labels[operands[-1].strip("`()")]))
            self._ready += [way for way in ways[:: 1 if self._jumpers_first else -1] if way[0]]
            self._party = 0
        elif name == "BSSY":
            self._leave(threads, operands[0])
            self._meetings.setdefault(operands[0], []).append(Meeting(threads))
        elif name == "BSYNC":
            meetings = self._meetings.get(operands[0], [])
            meeting = next((each for each in meetings if each.threads & threads), Meeting(0))
            unexpected = threads & ~meeting.threads or threads != self._party
            if unexpected or meeting.at not in (-1, self._at):
                raise CodeError("threads wait that did not agree to meet there")
            meeting.come, meeting.at, self._party = meeting.come | threads, self._at, 0
            self._leave(0, operands[0])
        elif name == "BREAK":
            self._leave(threads, operands[-1])
        elif name == "EXIT":
            self._gone |= threads
            self._party &= ~threads
            for barrier in self._meetings:
                self._leave(threads, barrier)
        elif self._party != EVERYONE & ~self._gone:
            # If some threads were missing, the vote would be held somewhere else.
            raise CodeError("a part of a warp is at a vote of all its threads")

    def _leave(self, threads: int, barrier: str) -> None:
        """Let nobody wait for some threads any more, and those go on to whom all have come."""
        meetings = self._meetings.get(barrier, [])
        for meeting in list(meetings):
            meeting.threads &= ~threads
            if meeting.come == meeting.threads:
                meetings.remove(meeting)
                self._ready += [(meeting.come, meeting.at)] if meeting.come else []


def launch(
    code: Code, arrays: Sequence[NDArray[Any]], numbers: Sequence[int], jumpers_first: bool = True
) -> NDArray[np.int64]:
    """Run WARPS blocks of a warp, one after the other, on arrays, which are changed, and numbers.

    These are the kernel's arguments, in order. Where threads part, those that jump go first, or
    those that do not. CodeError is raised if they do what is not understood, or touch memory that
    is not theirs.

    Returns
    -------
    int64 (instructions, 3): how often each was taken by a warp, by how many threads in all, and
    the sectors of global or local memory that it moved, or its passes over shared memory
    """
    frame = code.frame
    *places, shared = np.cumsum([0, *(-(-array.nbytes // 256) * 256 for array in arrays)]).tolist()
    local, layout = shared + code.shared, code.layout
    memory = np.zeros((local + THREADS * frame) // 4, np.uint32)
    raw = memory.view(np.uint8)
    parameters: list[int] = []
    for array, place in zip(arrays, places, strict=True):
        raw[place : place + array.nbytes] = np.frombuffer(array, np.uint8)
        # As Numba-cuda flattens an array; nobody reads the first two words.
        parameters += [0, 0, array.size, array.itemsize, FIRST_ADDRESS + place]
        parameters += [*array.shape, *array.strides]
    words = np.array([*parameters, *numbers], np.uint64).view(np.uint32)
    bank = np.zeros(layout.parameters // 4 + len(words) + 1, np.uint32)
    bank[SIZES : SIZES + 6], bank[FRAME] = (THREADS, 1, 1, WARPS, 1, 1), frame
    bank[layout.parameters // 4 : -1] = words
    # In order of the spaces' numbers: the first address, bytes, place in ``memory``, and bytes of
    # each thread if it has its own.
    spaces = np.zeros((3, 4), np.int64)
    spaces[GLOBAL] = FIRST_ADDRESS, shared, 0, 0
    spaces[LOCAL] = 0, frame, local // 4, frame
    spaces[SHARED] = layout.shared, code.shared, shared // 4, 0
    counts = np.zeros((len(code.rows), 3), np.int64)
    for block in range(WARPS):
        memory[shared // 4 :] = POISON
        predicates = np.zeros(16, np.int64)
        predicates[[TRUE, TRUE + 8]] = EVERYONE
        state = code.table(bank, block), predicates, memory, spaces, counts
        Warp(code, state, jumpers_first).run()
    for array, place in zip(arrays, places, strict=True):
        array[...] = raw[place : place + array.nbytes].view(array.dtype).reshape(array.shape)
    return counts
