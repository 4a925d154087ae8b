"""How commands write solutions: as full grids, or as records that tell their boards, too."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku import formats
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.cli.asked import asked_form, form_options
from gpusudoku.cli.records import FORMS as RECORDS
from gpusudoku.cli.records import RecordWriter

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
    return _Records(form, own or Own()) if form in RECORDS else _Grids(form)


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
    """A record for every solution: the values of the command, its number, and the solution."""

    def __init__(self, form: str, own: Own) -> None:
        self._own = own
        numbered = [own.numbered] if own.numbered else []
        self._records = RecordWriter(form, [*own.constants, *numbered, "solution"])

    def watched(self, batches: Iterable[Batch]) -> Iterable[Batch]:
        """See ``RecordWriter``."""
        return self._records.watched(batches)

    def header(self) -> bytes:
        """See ``RecordWriter``."""
        return self._records.header()

    def text(
        self,
        boards: Batch,
        block: NDArray[np.uint8],
        board_of: NDArray[np.int64] | None = None,
        numbers: Iterable[int] | None = None,
    ) -> bytes:
        """See ``Writer``."""
        values: dict[str, Any] = {**self._own.constants}
        if numbers is not None:
            given = list(islice(numbers, len(block)))
            values[self._own.numbered] = [*map(str, given)] if self._own.large else given
        values["solution"] = formats.write_lines(block).decode().splitlines()
        return self._records.text(boards, values, None if board_of is None else board_of.tolist())
