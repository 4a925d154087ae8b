"""Forms of results: what a command writes of counts and solutions, as whole lines.

``records`` has the rules of csv, tsv and JSON lines, ``share_forms`` the forms of shares.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku import formats
from gpusudoku.board.batch import Batch, Origin
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import BadEntry
from gpusudoku.pipeline.messages import naming
from gpusudoku.pipeline.records import FORMS as RECORDS
from gpusudoku.pipeline.records import RecordWriter, as_bytes
from gpusudoku.pipeline.settings import OutputOptions
from gpusudoku.pipeline.source import Source, place_of
from gpusudoku.results import BadBoard, ResultBlock

_TRUTH = {True: "true", False: "false", None: ""}
_ALWAYS = ("board", "box", "count", "exact", "method", "device")
"""Fields that every JSON object has, of those of ``Count.as_dict``."""


class AnswerWriter(ABC):
    """Writes answers, one for each board, in one form."""

    between = b""
    """Text between the texts of answers."""

    def header(self) -> bytes:
        """Return the text before all answers."""
        return b""

    @abstractmethod
    def text(self, results: ResultBlock) -> bytes | memoryview:
        """Write whole lines, which depend on nothing but the results."""

    def bad(self, board: BadEntry) -> bytes:
        """Write the line of a bad board; nothing where only answers are written."""
        return b""


class AnswerRecords(AnswerWriter):
    """Writes a record for every board.

    A table has the columns ``solution`` and ``error`` if these are set. With ``details`` the JSON
    object of a board has all statistics, as each was counted by itself.
    """

    @classmethod
    def of(cls, asked: OutputOptions, origin: Origin, *, single: bool) -> AnswerRecords:
        """Make what writes the records that are asked for, of a ``single`` board or of many."""
        assert asked.form is not None
        details = single or asked.stats
        return cls(
            asked.form, origin, solution=asked.solution, errors=asked.errors, details=details
        )

    def __init__(
        self,
        form: str,
        origin: Origin,
        *,
        solution: bool = False,
        errors: bool = False,
        details: bool = False,
    ) -> None:
        self._is_table, self._errors, self._details = form != "jsonl", errors, details
        more = ["solution"] * solution + ["error"] * errors
        self._records = RecordWriter(form, origin, ["count", "unique", *more])

    def header(self) -> bytes:
        return self._records.header()

    def bad(self, board: BadEntry) -> bytes:
        return self._records.bad(board)

    def text(self, results: ResultBlock) -> bytes:
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
        if results.solutions is not None:
            text = results.boards.in_alphabets(formats.write_lines(results.solutions))
            lines = bytes(text).decode().splitlines()
            solved = results.numbers.astype(bool).tolist()
            values["solution"] = [
                line if count else None for line, count in zip(lines, solved, strict=True)
            ]
        if self._is_table and self._errors:
            values["error"] = ""
        details = []
        if self._details and not self._is_table:
            for each in results.counts():
                facts = each.as_dict()
                details.append({name: facts[name] for name in facts if name not in _ALWAYS})
        return self._records.text(results.boards, values, details=details)


class PlainCounts(AnswerWriter):
    """Writes counts for people: the number of a single board, ``BOARD:COUNT`` in a batch.

    With ``--only`` they are the boards alone.
    """

    def __init__(self, single: bool, *, only: bool = False) -> None:
        self._only, self._single = only, single

    def text(self, results: ResultBlock) -> bytes | memoryview:
        boards = results.boards
        if self._only:
            return b"".join(formats.write_batch(boards, "line"))
        if self._single:
            numbers: list[int] = results.numbers.tolist()
            return "".join(f"{results.text(count)}\n" for count in numbers).encode()
        # Few boards of a block have a count that no other has.
        numbers, which = distinct_numbers(results.numbers)
        tails = [f":{results.text(number)}".encode() for number in numbers]
        if boards.candidates is None:
            return formats.line_buffer(boards.cells, tails, which)
        lines = map(str, boards)
        return b"".join(
            b"%b%b\n" % (line.encode(), tails[index])
            for line, index in zip(lines, which.tolist(), strict=True)
        )


class SolvedBoards(AnswerWriter):
    """Writes a solution of every board, in one of the text forms.

    Lines of a batch stand beside its boards, empty if there is no solution, or for a bad board.
    """

    def __init__(self, form: str, single: bool) -> None:
        self._form, self._single = form, single
        self.between = formats.separator(form).encode()

    def text(self, results: ResultBlock) -> bytes:
        boards, counts, solutions = results.boards, results.numbers.tolist(), results.solutions
        assert solutions is not None
        if self._form == "line" and all(counts):
            return bytes(boards.in_alphabets(formats.write_lines(solutions)))
        texts, separator = [], self.between.decode()
        for index, count in enumerate(counts):
            if count:
                with naming("" if self._single else place_of(boards, index)):
                    solution = Board(solutions[index], boards.geometry)
                    text = formats.write(solution, self._form, boards.alphabet(index))
                texts.append(f"{text}\n")
            elif not (self._single or separator):
                texts.append("\n")
        return as_bytes(separator.join(texts))

    def bad(self, board: BadEntry) -> bytes:
        return b"" if self._single or self.between else b"\n"


class SolvedOnTerminal(AnswerWriter):
    """Shows a single board on a terminal: the given one, its solution, and a sentence."""

    def text(self, results: ResultBlock) -> bytes:
        [board], [count] = results.boards, results.numbers.tolist()
        assert results.solutions is not None
        found = [Board(results.solutions[0], board.geometry)] if count else []
        alphabet = results.boards.alphabet(0)
        parts = [formats.write(each, "pretty", alphabet) for each in (board, *found)]
        said = f"{verdict(results)}, {results.stats.seconds:.6f} s"
        return as_bytes("\n\n".join([*parts, said]) + "\n")


def verdict(results: ResultBlock) -> str:
    """Say what the solution of a single board does not show."""
    [count] = results.numbers.tolist()
    if results.is_undecided:
        solutions, question = ("one", "another") if count else ("no", "one")
        return (
            f"{solutions} solution found in {results.ended_after:g} s: "
            f"unknown whether there is {question}"
        )
    if count == 0:
        return "no solution"
    unique = results.is_unique(count)
    return "a solution" if unique is None else f"{'' if unique else 'not '}the only solution"


class SolutionWriter:
    """Writes any number of solutions of boards in one form.

    ``columns`` are the names of values that records have beside the solution.
    """

    def __init__(self, form: str, origin: Origin, columns: Sequence[str] = ()) -> None:
        self._form = form
        is_record = form in RECORDS
        self._records = RecordWriter(form, origin, [*columns, "solution"]) if is_record else None
        self.is_plain = form == "line"
        """True if solutions are canonical lines alone."""

    def header(self) -> bytes:
        """Return the text before all solutions."""
        return b"" if self._records is None else self._records.header()

    def text(
        self,
        boards: Batch,
        rows: NDArray[np.uint8],
        board_of: NDArray[np.int64] | None = None,
        values: Mapping[str, str | Sequence[int] | Sequence[str]] | None = None,
    ) -> bytes:
        """Write solutions, rows uint8 (k, cells), as whole lines.

        ``board_of`` is the index of the board of each, int64 (k), if there are several boards.
        ``values`` has for each column a text, or a sequence with a value for each solution.
        """
        owners = None if board_of is None else board_of.tolist()
        if not (self.is_plain or self._records):
            texts = [
                formats.write(Board(cells, boards.geometry), self._form, boards.alphabet(owner))
                for cells, owner in zip(rows, owners or repeat(0), strict=False)
            ]
            end = "\n" + formats.separator(self._form)
            return "".join(text + end for text in texts).encode()
        lines = bytes(boards.in_alphabets(formats.write_lines(rows), board_of))
        if self._records is None:
            return lines
        columns: dict[str, Any] = {
            name: value if isinstance(value, str) else list(value)
            for name, value in (values or {}).items()
        }
        columns["solution"] = lines.decode().splitlines()
        return self._records.text(boards, columns, owners)

    def lines(self, text: bytes | memoryview, geometry: Geometry) -> int | None:
        """Return the number of lines of a text, where its size tells; else None."""
        fixed = self.is_plain and geometry.n <= len(DIGITS)
        return len(text) // (geometry.cells + len("\n")) if fixed else None


class PuzzleLines:
    """Writes puzzles in one form: as text, or as records with the columns of a command."""

    def __init__(self, form: str, source: Source, columns: Iterable[str]) -> None:
        self._columns, self._form = tuple(columns), form
        self._records: RecordWriter | None = None
        if form in RECORDS:
            self._records, self._form = RecordWriter(form, source.origin, self._columns), "line"
        self._gap = b"\n" if form == "line" and not source.single else b""
        """What stands for a board without a puzzle."""

    def header(self) -> bytes:
        """Return the text before all puzzles."""
        return b"" if self._records is None else self._records.header()

    def bad(self, board: BadBoard) -> bytes:
        """Write what stands for a board that cannot be read."""
        if self._records is None:
            return self._gap
        assert board.error.entry is not None  # whatever a command reads has one
        return self._records.bad(board.error.entry)

    def texts(self, puzzles: Batch) -> Iterable[bytes]:
        """Write puzzles, each as whole lines."""
        if self._form == "line" and puzzles.candidates is None:
            return bytes(formats.write_lines(puzzles.cells)).splitlines(keepends=True)
        end = "\n" + formats.separator(self._form)
        return (f"{formats.write(puzzle, self._form)}{end}".encode() for puzzle in puzzles)


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
