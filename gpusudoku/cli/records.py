"""Answers for the next program: a record for every board. ``tables`` and ``objects`` write them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from gpusudoku import formats
from gpusudoku.board import rows
from gpusudoku.board.batch import Batch
from gpusudoku.board.places import Places
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import BadEntry
from gpusudoku.results import Counts

_NO_BYTES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""Halves of characters, which JSON can have and UTF-8 cannot; but for those that are bytes."""

TOGETHER = 4096
"""Records that are put together at a time: what is made of them fits in the processor's caches."""


def as_bytes(text: str) -> bytes:
    """Text as it is written; names of files may have bytes that are no text.

    A half of a character, which JSON can have and nothing else, becomes U+FFFD.
    """
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return _NO_BYTES.sub("\ufffd", text).encode(errors="surrogateescape")


@dataclass(frozen=True)
class Answers:
    """What became of boards that were worked on together."""

    results: Counts
    solutions: NDArray[np.uint8] | None = None
    """uint8 (B, n * n): a solution of every board that has one; None if none was looked for."""

    def __len__(self) -> int:
        return len(self.results)

    def chosen(self, mask: NDArray[np.bool_]) -> Answers:
        """Those for which the mask, bool (B), is true."""
        solutions = None if self.solutions is None else self.solutions[mask]
        return replace(self, results=self.results.chosen(mask), solutions=solutions)

    def part(self, start: int, end: int) -> Answers:
        """Those of the boards from start to before end."""
        solutions = None if self.solutions is None else self.solutions[start:end]
        return Answers(self.results.part(start, end), solutions)

    @property
    def places(self) -> Places:
        """Where the boards were read."""
        places = self.results.boards.places
        assert places is not None  # whatever a command reads has a place
        return places

    def counts(self) -> tuple[list[int], NDArray[np.intp]]:
        """The different counts, and the index of every board's: intp (B)."""
        return rows.distinct_numbers(self.results.numbers)

    def puzzles(self) -> list[str]:
        """The line of every board."""
        boards = self.results.boards
        if boards.candidates is not None:
            return [str(board) for board in boards]
        return formats.write_lines(boards.cells).decode().splitlines()

    def solution_lines(self) -> Iterable[str]:
        """The line of every board's solution, empty if there is none."""
        if self.solutions is None:
            return repeat("", len(self))
        lines = formats.write_lines(self.solutions).decode().splitlines()
        if all(self.results.counts):
            return lines
        return [
            line if count else "" for line, count in zip(lines, self.results.counts, strict=True)
        ]


class Writer(ABC):
    """Writes answers in one form. Answers may be written by many threads, in any order."""

    @property
    def between(self) -> bytes:
        """What stands between the texts of answers."""
        return b""

    def watched(self, batches: Iterable[Batch]) -> Iterable[Batch]:
        """Boards that are read, which a form may want to know before there are answers."""
        return batches

    def header(self) -> bytes:
        """What stands before all answers: known once the first boards were watched, if any."""
        return b""

    @abstractmethod
    def text(self, answers: Answers) -> bytes:
        """Whole lines, which depend on nothing but the answers."""

    @property
    def has_unreadable(self) -> bool:
        """Whether bad boards are written, too; then a board is one line, but for other columns."""
        return False

    def unreadable(self, board: BadEntry) -> bytes:
        """Return the line of a bad board; nothing where only answers are written."""
        return b""


class Records(Writer):
    """A record for every board, on a line of its own.

    What many records have in common is made once, and they are put together by ``Rows``. Those
    that need a closer look, and few, are written one by one.
    """

    has_unreadable = True
    sign = ""
    """The character in other columns, besides quotes, for which a record needs a closer look."""

    def text(self, answers: Answers) -> bytes:
        """A record for every board."""
        boards = answers.results.boards
        beyond = boards.candidates is not None or boards.geometry.n > len(DIGITS)
        if beyond or len(answers) < rows.FEW:
            return b"".join(self.each(answers))
        text = BytesIO()  # which never holds its parts and all of them, as a list would
        for start in range(0, len(answers), TOGETHER):
            text.write(self._some(answers.part(start, start + TOGETHER)))
        return text.getvalue()

    def _some(self, answers: Answers) -> memoryview:
        """Records that are put together."""
        written, odd = rows.Rows(len(answers)), self.odd(answers)
        self.put(answers, written)
        if odd.any():
            written.replace(odd, self.each(answers.chosen(odd)))
        return written.joined()

    def odd(self, answers: Answers) -> NDArray[np.bool_]:
        """Which of the records need a closer look: bool (B)."""
        places = answers.places
        columns = max(len(origin.columns) for origin in places.origins)
        return rows.odd_rows(places.others, columns, self.sign)

    @abstractmethod
    def put(self, answers: Answers, written: rows.Rows) -> None:
        """Give the pieces of the records; what comes of those that need a closer look is lost."""

    @abstractmethod
    def each(self, answers: Answers) -> list[bytes]:
        """Every record, written one by one."""


def distinct(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """The names of columns; one that is taken already gets the prefix ``input_``."""
    found = list(taken)
    start = len(found)
    for name in names:
        while name in found:
            name = f"input_{name}"
        found.append(name)
    return found[start:]


class Plain(Writer):
    """Counts for those who read them, or the boards that --only asks for."""

    def __init__(self, only: str | None, single: bool) -> None:
        self._only, self._single = only is not None, single

    def text(self, answers: Answers) -> bytes:
        """A line for every board."""
        results = answers.results
        if self._only:
            return formats.write_lines(results.boards.cells)
        if self._single:
            return "".join(f"{results.text(count)}\n" for count in results.counts).encode()
        # Few boards of a block have a count that no other has.
        numbers, which = rows.distinct_numbers(results.numbers)
        tails = [f":{results.text(number)}".encode() for number in numbers]
        return formats.write_lines(results.boards.cells, tails, which)
