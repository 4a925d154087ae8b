"""A warp of a GPU on its way through a kernel, and the memory that the kernel works on.

Where threads go different ways, one party goes first and the other waits. They go on together from
where the machine code says so: BSSY notes who is to meet, and BSYNC waits until they all have come.
Which party goes first is not documented, and must not matter to what is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from warp_code import LITERALS, SPECIALS, TRUE, UNIFORM, ZERO, Code, CodeError, predicate
from warp_lanes import EVERYONE, THREADS, WORD, execute, mask_of

POISON = 0xA5
"""What registers and local memory hold before they are written."""
FIRST_ADDRESS = 1 << 40
"""Of global memory."""
SIZES, FRAME, PARAMETERS = 0x0, 0x28, 0x210
"""Where the constant bank has the size of a block and of the grid, in three axes each, the size of
a thread's local memory, and the parameters."""


@dataclass
class Meeting:
    """Threads that go on together once all have come to a place."""

    threads: int
    come: int = 0
    at: int = -1
    """The place, if one has come."""


class Warp:
    """A warp on its way: the party that goes now, those that are ready to, and those that wait."""

    def __init__(self, machine: Machine, jumpers_first: bool) -> None:
        self._code, self._state = machine.code, machine.state
        self._guards = machine.code.rows["guard"].tolist()
        self._jumpers_first = jumpers_first
        self._predicates, self._counts = machine.predicates, machine.counts
        self._party, self._at, self._gone = EVERYONE, 0, 0
        self._ready: list[tuple[int, int]] = []
        self._meetings: dict[str, list[Meeting]] = {}

    def run(self) -> None:
        """Run until all threads have left the kernel."""
        while self._party:
            at, end = self._at, self._code.ends[self._at]
            instruction = self._code.instructions[at]
            if handler := HANDLERS.get(instruction.name):
                threads = self._party & self._mask(self._guards[at])
                self._counts[at] += 1, threads.bit_count()
                self._at += 1
                handler(self, threads, instruction.operands)
            else:
                self._at = execute(self._code.rows, self._state, at, end, self._party)
                if self._at != end:
                    where = self._code.instructions[self._at]
                    raise CodeError(f"an address that is in no array: {where}")
            if not self._party and self._ready:
                self._party, self._at = self._ready.pop()
        if self._gone != EVERYONE:
            raise CodeError("threads wait for each other for ever")

    def _mask(self, number: int) -> int:
        return int(mask_of.py_func(self._predicates, number))

    def _branch(self, threads: int, operands: tuple[str, ...]) -> None:
        for condition in operands[:-1]:
            threads &= self._mask(predicate(condition))
        target = self._code.labels[operands[-1].strip("`()")]
        ways = [(threads, target), (self._party & ~threads, self._at)]
        first, second = ways if self._jumpers_first else ways[::-1]
        if first[0] and second[0]:
            self._ready.append(second)
        self._party, self._at = first if first[0] else second

    def _whole_warp(self, threads: int, operands: tuple[str, ...]) -> None:
        """Before a vote: if some were missing, it would be held somewhere else."""
        if self._party != EVERYONE & ~self._gone:
            raise CodeError("a part of a warp is at a vote of all its threads")

    def _agree(self, threads: int, operands: tuple[str, ...]) -> None:
        self._leave(threads, operands[0])
        self._meetings.setdefault(operands[0], []).append(Meeting(threads))

    def _meet(self, threads: int, operands: tuple[str, ...]) -> None:
        meetings = self._meetings.get(operands[0], [])
        meeting = next((each for each in meetings if each.threads & threads), Meeting(0))
        expected = meeting.at in (-1, self._at) and not threads & ~meeting.threads
        if not expected or threads != self._party:
            raise CodeError("threads wait that did not agree to meet there")
        meeting.come |= threads
        meeting.at, self._party = self._at, 0
        if meeting.come == meeting.threads:
            meetings.remove(meeting)
            self._party = meeting.come

    def _break(self, threads: int, operands: tuple[str, ...]) -> None:
        self._leave(threads, operands[-1])

    def _exit(self, threads: int, operands: tuple[str, ...]) -> None:
        self._gone |= threads
        self._party &= ~threads
        for name in self._meetings:
            self._leave(threads, name)

    def _leave(self, threads: int, name: str) -> None:
        """Let nobody wait for some threads any more."""
        meetings = self._meetings.get(name, [])
        for meeting in list(meetings):
            meeting.threads &= ~threads
            if meeting.come == meeting.threads:
                meetings.remove(meeting)
                if meeting.come:
                    self._ready.append((meeting.come, meeting.at))


