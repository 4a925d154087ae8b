"""Many boards of one geometry in one array, without an object for each board."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import escaped


class RowBlock:
    """Base of frozen dataclasses that hold several columns with the same number of rows.

    ``_COLUMNS`` names the fields that are columns: arrays, other row blocks, or None for an absent
    column. The other fields describe all rows.
    """

    _COLUMNS: ClassVar[tuple[str, ...]]

    def __len__(self) -> int:
        return len(getattr(self, self._COLUMNS[0]))

    def part(self, start: int, end: int) -> Self:
        """Return the rows from ``start`` to before ``end``."""
        return self.select(slice(start, end))

    def select(self, rows: Any, /) -> Self:
        """Return some rows, given as a slice, a mask, bool (rows), or indices, int64 (k)."""
        columns = {name: _select_rows(getattr(self, name), rows) for name in self._COLUMNS}
        return replace(self, **columns)  # type: ignore[type-var]  # subclasses are dataclasses

    def chosen(self, mask: Any) -> Self:
        """Return the same as ``select``, which replaces this method."""
        return self.select(mask)


def _select_rows(column: Any, rows: Any) -> Any:
    """Return some rows of a column."""
    if column is None:
        return None
    return column.select(rows) if isinstance(column, RowBlock) else column[rows]


class InputSource(NamedTuple):
    """A file or another input from which boards are read."""

    name: str
    """The name that messages use."""
    extra_columns: tuple[str, ...] = ()
    """The names of the columns of the input that are not boards."""
    alphabet: bytes = b""
    """The symbols of the digits on its boards; empty if they are 1-9 and A-Z, as in answers."""


def _make_empty_texts(board_count: int) -> NDArray[np.object_]:
    """Return an empty tuple for each board, object (board_count)."""
    empty_tuple = np.empty(1, object)
    empty_tuple[0] = ()
    # A broadcast view: the memory does not grow with the number of boards.
    return np.broadcast_to(empty_tuple, board_count)


@dataclass(frozen=True, eq=False)
class SourceLocations(RowBlock):
    """Where each board of a batch was read, and the texts that belong to it."""

    _COLUMNS = ("source_of", "lines", "extra_texts", "board_texts")
    sources: tuple[InputSource, ...]
    """All inputs, each one once."""
    source_of: NDArray[np.intp]
    """intp (B): the index of each board's input in ``sources``."""
    lines: NDArray[np.int64]
    """int64 (B): the number of each board's first line, from 1; 0 if it was not read from text."""
    extra_texts: NDArray[np.object_]
    """object (B): for each board a tuple with one text for each extra column of its input."""
    board_texts: NDArray[np.bytes_]
    """bytes (B): the n * n characters of each board as they were read; empty if the board was not
    written as n * n characters."""

    @classmethod
    def of(
        cls,
        source: InputSource,
        lines: Sequence[int] | NDArray[np.int64],
        extra_texts: Iterable[tuple[str, ...]] | None = None,
        board_texts: NDArray[np.bytes_] | None = None,
    ) -> SourceLocations:
        """Return the locations of boards that come from one input."""
        board_count = len(lines)
        if board_texts is None:
            board_texts = np.zeros(board_count, np.bytes_)
        if extra_texts is None:
            texts = _make_empty_texts(board_count)
        else:
            texts = np.fromiter(extra_texts, object, board_count)
        source_of = np.zeros(board_count, np.intp)
        return cls((source,), source_of, np.array(lines, np.int64), texts, board_texts)

    @classmethod
    def joined(cls, parts: Sequence[SourceLocations]) -> SourceLocations:
        """Return the locations of all boards of several batches, in order."""
        sources = tuple(dict.fromkeys(source for part in parts for source in part.sources))
        lines = np.concatenate([part.lines for part in parts])
        board_texts = np.concatenate([part.board_texts for part in parts])

        source_of = np.zeros(len(lines), np.intp)
        if len(sources) > 1:
            new_index = {source: index for index, source in enumerate(sources)}
            source_of = np.concatenate([
                np.array([new_index[source] for source in part.sources])[part.source_of]
                for part in parts
            ])  # fmt: skip

        extra_texts = _make_empty_texts(len(lines))
        if any(source.extra_columns for source in sources):
            extra_texts = np.concatenate([part.extra_texts for part in parts])
        return cls(sources, source_of, lines, extra_texts, board_texts)

    def source(self, index: int) -> InputSource:
        """Return the input of a board."""
        return self.sources[int(self.source_of[index])]

    def extra_texts_of(self, index: int) -> tuple[str, ...]:
        """Return the texts of a board in the extra columns of its input."""
        texts: tuple[str, ...] = self.extra_texts[index]
        return texts

    def name(self, index: int) -> str:
        """Name the location of a board as messages do: ``puzzles.txt:17``."""
        name = self.source(index).name
        line = self.lines[index]
        return escaped(f"{name}:{line}" if line else name)


