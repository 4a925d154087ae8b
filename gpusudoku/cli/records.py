"""Answers for the next program: a record for every board, as a row of a table or as JSON."""

from __future__ import annotations

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from itertools import repeat
from operator import add

import numpy as np
from numpy.typing import NDArray

from gpusudoku import formats
from gpusudoku.board.batch import Batch
from gpusudoku.board.places import Origin, Places
from gpusudoku.errors import InputError
from gpusudoku.results import Counts

COLUMNS = ("source", "line", "puzzle", "count", "unique", "solution")
"""The columns of a table, before those of the input."""
TRUTH = {True: "true", False: "false", None: ""}


def as_bytes(text: str) -> bytes:
    """Text as it is written; names of files may have bytes that are no text."""
    return text.encode(errors="surrogateescape")


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

    def first(self, boards: int) -> Answers:
        """Those of the first boards."""
        return self.chosen(np.arange(len(self)) < boards)

    @property
    def places(self) -> Places:
        """Where the boards were read."""
        places = self.results.boards.places
        assert places is not None  # whatever a command reads has a place
        return places

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
    """Writes answers in one form; any thread may have it write some."""

    @property
    def between(self) -> bytes:
        """What stands between the texts of answers."""
        return b""

    def watched(self, batches: Iterable[Batch]) -> Iterable[Batch]:
        """Boards that are read, which a form may want to know before there are answers."""
        return batches

    @abstractmethod
    def text(self, answers: Answers) -> bytes:
        """Whole lines."""

    def header(self) -> bytes:
        """What stands before all answers, once boards were read."""
        return b""


class Table(Writer):
    """Comma- or tab-separated values with a header: our columns, then those of the input."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
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
            origin = batch.places.origin(0)
            self._origin = self._origin or origin
            if origin.columns != self._origin.columns:
                raise InputError(
                    f"{origin.name}: has {_listed(origin.columns)}, but {self._origin.name} has "
                    f"{_listed(self._origin.columns)}: they do not fit in one table (--format "
                    "jsonl takes both)"
                )
            yield batch

    def text(self, answers: Answers) -> bytes:
        """A row for every board."""
        results, places = answers.results, answers.places
        texts = {count: results.text(count) for count in set(results.counts)}
        unique = {count: TRUTH[results.is_unique(count)] for count in texts}
        rows: Iterator[tuple[str, ...]] = zip(
            [places.origins[index].name for index in places.origin_of.tolist()],
            [str(line or "") for line in places.lines.tolist()],
            answers.puzzles(),
            map(texts.__getitem__, results.counts),
            map(unique.__getitem__, results.counts),
            answers.solution_lines(),
            strict=True,
        )
        if self._origin is not None and self._origin.columns:
            rows = map(add, rows, map(places.beside, range(len(answers))))
        return as_bytes(self._written(list(rows)))

    def header(self) -> bytes:
        """The names of the columns."""
        others = () if self._origin is None else self._origin.columns
        return as_bytes(self._written([(*COLUMNS, *distinct(others, COLUMNS))]))

    def _written(self, rows: Sequence[tuple[str, ...]]) -> str:
        """Quote what needs it; where nothing does, which is as a rule, joining is all."""
        text = "".join([self._delimiter.join(row) + "\n" for row in rows])
        cuts = sum(map(len, rows)) - len(rows)
        plain = (text.count(self._delimiter), text.count("\n")) == (cuts, len(rows))
        # What the rules of CSV overlook: a carriage return, and what readers take for a comment.
        odd = "\r" in text or "\n#" in text or text.startswith("#")
        if plain and '"' not in text and not odd:
            return text
        quoted = StringIO()
        csv.writer(
            quoted,
            delimiter=self._delimiter,
            lineterminator="\n",
            quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL,
        ).writerows(rows)
        return quoted.getvalue()


class JsonLines(Writer):
    """One JSON object a board; with details, each board was counted alone and says all of it."""

    def __init__(self, details: bool) -> None:
        self._details = details

    def text(self, answers: Answers) -> bytes:
        """A line for every board; what many have in common is made once."""
        results, places = answers.results, answers.places
        verdicts = {count: _verdict(results, count) for count in set(results.counts)}
        sources = [json.dumps(origin.name) for origin in places.origins]
        rows = zip(
            answers.puzzles(),
            map(verdicts.__getitem__, results.counts),
            self._solutions(answers),
            map(sources.__getitem__, places.origin_of.tolist()),
            places.lines.tolist(),
            self._ends(answers, any(origin.columns for origin in places.origins)),
            strict=True,
        )
        return as_bytes(
            "".join(
                [
                    f'{{"board": "{board}", {verdict}{solution}, "source": {source}, '
                    f'"line": {line or "null"}{end}}}\n'
                    for board, verdict, solution, source, line, end in rows
                ]
            )
        )

    def _solutions(self, answers: Answers) -> Iterable[str]:
        if answers.solutions is None:
            return repeat("", len(answers))
        return [
            f', "solution": "{line}"' if line else ', "solution": null'
            for line in answers.solution_lines()
        ]

    def _ends(self, answers: Answers, columns: bool) -> Iterable[str]:
        """What few objects have: the input's other columns, and all details."""
        if not (columns or self._details):
            return repeat("", len(answers))
        ends = []
        places = answers.places
        for index, result in enumerate(answers.results):
            more: dict[str, object] = {}
            columns_here = places.origin(index).columns
            if columns_here:
                beside = places.beside(index)
                more["columns"] = dict(zip(distinct(columns_here), beside, strict=True))
            if self._details:
                facts = result.as_dict()
                more |= {name: facts[name] for name in facts if name not in _VERDICT}
            ends.append(f", {json.dumps(more)[1:-1]}" if more else "")
        return ends


_VERDICT = ("board", "box", "count", "exact", "method", "device")
"""What every object says, of all that a ``Count`` says as JSON."""


def _verdict(results: Counts, count: int) -> str:
    """What all boards of a block with a count have in common."""
    exact = results.is_exact(count)
    facts = {
        "box": str(results.boards.geometry),
        "count": results.text(count).removesuffix("+"),
        "exact": exact,
        "unique": results.is_unique(count),
        "method": results.stats.method,
        "device": results.device,
    }
    return json.dumps(facts)[1:-1]


def distinct(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """The names of columns; one that is taken already gets the prefix ``input_``."""
    found = list(taken)
    start = len(found)
    for name in names:
        while name in found:
            name = f"input_{name}"
        found.append(name)
    return found[start:]


def _listed(columns: Sequence[str]) -> str:
    if not columns:
        return "no other columns"
    return f"the column{'s' if len(columns) > 1 else ''} {', '.join(columns)}"
