"""Writers of results: whole lines of counts and solutions.

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
from gpusudoku.board.batch import Batch, InputSource
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.pipeline.messages import prefixing_errors
from gpusudoku.pipeline.records import FORMS as RECORDS
from gpusudoku.pipeline.records import Choices, RecordWriter, as_bytes, board_column, with_gaps
from gpusudoku.pipeline.settings import OutputOptions
from gpusudoku.pipeline.source import place_of
from gpusudoku.results import BadBoard, ResultBlock

_COMMON_FIELDS = ("board", "box", "count", "exact", "method", "device")
"""The fields of ``Count.as_dict`` that every JSON object has; the others are statistics."""


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


def answer_records(
    form: str, settings: OutputOptions, input_source: InputSource, *, single: bool
) -> Writer:
    """Return the writer of records, one for every board, of ``count`` or ``solve``.

    A JSON object has all statistics if its board was counted by itself.
    """
    has_statistics = form == "jsonl" and (single or settings.stats)
    names = ["count", "unique"] + ["solution"] * settings.solution + ["error"] * settings.errors
    records = RecordWriter(form, input_source, names)

    def text(results: ResultBlock) -> bytes:
        # Most boards have the same few counts: everything is computed once for each count.
        numbers, indices = distinct_numbers(results.numbers)
        counts = [results.text(number) for number in numbers]
        if form == "jsonl":
            counts = [count.removesuffix("+") for count in counts]
        columns: dict[str, Any] = {
            "count": Choices(counts, indices),
            "exact": Choices([*map(results.is_exact, numbers)], indices),
            "unique": Choices([*map(results.is_unique, numbers)], indices),
            "method": results.stats.method,
            "device": results.device,
        }
        if results.solutions is not None:
            has_solution = results.numbers.astype(bool)
            boards = results.boards
            solutions = results.solutions
            if not has_solution.all():
                boards = boards.select(has_solution)
                solutions = solutions[has_solution]
            columns["solution"] = with_gaps(board_column(solutions, boards), has_solution)
        statistics = []
        if has_statistics:
            for count in results.counts():
                values = count.as_dict()
                for name in _COMMON_FIELDS:
                    values.pop(name, None)
                statistics.append(values)
        return records.text(results.boards, columns, details=statistics)

    return Writer(text, records.header, bad=records.bad)


def count_writer(
    settings: OutputOptions, input_source: InputSource, *, single: bool, only_boards: bool = False
) -> Writer:
    """Return the writer of counts: records, ``BOARD:COUNT``, or the count of a single board.

    With ``only_boards`` it writes the boards without their counts.
    """
    if settings.form is not None:
        return answer_records(settings.form, settings, input_source, single=single)

    def text(results: ResultBlock) -> bytes | memoryview:
        boards = results.boards
        if only_boards:
            return b"".join(formats.write_batch(boards, "line"))
        if single:
            return "".join(f"{results.text(n)}\n" for n in results.numbers.tolist()).encode()
        numbers, indices = distinct_numbers(results.numbers)
        endings = [f":{results.text(number)}".encode() for number in numbers]
        if boards.candidates is None:  # all boards at once, which is much quicker
            return formats.line_buffer(boards.cells, endings, indices)
        return b"".join(
            b"%b%b\n" % (str(board).encode(), endings[index])
            for board, index in zip(boards, indices.tolist(), strict=True)
        )

    return Writer(text)


def solve_writer(
    settings: OutputOptions, input_source: InputSource, *, single: bool, on_terminal: bool
) -> Writer:
    """Return the writer of one solution for each board.

    It writes records, a text form, or, ``on_terminal``, the board with its solution and a sentence.
    In the form ``line``, a batch has an empty line for a board without a solution.
    """
    if on_terminal:
        return Writer(_solution_on_terminal)
    form = settings.form or ("pretty" if single else "line")
    if form in RECORDS:
        return answer_records(form, settings, input_source, single=single)
    separator = formats.separator(form)
    # In the form `line`, line n of the output belongs to board n of a batch.
    gap = "" if single or separator else "\n"

    def text(results: ResultBlock) -> bytes:
        boards = results.boards
        counts = results.numbers.tolist()
        solutions = results.solutions
        assert solutions is not None
        if form == "line" and all(counts):  # all boards at once, which is much quicker
            return bytes(boards.in_alphabets(formats.write_lines(solutions)))
        texts = []
        for index, count in enumerate(counts):
            if count:
                with prefixing_errors("" if single else place_of(boards, index)):
                    solution = Board(solutions[index], boards.geometry)
                    solution_text = formats.write(solution, form, boards.alphabet(index))
                texts.append(f"{solution_text}\n")
            elif gap:
                texts.append(gap)
        return as_bytes(separator.join(texts))

    return Writer(text, separator=separator.encode(), bad=lambda board: gap.encode())


def _solution_on_terminal(results: ResultBlock) -> bytes:
    """Write a single board, its solution if there is one, and a sentence."""
    [board] = results.boards
    [count] = results.numbers.tolist()
    assert results.solutions is not None
    grids = [board]
    if count:
        grids.append(Board(results.solutions[0], board.geometry))
    alphabet = results.boards.alphabet(0)
    texts = [formats.write(grid, "pretty", alphabet) for grid in grids]
    texts.append(f"{verdict(results)}, {results.stats.seconds:.6f} s")
    return as_bytes("\n\n".join(texts) + "\n")


def verdict(results: ResultBlock) -> str:
    """Describe in words whether a single board has a solution, and whether it is the only one."""
    [count] = results.numbers.tolist()
    if results.is_undecided:
        seconds = f"{results.ended_after:g} s"
        if count:
            return f"one solution found in {seconds}: unknown whether there is another"
        return f"no solution found in {seconds}: unknown whether there is one"
    if count == 0:
        return "no solution"
    is_unique = results.is_unique(count)
    if is_unique is None:
        return "a solution"
    return "the only solution" if is_unique else "not the only solution"


class SolutionWriter:
    """Writes any number of solutions of boards in one form.

    ``columns`` are the names of further columns of records, before the solution.
    """

    def __init__(self, form: str, input_source: InputSource, columns: tuple[str, ...] = ()) -> None:
        self._form = form
        is_record = form in RECORDS
        self._records = (
            RecordWriter(form, input_source, [*columns, "solution"]) if is_record else None
        )
        self.is_plain = form == "line"
        """True if the output consists of the lines of solutions, without further columns."""

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

        ``board_of``, int64 (k), is the index of each solution's board, if there are several
        boards. ``values`` are the further columns of records.
        """
        if self._records is not None:
            columns = {**(values or {}), "solution": board_column(rows, boards, board_of)}
            return self._records.text(boards, columns, board_of)
        if self.is_plain:
            return bytes(boards.in_alphabets(formats.write_lines(rows), board_of))
        # Each solution is written in the alphabet of its own board.
        board_indices = [0] * len(rows) if board_of is None else board_of.tolist()
        alphabets = map(boards.alphabet, board_indices)
        solutions = Batch(boards.geometry, rows)
        return b"".join(board_texts(solutions, self._form, alphabets))

    def lines(self, text: bytes | memoryview, geometry: Geometry) -> int | None:
        """Compute the number of lines of a text from its size; None if lengths of lines differ."""
        is_fixed_length = self.is_plain and geometry.n <= len(DIGITS)
        return len(text) // (geometry.cells + len("\n")) if is_fixed_length else None