@dataclass(frozen=True, eq=False)
class Batch(RowBlock):
    """Boards of one geometry, in order.

    ``cells`` is uint8 (B, n * n), C-contiguous, one board a row: 0 for an empty cell, else a
    digit 1 .. n. The digits are not checked. ``candidates`` is uint64 (B, n * n), the digits that
    each cell may take; None if no board has given candidates. ``locations`` has the locations where
    the boards were read; None if they were not read from an input.
    """

    _COLUMNS = ("cells", "candidates", "locations")
    geometry: Geometry
    cells: NDArray[np.uint8]
    candidates: NDArray[np.uint64] | None = None
    locations: SourceLocations | None = None

    def __repr__(self) -> str:
        return f"<Batch: {self.describe()}>"

    def describe(self) -> str:
        """Describe the batch in a few words: ``100 boards of 9x9 cells``."""
        n = self.geometry.n
        boards = "1 board" if len(self) == 1 else f"{len(self)} boards"
        return f"{boards} of {n}x{n} cells"

    @classmethod
    def of(cls, boards: Batch | Sequence[Board]) -> Batch:
        """Make a batch of at least one board, all of one geometry; return a batch unchanged."""
        if isinstance(boards, Batch):
            return boards
        if len(boards) == 1:  # without copies
            [board] = boards
            masks = board.given_candidates
            return cls(board.geometry, board.cells[None], None if masks is None else masks[None])
        geometry = boards[0].geometry
        masks_by_board = [board.given_candidates for board in boards]
        candidates = None
        if any(masks is not None for masks in masks_by_board):
            all_allowed = np.full(geometry.cells, geometry.all_digits)
            candidates = np.stack([
                all_allowed if masks is None else masks for masks in masks_by_board
            ])  # fmt: skip
        return cls(geometry, np.stack([board.cells for board in boards]), candidates)

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """Join at least one batch of one geometry; either all or no batches have locations."""
        if len(batches) == 1:  # without copies
            return batches[0]
        geometry = batches[0].geometry
        cells = np.concatenate([batch.cells for batch in batches])
        candidates = None
        if any(batch.candidates is not None for batch in batches):
            candidates = np.concatenate([
                np.full(batch.cells.shape, geometry.all_digits)
                if batch.candidates is None else batch.candidates
                for batch in batches
            ])  # fmt: skip
        locations = [batch.locations for batch in batches if batch.locations is not None]
        return cls(
            geometry, cells, candidates, SourceLocations.joined(locations) if locations else None
        )

    def __getitem__(self, index: int) -> Board:
        if self.candidates is None or (self.candidates[index] == self.geometry.all_digits).all():
            return Board.of_digits(self.cells[index].copy(), self.geometry)
        return Board(self.cells[index], self.geometry, candidates=self.candidates[index])

    def __iter__(self) -> Iterator[Board]:
        return map(self.__getitem__, range(len(self)))

    def alphabet(self, index: int) -> bytes:
        """Return the symbols of the digits with which a board was read; empty for numbers."""
        if self.locations is None or not self.locations.board_texts[index]:
            return b""
        return self.locations.source(index).alphabet or DIGITS[: self.geometry.n]

    def in_alphabets(
        self, lines: bytes | memoryview, boards: NDArray[np.int64] | None = None
    ) -> bytes | memoryview:
        """Return canonical lines of solutions, each in the alphabet of its board.

        ``boards``, int64 (k), is the index of the board of each line. Without it, every board has
        one line, or the only board has all lines.
        """
        if self.locations is None or not any(source.alphabet for source in self.locations.sources):
            return lines
        source_of = self.locations.source_of if boards is None else self.locations.source_of[boards]
        source_indices = source_of.tolist()
        tables = {}
        for index in set(source_indices):
            symbols = self.locations.sources[index].alphabet
            tables[index] = bytes.maketrans(DIGITS[: len(symbols)], symbols)
        if len(tables) == 1:
            return bytes(lines).translate(*tables.values())
        # ``cycle``: the only index of a single board serves all its lines.
        pairs = zip(bytes(lines).splitlines(keepends=True), cycle(source_indices), strict=False)
        return b"".join(line.translate(tables[index]) for line, index in pairs)

    def singles(self) -> Iterator[Batch]:
        """Yield a batch of one board for each board."""
        return (self.part(index, index + 1) for index in range(len(self)))

    def with_cells(self, cells: NDArray[np.uint8]) -> Batch:
        """Return boards with some of the clues, ``cells``, uint8 (k, n * n).

        There is one row for each board, or any number of rows for a single board. A cell without
        its clue may have any digit; the candidates of other cells stay.
        """
        masks = self.candidates
        if masks is not None:
            masks = np.where(self.cells > 0, self.geometry.all_digits, masks)
            masks = np.broadcast_to(masks, cells.shape)
        return Batch(self.geometry, cells, masks)


def sort_keys(rows: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Return sort keys, bytes (k), of full boards, contiguous uint8 (k, n * n)."""
    return rows.view(f"S{rows.shape[1]}").ravel()
