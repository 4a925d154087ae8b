"""The writers of results: whole lines of counts, solutions and shares.

``records`` writes csv, tsv and JSON lines. ``puzzle_forms`` and ``share_forms`` have more writers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku import formats
from gpusudoku.board.batch import Batch, Origin
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.pipeline.messages import naming
from gpusudoku.pipeline.records import FORMS as RECORDS
from gpusudoku.pipeline.records import Choices, RecordWriter, as_bytes, board_column, spread
from gpusudoku.pipeline.settings import OutputOptions
from gpusudoku.pipeline.source import place_of
from gpusudoku.results import BadBoard, ResultBlock

_ALWAYS = ("board", "box", "count", "exact", "method", "device")
"""Fields that every JSON object has, of those of ``Count.as_dict``."""


@dataclass(frozen=True)
class Writer:
    """The functions that write the results of a command in one form, block by block.

    The output is ``header()``, then ``text(block)`` for each block in whole lines. ``separator``
    comes between two texts that are not empty. ``bad(board)`` is the text for a board that cannot
    be read.
    """

    text: Callable[..., bytes | memoryview]
    header: Callable[[], bytes] = bytes
    separator: bytes = b""
    bad: Callable[[BadBoard], bytes] = lambda board: b""


def answer_records(form: str, settings: OutputOptions, origin: Origin, *, single: bool) -> Writer:
    """Return what writes a record for every board of ``count`` or ``solve``.

    A JSON object has all statistics of a board that was counted by itself.
    """
    details = form == "jsonl" and (single or settings.stats)
    names = ["count", "unique"] + ["solution"] * settings.solution + ["error"] * settings.errors
    records = RecordWriter(form, origin, names)

    def text(results: ResultBlock) -> bytes:
        numbers, which = distinct_numbers(results.numbers)  # few boards have a count of their own
        counts = [results.text(number) for number in numbers]
        if form == "jsonl":
            counts = [count.removesuffix("+") for count in counts]
        columns: dict[str, Any] = {
            "count": Choices(counts, which),
            "exact": Choices([*map(results.is_exact, numbers)], which),
            "unique": Choices([*map(results.is_unique, numbers)], which),
            "method": results.stats.method,
            "device": results.device,
        }
        if results.solutions is not None:
            has_one = results.numbers.astype(bool)
            boards = results.boards
            solutions = results.solutions
            if not has_one.all():
                boards = boards.chosen(has_one)
                solutions = solutions[has_one]
            columns["solution"] = spread(board_column(solutions, boards), has_one)
        statistics = []
        if details:
            for count in results.counts():
                facts = count.as_dict()
                statistics.append({name: facts[name] for name in facts if name not in _ALWAYS})
        return records.text(results.boards, columns, details=statistics)

    return Writer(text, records.header, bad=records.bad)


def count_writer(
    settings: OutputOptions, origin: Origin, *, single: bool, only_boards: bool = False
) -> Writer:
    """Return what writes counts: records, ``BOARD:COUNT``, or the number of a single board.

    With ``only_boards`` it is the boards alone.
    """
    if settings.form is not None:
        return answer_records(settings.form, settings, origin, single=single)

    def text(results: ResultBlock) -> bytes | memoryview:
        boards = results.boards
        if only_boards:
            return b"".join(formats.write_batch(boards, "line"))
        if single:
            return "".join(f"{results.text(n)}\n" for n in results.numbers.tolist()).encode()
        numbers, which = distinct_numbers(results.numbers)
        tails = [f":{results.text(number)}".encode() for number in numbers]
        if boards.candidates is None:
            return formats.line_buffer(boards.cells, tails, which)
        return b"".join(
            b"%b%b\n" % (str(board).encode(), tails[index])
            for board, index in zip(boards, which.tolist(), strict=True)
        )

    return Writer(text)


def solve_writer(
    settings: OutputOptions, origin: Origin, *, single: bool, on_terminal: bool
) -> Writer:
    """Return what writes solutions of boards: records, a text form, or words for a terminal.

    A batch in the form ``line`` has an empty line for a board without a solution.
    """
    if on_terminal:
        return Writer(_solution_on_terminal)
    form = settings.form or ("pretty" if single else "line")
    if form in RECORDS:
        return answer_records(form, settings, origin, single=single)
    separator = formats.separator(form)
    gap = "" if single or separator else "\n"

    def text(results: ResultBlock) -> bytes:
        boards = results.boards
        counts = results.numbers.tolist()
        solutions = results.solutions
        assert solutions is not None
        if form == "line" and all(counts):
            return bytes(boards.in_alphabets(formats.write_lines(solutions)))
        texts = []
        for index, count in enumerate(counts):
            if count:
                with naming("" if single else place_of(boards, index)):
                    solution = Board(solutions[index], boards.geometry)
                    written = formats.write(solution, form, boards.alphabet(index))
                texts.append(f"{written}\n")
            elif gap:
                texts.append(gap)
        return as_bytes(separator.join(texts))

    return Writer(text, separator=separator.encode(), bad=lambda board: gap.encode())


def _solution_on_terminal(results: ResultBlock) -> bytes:
    """Write a single board, its solution, and a sentence."""
    [board] = results.boards
    [count] = results.numbers.tolist()
    assert results.solutions is not None
    solution = [Board(results.solutions[0], board.geometry)] if count else []
    alphabet = results.boards.alphabet(0)
    grids = [formats.write(grid, "pretty", alphabet) for grid in (board, *solution)]
    sentence = f"{verdict(results)}, {results.stats.seconds:.6f} s"
    return as_bytes("\n\n".join([*grids, sentence]) + "\n")


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

    def __init__(self, form: str, origin: Origin, columns: tuple[str, ...] = ()) -> None:
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
        values: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Write solutions, rows uint8 (k, cells), as whole lines.

        ``board_of`` is the index of the board of each, int64 (k), if there are several boards.
        ``values`` are the other columns of records.
        """
        if self._records is not None:
            columns = {**(values or {}), "solution": board_column(rows, boards, board_of)}
            return self._records.text(boards, columns, board_of)
        if self.is_plain:
            return bytes(boards.in_alphabets(formats.write_lines(rows), board_of))
        owners = [0] * len(rows) if board_of is None else board_of.tolist()
        solutions = Batch(boards.geometry, rows)
        return b"".join(board_texts(solutions, self._form, map(boards.alphabet, owners)))

    def lines(self, text: bytes | memoryview, geometry: Geometry) -> int | None:
        """Return the number of lines of a text, where its size tells; else None."""
        fixed = self.is_plain and geometry.n <= len(DIGITS)
        return len(text) // (geometry.cells + len("\n")) if fixed else None


def board_texts(
    boards: Batch, form: str, alphabets: Iterable[bytes] | None = None
) -> Iterable[bytes]:
    """Write boards in a text form, each with what comes between it and the next one."""
    if form == "line" and boards.candidates is None and alphabets is None:
        return formats.write_lines(boards.cells).splitlines(keepends=True)
    end = "\n" + formats.separator(form)
    return (
        f"{formats.write(board, form, alphabet)}{end}".encode()
        for board, alphabet in zip(boards, alphabets or repeat(b""), strict=False)
    )


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
