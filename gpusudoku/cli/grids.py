"""How commands write solutions: as full grids, or as records that tell their boards, too."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku import formats
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.places import Places
from gpusudoku.board.text import DIGITS
from gpusudoku.cli.asked import asked_form, form_options
from gpusudoku.cli.records import distinct
from gpusudoku.cli.tables import OneHeader, as_row

FORMS = (*formats.FORMATS, "jsonl")


def solution_form(command: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of a command that choose the form of solutions; it gets one, ``form``."""
    options = form_options(
        command,
        FORMS,
        "How to write solutions; csv, tsv and jsonl tell the board of each, too.  [default: line]",
    )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_form(*, form: str | None, as_json: bool, **others: Any) -> Any:
            return function(form=asked_form(form, as_json) or "line", **others)

        return options(with_form)

    return decorate


@dataclass(frozen=True)
class Own:
    """What the records of one command say besides."""

    constants: Mapping[str, str] = field(default_factory=dict)
    """The same in every record, by name."""
    numbered: str = ""
    """What the number of a solution is called, if it has one."""
    large: bool = False
    """Whether these numbers may exceed what JSON readers keep of a number."""


class Writer(ABC):
    """Writes solutions in one form. Many threads may write, in any order."""

    is_plain = False
    """Whether solutions are canonical lines alone."""

    def watched(self, batches: Iterable[Batch]) -> Iterable[Batch]:
        """Boards that are read, which a form may want to know before there are solutions."""
        return batches

    def header(self) -> bytes:
        """What stands before all solutions: known once the first boards were watched."""
        return b""

    @abstractmethod
    def text(
        self,
        boards: Batch,
        block: NDArray[np.uint8],
        board_of: NDArray[np.int64] | None = None,
        numbers: Iterable[int] | None = None,
    ) -> bytes:
        """Solutions as whole lines.

        Parameters
        ----------
        boards
            Whose solutions they are.
        block
            uint8 (k, cells): the solutions.
        board_of
            The index of the board of each, int64 (k), if there are several boards.
        numbers
            The number of each, if they have any.
        """

    def lines(self, text: bytes | memoryview, geometry: Geometry) -> int | None:
        """How many lines a text of solutions has, where its size tells; else None."""
        fixed = self.is_plain and geometry.n <= len(DIGITS)
        return len(text) // (geometry.cells + len("\n")) if fixed else None


def solution_writer(form: str, own: Own | None = None) -> Writer:
    """What writes one of the ``FORMS``."""
    own = own or Own()
    if form == "jsonl":
        return _Objects(own)
    if form in ("csv", "tsv"):
        return _Table(own, "," if form == "csv" else "\t")
    return _Grids(form)


class _Grids(Writer):
    """Solutions as boards are written."""

    def __init__(self, form: str) -> None:
        self._form = form
        self.is_plain = form == "line"

    def text(
        self,
        boards: Batch,
        block: NDArray[np.uint8],
        board_of: NDArray[np.int64] | None = None,
        numbers: Iterable[int] | None = None,
    ) -> bytes:
        """See ``Writer``."""
        if self.is_plain:
            return formats.write_lines(block)
        end = "\n" + formats.separator(self._form)
        grids = (Board(cells, boards.geometry) for cells in block)
        return "".join(formats.write(grid, self._form) + end for grid in grids).encode()


class _Records(Writer):
    """A record for every solution: what its board has, its number, itself, and the rest."""

    def __init__(self, own: Own) -> None:
        self._own = own

    def text(
        self,
        boards: Batch,
        block: NDArray[np.uint8],
        board_of: NDArray[np.int64] | None = None,
        numbers: Iterable[int] | None = None,
    ) -> bytes:
        """See ``Writer``."""
        which = [0] * len(block) if board_of is None else board_of.tolist()
        assert boards.places is not None  # whatever a command reads has a place
        around = {index: self._around(boards, boards.places, index) for index in set(which)}
        marks = repeat(b"") if numbers is None else map(self._number, numbers)
        lines = map(self._solution, formats.write_lines(block).splitlines())
        pieces = (
            (around[index][0], mark, line, around[index][1])
            for index, mark, line in zip(which, marks, lines, strict=False)
        )
        return b"".join(piece for each in pieces for piece in each)

    @abstractmethod
    def _around(self, boards: Batch, places: Places, index: int) -> tuple[bytes, bytes]:
        """What stands before and behind each solution of a board."""

    @abstractmethod
    def _number(self, number: int) -> bytes:
        """The number of a solution, and what follows it."""

    @abstractmethod
    def _solution(self, line: bytes) -> bytes:
        """The canonical line of a solution as it stands in a record."""


class _Table(_Records):
    """Rows of a table with a header: our columns, then those of the input."""

    def __init__(self, own: Own, delimiter: str) -> None:
        super().__init__(own)
        self._delimiter, self._others = delimiter, OneHeader()
        numbered = [own.numbered] if own.numbered else []
        self._columns = ["source", "line", "puzzle", *own.constants, *numbered, "solution"]

    def watched(self, batches: Iterable[Batch]) -> Iterable[Batch]:
        """See ``Writer`` and ``OneHeader``."""
        return self._others.watched(batches)

    def header(self) -> bytes:
        """See ``Writer``."""
        return as_row((*self._columns, *self._others.names(self._columns)), self._delimiter)

    def _around(self, boards: Batch, places: Places, index: int) -> tuple[bytes, bytes]:
        cut, line = self._delimiter, str(places.lines[index] or "")
        ours = (places.origin(index).name, line, str(boards[index]), *self._own.constants.values())
        beside = places.beside(index)
        after = cut.encode() + as_row(beside, cut) if beside else b"\n"
        return as_row(ours, cut).removesuffix(b"\n") + cut.encode(), after

    def _number(self, number: int) -> bytes:
        return f"{number}{self._delimiter}".encode()

    def _solution(self, line: bytes) -> bytes:
        return b'"%b"' % line if self._delimiter.encode() in line else line


class _Objects(_Records):
    """JSON objects."""

    def _around(self, boards: Batch, places: Places, index: int) -> tuple[bytes, bytes]:
        origin = places.origin(index)
        names = distinct(origin.columns)
        before = {"board": str(boards[index]), "box": str(boards.geometry)}
        after: dict[str, Any] = {
            "source": origin.name,
            "line": int(places.lines[index]) or None,
        }
        if names:
            after["columns"] = dict(zip(names, places.beside(index), strict=True))
        head = json.dumps({**before, **self._own.constants})
        return head.removesuffix("}").encode() + b", ", f", {json.dumps(after)[1:]}\n".encode()

    def _number(self, number: int) -> bytes:
        shown = json.dumps(str(number) if self._own.large else number)
        return f"{json.dumps(self._own.numbered)}: {shown}, ".encode()

    def _solution(self, line: bytes) -> bytes:
        return b'"solution": "%b"' % line
