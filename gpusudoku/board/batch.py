"""Many boards of one geometry in one array, with no object for each of them."""

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
    """Base of frozen dataclasses with several columns of as many rows, such as a row per board.

    ``_COLUMNS`` names the fields with rows: arrays, other blocks, or None for a column that is
    absent. The other fields describe all rows.
    """

    _COLUMNS: ClassVar[tuple[str, ...]]

    def __len__(self) -> int:
        return len(getattr(self, self._COLUMNS[0]))

    def part(self, start: int, end: int) -> Self:
        """Return the rows from start to before end."""
        return self.select(slice(start, end))

    def select(self, which: Any, /) -> Self:
        """Return the rows of a slice, of a mask, bool (rows), or of indices, int64 (k)."""
        columns = {name: _rows(getattr(self, name), which) for name in self._COLUMNS}
        return replace(self, **columns)  # type: ignore[type-var]  # subclasses are dataclasses


def _rows(column: Any, which: Any) -> Any:
    """Return some rows of a column."""
    if column is None:
        return None
    return column.select(which) if isinstance(column, RowBlock) else column[which]


class Origin(NamedTuple):
    """A file or another input."""

    name: str
    """As messages call it."""
    columns: tuple[str, ...] = ()
    """The names of the texts beside each of its boards."""
    alphabet: bytes = b""
    """The symbols of the digits on its boards, if they are not 1-9 and A-Z as in answers."""


def _no_texts(boards: int) -> NDArray[np.object_]:
    """Return an empty tuple for each board, object (boards), all of which share one place."""
    shared = np.empty(1, object)
    shared[0] = ()
    return np.broadcast_to(shared, boards)


@dataclass(frozen=True, eq=False)
class Places(RowBlock):
    """The place of every board of a batch."""

    _COLUMNS = ("origin_of", "lines", "others", "texts")
    origins: tuple[Origin, ...]
    """Every origin, once."""
    origin_of: NDArray[np.intp]
    """intp (B): the index of each board's origin."""
    lines: NDArray[np.int64]
    """int64 (B): the number of each board's first line, from 1; 0 for what comes from no text."""
    others: NDArray[np.object_]
    """object (B): for each board a tuple with a text for every column of its origin."""
    texts: NDArray[np.bytes_]
    """bytes (B): the n * n characters of each board as they were read; empty if these were none."""

    @classmethod
    def of(
        cls,
        origin: Origin,
        lines: Sequence[int] | NDArray[np.int64],
        others: Iterable[tuple[str, ...]] | None = None,
        texts: NDArray[np.bytes_] | None = None,
    ) -> Places:
        """Return the places of boards of one origin, with the texts in its columns, if any."""
        boards = len(lines)
        texts = np.zeros(boards, np.bytes_) if texts is None else texts
        beside = _no_texts(boards) if others is None else np.fromiter(others, object, boards)
        return cls((origin,), np.zeros(boards, np.intp), np.array(lines, np.int64), beside, texts)

    @classmethod
    def joined(cls, places: Sequence[Places]) -> Places:
        """Return the places of all boards of some batches."""
        origins = tuple(dict.fromkeys(origin for each in places for origin in each.origins))
        index = {origin: place for place, origin in enumerate(origins)}
        lines = np.concatenate([each.lines for each in places])
        origin_of = np.zeros(len(lines), np.intp)
        others = _no_texts(len(lines))
        if len(origins) > 1:
            origin_of = np.concatenate([
                np.array([index[o] for o in each.origins])[each.origin_of] for each in places
            ])  # fmt: skip
        if any(origin.columns for origin in origins):
            others = np.concatenate([each.others for each in places])
        return cls(origins, origin_of, lines, others, np.concatenate([p.texts for p in places]))

    def origin(self, index: int) -> Origin:
        """Return the origin of a board."""
        return self.origins[int(self.origin_of[index])]

    def beside(self, index: int) -> tuple[str, ...]:
        """Return the texts beside a board, for every column of its origin."""
        beside: tuple[str, ...] = self.others[index]
        return beside

    def name(self, index: int) -> str:
        """Name the place of a board as messages do: ``puzzles.txt:17``."""
        name = self.origin(index).name
        line = self.lines[index]
        return escaped(f"{name}:{line}" if line else str(name))