def board_texts(
    boards: Batch, form: str, alphabets: Iterable[bytes] | None = None
) -> Iterable[bytes]:
    """Write boards in a text form, each with the separator before the next one."""
    if form == "line" and boards.candidates is None and alphabets is None:
        return formats.write_lines(boards.cells).splitlines(keepends=True)
    end = "\n" + formats.separator(form)
    return (
        f"{formats.write(board, form, alphabet)}{end}".encode()
        for board, alphabet in zip(boards, alphabets or repeat(b""), strict=False)
    )


def distinct_numbers(numbers: NDArray[Any]) -> tuple[list[int], NDArray[np.intp]]:
    """Find the distinct numbers among those of many boards, integers (B), not negative.

    Returns
    -------
    The distinct numbers in ascending order, and the index of every board's number, intp (B).
    """
    largest = numbers.max(initial=0)
    # A table of all possible numbers is quicker than sorting, unless it is much longer.
    if numbers.dtype == object or largest > 4 * len(numbers):
        distinct, indices = np.unique(numbers, return_inverse=True)
        return distinct.tolist(), indices
    occurs = np.zeros(largest + 1, np.bool_)
    occurs[numbers] = True
    return np.flatnonzero(occurs).tolist(), (np.cumsum(occurs) - 1)[numbers]