HANDLERS = {
    "BRA": Warp._branch,
    "BRA.DIV": Warp._whole_warp,
    "WARPSYNC.COLLECTIVE": Warp._whole_warp,
    "ENDCOLLECTIVE": Warp._whole_warp,
    "BSSY": Warp._agree,
    "BSYNC": Warp._meet,
    "BREAK": Warp._break,
    "EXIT": Warp._exit,
}


class Machine:
    """A kernel, and the memory of a GPU with some arrays in it.

    Parameters
    ----------
    code
        The kernel.
    frame
        Bytes of local memory of a thread.
    arguments
        As the kernel takes them: arrays, whole numbers and tuples of such. Arrays are copied.
    """

    def __init__(self, code: Code, frame: int, arguments: Iterable[Any]) -> None:
        self.code, self._frame = code, -(-frame // 16) * 16
        self.counts = np.zeros((len(code.rows), 2), np.int64)
        """How often an instruction was taken by a warp, and by how many threads in all."""
        self.arrays: list[NDArray[Any]] = []
        """The arrays among the arguments, in order, as they are in the GPU's memory."""
        self._arguments = tuple(arguments)
        arrays = [a for a in _leaves(self._arguments) if isinstance(a, np.ndarray)]
        places = np.cumsum([0, *(-(-a.nbytes // 256) * 256 for a in arrays)])
        local = int(places[-1])
        raw = np.zeros((local + THREADS * self._frame) // 8 + 1, np.int64)
        self.memory, words = raw.view(np.uint8), raw.view(np.uint32)
        for array, place in zip(arrays, places.tolist(), strict=False):
            there = self.memory[place : place + array.nbytes].view(array.dtype)
            self.arrays.append(there.reshape(array.shape))
            self.arrays[-1][...] = array
        self._local = self.memory[local : local + THREADS * self._frame]
        self._values = np.zeros((LITERALS + 2 * len(code.literals), THREADS), np.int64)
        self.predicates = np.zeros(16, np.int64)
        spaces = np.array([[FIRST_ADDRESS, local, 0, 0], [0, self._frame, local, self._frame]])
        self.state = (self._values, self.predicates, self.memory, words, spaces, self.counts)

    def launch(self, warps: int, jumpers_first: bool = True) -> None:
        """Run blocks of one warp, one after the other.

        Where threads part, those that jump go first, or those that do not.

        Raises
        ------
        CodeError
            If they do what is not understood, or touch memory that is not theirs.
        """
        bank = {FRAME: self._frame}
        for number, size in enumerate((THREADS, 1, 1, warps, 1, 1)):
            bank[SIZES + 4 * number] = size
        for number, word in enumerate(self._parameters()):
            bank[PARAMETERS + 8 * number] = word & WORD
            bank[PARAMETERS + 8 * number + 4] = word >> 32 & WORD
        lanes = np.arange(THREADS)
        for block in range(warps):
            self._local[...] = POISON
            self._values[...] = POISON
            self._values[ZERO:UNIFORM] = 0
            self._values[SPECIALS["SR_CTAID.X"]] = block
            self._values[SPECIALS["SR_TID.X"]] = self._values[SPECIALS["SR_LANEID"]] = lanes
            self._values[SPECIALS["SR_LTMASK"]] = (1 << lanes) - 1
            for (kind, number), row in self.code.literals.items():
                pair = (number, number >> 32)
                if kind == "c":
                    pair = (bank.get(number, 0), bank.get(number + 4, 0))
                self._values[row], self._values[row + 1] = pair[0] & WORD, pair[1] & WORD
            self.predicates[:] = 0
            self.predicates[[TRUE, TRUE + 8]] = EVERYONE
            Warp(self, jumpers_first).run()

    def _parameters(self) -> list[int]:
        """The arguments as numba-cuda flattens them: words of 64 bits.

        An array is two that nobody reads, its items, bytes of an item, address, shape and strides.
        """
        found, arrays = [], iter(self.arrays)
        for given in _leaves(self._arguments):
            if isinstance(given, np.ndarray):
                there = next(arrays)
                address = FIRST_ADDRESS + there.ctypes.data - self.memory.ctypes.data
                found += [0, 0, there.size, there.itemsize, address]
                found += [*there.shape, *there.strides]
            else:
                found.append(int(given))
        return found


def _leaves(arguments: tuple[Any, ...]) -> Iterable[Any]:
    """All that is in tuples, and in tuples in them."""
    for given in arguments:
        if isinstance(given, tuple):
            yield from _leaves(given)
        else:
            yield given