@dataclass(frozen=True, eq=False)
class Batch(RowBlock):
    """Boards of one geometry, in order.

    ``cells`` is uint8 (B, n * n), C-contiguous, one board a row: 0 for an empty cell, else a
    digit 1 .. n; they are not checked. ``candidates`` is uint64 (B, n * n), the digits that each
    cell may take, if some of the boards carry candidates. ``places`` has the places where the
    boards were read, if they were.
    """

    _COLUMNS = ("cells", "candidates", "places")
    geometry: Geometry
    cells: NDArray[np.uint8]
    candidates: NDArray[np.uint64] | None = None
    places: Places | None = None

    def __repr__(self) -> str:
        return f"<Batch: {self.describe()}>"

    def describe(self) -> str:
        """Say it in a few words: ``100 boards of 9x9 cells``."""
        n = self.geometry.n
        boards = "1 board" if len(self) == 1 else f"{len(self)} boards"
        return f"{boards} of {n}x{n} cells"

    @classmethod
    def of(cls, boards: Batch | Sequence[Board]) -> Batch:
        """Make a batch of boards, at least one, all of one geometry; a batch stays as it is."""
        if isinstance(boards, Batch):
            return boards
        if len(boards) == 1:  # without copies
            [board] = boards
            masks = board.given_candidates
            return cls(board.geometry, board.cells[None], None if masks is None else masks[None])
        given = [board.given_candidates for board in boards]
        geometry = boards[0].geometry
        candidates = None
        if any(masks is not None for masks in given):
            whole = np.full(geometry.cells, geometry.all_digits)
            candidates = np.stack([whole if masks is None else masks for masks in given])
        return cls(geometry, np.stack([board.cells for board in boards]), candidates)

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """Join batches of one geometry, at least one; all have places, or none."""
        if len(batches) == 1:
            return batches[0]
        geometry = batches[0].geometry
        candidates = None
        if any(batch.candidates is not None for batch in batches):
            candidates = np.concatenate([
                np.full(batch.cells.shape, geometry.all_digits)
                if batch.candidates is None else batch.candidates
                for batch in batches
            ])  # fmt: skip
        places = [batch.places for batch in batches if batch.places is not None]
        cells = np.concatenate([batch.cells for batch in batches])
        return cls(geometry, cells, candidates, Places.joined(places) if places else None)

    def __getitem__(self, index: int) -> Board:
        if self.candidates is None or (self.candidates[index] == self.geometry.all_digits).all():
            return Board.of_digits(self.cells[index].copy(), self.geometry)
        return Board(self.cells[index], self.geometry, candidates=self.candidates[index])

    def __iter__(self) -> Iterator[Board]:
        return map(self.__getitem__, range(len(self)))

    def alphabet(self, index: int) -> bytes:
        """Return the symbols of the digits with which a board was read; empty for numbers."""
        if self.places is None or not self.places.texts[index]:
            return b""
        return self.places.origin(index).alphabet or DIGITS[: self.geometry.n]

    def in_alphabets(
        self, lines: bytes | memoryview, boards: NDArray[np.int64] | None = None
    ) -> bytes | memoryview:
        """Return canonical lines of solutions, each in the alphabet of its board.

        ``boards``, int64 (k), has the board of each line; without it, every board has one line, or
        the only board has all.
        """
        if self.places is None or not any(origin.alphabet for origin in self.places.origins):
            return lines
        owners = self.places.origin_of if boards is None else self.places.origin_of[boards]
        tables = {}
        for owner in set(owners.tolist()):
            symbols = self.places.origins[owner].alphabet
            tables[owner] = bytes.maketrans(DIGITS[: len(symbols)], symbols)
        if len(tables) == 1:
            return bytes(lines).translate(*tables.values())
        pairs = zip(bytes(lines).splitlines(keepends=True), cycle(owners.tolist()), strict=False)
        return b"".join(line.translate(tables[owner]) for line, owner in pairs)

    def singles(self) -> Iterator[Batch]:
        """Give a batch of one for each board."""
        return (self.part(index, index + 1) for index in range(len(self)))

    def with_cells(self, cells: NDArray[np.uint8]) -> Batch:
        """Return boards with some of the clues, uint8 (B, n * n); a single board may have many.

        A cell that lost its clue may have any digit, other candidates stay as they are.
        """
        masks = self.candidates
        if masks is not None:
            masks = np.where(self.cells > 0, self.geometry.all_digits, masks)
            masks = np.broadcast_to(masks, cells.shape)
        return Batch(self.geometry, cells, masks)


def sort_keys(rows: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Return the keys to sort full boards by: of contiguous uint8 (k, n * n), bytes (k)."""
    return rows.view(f"S{rows.shape[1]}").ravel()
