"""Answers as a table: a row for every board."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.batch import Batch
from gpusudoku.board.places import Origin
from gpusudoku.board.rows import Rows
from gpusudoku.cli.records import Answers, Records, as_bytes, distinct
from gpusudoku.errors import BadEntry, InputError
from gpusudoku.results import Counts

COLUMNS = ("source", "line", "puzzle", "count", "unique")
"""The columns that every table has, before those of the input."""
TRUTH = {True: "true", False: "false", None: ""}


class OneHeader:
    """The other columns of the input, which have to be the same in all of it."""

    def __init__(self) -> None:
        self._origin: Origin | None = None

    def watched(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The same boards.

        Raises
        ------
        InputError
            If the columns change from one input to the next: a table has one header.
        """
        for batch in batches:
            assert batch.places is not None  # whatever a command reads has a place
            origin = batch.places.origins[0]  # one for all of it; there may be no board in it
            self._origin = self._origin or origin
            if origin.columns != self._origin.columns:
                raise InputError(
                    f"{origin.name}: has {_listed(origin.columns)}, but {self._origin.name} has "
                    f"{_listed(self._origin.columns)}: they do not fit in one table (--format "
                    "jsonl takes both)"
                )
            yield batch

    def beside(self, board: BadEntry) -> tuple[str, ...]:
        """Return what stands beside a bad board, in the columns of the others if there are any."""
        self._origin = self._origin or Origin(board.source, board.columns)
        if board.columns == self._origin.columns:
            return board.others
        others = dict(zip(board.columns, board.others, strict=True))
        return tuple(others.get(name, "") for name in self._origin.columns)

    def names(self, taken: Sequence[str]) -> list[str]:
        """Their names beside those that are taken, once the first boards were watched."""
        return distinct(() if self._origin is None else self._origin.columns, taken)


class Table(Records):
    """Comma- or tab-separated values with a header: our columns, then those of the input.

    Whether there are the columns ``solution`` and ``error`` is as it is asked, whatever the input.
    """

    def __init__(self, delimiter: str, solution: bool = False, errors: bool = False) -> None:
        self._delimiter = self.sign = delimiter
        self._others, self._solution, self._errors = OneHeader(), solution, errors
        more = ["solution"] * solution + ["error"] * errors
        self._columns = (*COLUMNS, *more)

    def watched(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """See ``Writer`` and ``OneHeader``."""
        return self._others.watched(batches)

    def header(self) -> bytes:
        """The names of all columns."""
        return as_row((*self._columns, *self._others.names(self._columns)), self._delimiter)

    def unreadable(self, board: BadEntry) -> bytes:
        """See ``Writer``."""
        beside = self._others.beside(board)
        verdict = ["", "", *[""] * self._solution, board.reason]
        line = str(board.line or "")
        return as_row((board.source, line, board.puzzle, *verdict, *beside), self._delimiter)

    def odd(self, answers: Answers) -> NDArray[np.bool_]:
        """Also those from a file whose name is quoted."""
        names = [(origin.name, "") for origin in answers.places.origins]
        quoted = [as_row(name, self.sign) != as_bytes(f"{name[0]}{self.sign}\n") for name in names]
        odd: NDArray[np.bool_] = super().odd(answers) | np.array(quoted)[answers.places.origin_of]
        return odd

    def put(self, answers: Answers, written: Rows) -> None:
        """A piece for each column, and what stands between them."""
        results, places, cut = answers.results, answers.places, self._delimiter.encode()
        counts, which = answers.counts()
        verdicts = [self._verdict(results, count) for count in counts]
        written.texts([as_bytes(origin.name) + cut for origin in places.origins], places.origin_of)
        written.numbers(places.lines)
        written.texts([cut])
        written.boards(results.boards.cells)
        written.texts([cut + as_bytes(self.sign.join(each)) for each in verdicts], which)
        if self._solution:
            assert answers.solutions is not None
            written.texts([cut])
            written.boards(answers.solutions, (np.array(counts) > 0)[which])
        if self._errors:
            written.texts([cut])
        before = [[cut] * len(places.origins) for _ in places.origins[0].columns]
        written.fields(places.others, before, places.origin_of)
        written.texts([b"\n"])

    def each(self, answers: Answers) -> list[bytes]:
        """Every row, with the quotes that it needs."""
        results, places = answers.results, answers.places
        counts, which = answers.counts()
        verdicts = [self._verdict(results, count) for count in counts]
        ours = zip(
            [places.origins[index].name for index in places.origin_of.tolist()],
            [str(line or "") for line in places.lines.tolist()],
            answers.puzzles(),
            map(verdicts.__getitem__, which.tolist()),
            ([line] for line in answers.solution_lines()) if self._solution else repeat([]),
            strict=False,
        )
        error = [""] * self._errors
        return [
            as_row((*row, *verdict, *solution, *error, *places.beside(index)), self._delimiter)
            for index, (*row, verdict, solution) in enumerate(ours)
        ]

    def _verdict(self, results: Counts, count: int) -> tuple[str, str]:
        """What all boards of a block with a count have in common: the fields of two columns."""
        return results.text(count), TRUTH[results.is_unique(count)]


def as_row(fields: Sequence[str], delimiter: str) -> bytes:
    """A row by the rules of CSV, and by what they overlook.

    A carriage return is an end of line, and what begins with ``#`` a comment, for readers.
    """
    text = delimiter.join(fields)
    odd = "\r" in text or "\n#" in text or text.startswith("#")
    cuts = text.count(delimiter) - len(fields) + 1
    if not (odd or cuts or '"' in text or "\n" in text):  # as a rule
        return as_bytes(f"{text}\n")
    quoted = StringIO()
    csv.writer(
        quoted,
        delimiter=delimiter,
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL,
    ).writerow(fields)
    return as_bytes(quoted.getvalue())


def _listed(columns: Sequence[str]) -> str:
    if not columns:
        return "no other columns"
    return f"the column{'s' if len(columns) > 1 else ''} {', '.join(columns)}"
