"""Answers of ``count`` and ``solve``: what became of boards, and what writes it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku import formats
from gpusudoku.board.batch import Batch
from gpusudoku.cli.records import RecordWriter
from gpusudoku.errors import BadEntry
from gpusudoku.results import Counts

_TRUTH = {True: "true", False: "false", None: ""}
_ALWAYS = ("board", "box", "count", "exact", "method", "device")
"""What every JSON object says, of all that a ``Count`` says as JSON."""


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


class AnswerRecords(Writer):
    """Writes a record for every board.

    Parameters
    ----------
    form
        ``csv``, ``tsv`` or ``jsonl``.
    solution, errors
        Whether a table has the columns ``solution`` and ``error``, whatever the input.
    details
        Whether each board was counted alone, and its JSON object says all of it.
    """

    has_unreadable = True

    def __init__(
        self, form: str, *, solution: bool = False, errors: bool = False, details: bool = False
    ) -> None:
        self._is_table, self._errors, self._details = form != "jsonl", errors, details
        more = ["solution"] * solution + ["error"] * errors
        self._records = RecordWriter(form, ["count", "unique", *more])

    def watched(self, batches: Iterable[Batch]) -> Iterable[Batch]:
        """See ``RecordWriter``."""
        return self._records.watched(batches)

    def header(self) -> bytes:
        """See ``RecordWriter``."""
        return self._records.header()

    def unreadable(self, board: BadEntry) -> bytes:
        """See ``RecordWriter``."""
        return self._records.bad(board)

    def text(self, answers: Answers) -> bytes:
        """Write a record for every board."""
        results, solutions = answers.results, answers.solutions
        counts, which = distinct_numbers(results.numbers)
        texts = [results.text(count) for count in counts]
        unique = [results.is_unique(count) for count in counts]
        found: dict[str, list[Any]]  # few boards have a count that no other has
        if self._is_table:
            found = {"count": texts, "unique": [_TRUTH[each] for each in unique]}
        else:
            exact = [results.is_exact(count) for count in counts]
            whole = [text.removesuffix("+") for text in texts]
            found = {"count": whole, "exact": exact, "unique": unique}
        indices = which.tolist()
        values: dict[str, Any] = {
            name: [column[index] for index in indices] for name, column in found.items()
        }
        if not self._is_table:
            values |= {"method": results.stats.method, "device": results.device}
        if solutions is not None:
            lines = formats.write_lines(solutions).decode().splitlines()
            solved = results.numbers.astype(bool).tolist()
            values["solution"] = [
                line if count else None for line, count in zip(lines, solved, strict=True)
            ]
        if self._is_table and self._errors:
            values["error"] = ""
        details = []
        if self._details and not self._is_table:
            for each in results:
                facts = each.as_dict()
                details.append({name: facts[name] for name in facts if name not in _ALWAYS})
        return self._records.text(results.boards, values, details=details)


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
        numbers, which = distinct_numbers(results.numbers)
        tails = [f":{results.text(number)}".encode() for number in numbers]
        return formats.write_lines(results.boards.cells, tails, which)


def distinct_numbers(numbers: NDArray[Any]) -> tuple[list[int], NDArray[np.intp]]:
    """Find the few numbers of which many boards have one, integers (B), not negative.

    Returns
    -------
    The numbers in ascending order, each once, and the index of every board's number, intp (B).
    """
    most = numbers.max(initial=0)
    if numbers.dtype == object or most > 4 * len(numbers):
        found, which = np.unique(numbers, return_inverse=True)
        return found.tolist(), which
    there = np.zeros(most + 1, np.bool_)  # quicker than to sort
    there[numbers] = True
    return np.flatnonzero(there).tolist(), (np.cumsum(there) - 1)[numbers]
