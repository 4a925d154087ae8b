"""Conversion of the values that users pass to boards: text, lists, arrays, columns and boards.

One board can be given as

* a ``Board``, or a result that has one as its ``board``, such as those of ``generate``;
* a string in any form that ``parse`` reads, including a grid on several lines;
* an integer with the digits of a 9x9 board, or of a smaller one if its box shape is given;
* a ``pathlib.Path``, of a file with one board;
* n * n integers, or n rows of n, in lists, in an array of any library or in a table of pandas. 0,
  -1, None or NaN is an empty cell, and 5.0 is 5. Together with another sign for empty cells, 0 may
  be a digit, as in text;
* the same with a string for every cell, as in ``[["5", ".", ...], ...]``, or for every row.

Many boards can be given as any iterable of boards: a list, a generator, an open file, a NumPy
array of strings, a column of pandas, Arrow or polars; or as the ``pathlib.Path`` of a file. In an
array of numbers with two dimensions every row is a board; with three dimensions, every grid.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import groupby, islice, pairwise
from math import isqrt, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpusudoku.board.arrays import host_array
from gpusudoku.board.batch import Batch
from gpusudoku.board.board import Board, array_of, name_of
from gpusudoku.board.geometry import Geometry
from gpusudoku.board.text import DIGITS
from gpusudoku.errors import InputError, Interrupted, described, shown
from gpusudoku.formats.lines import MIN_CELLS, PlainReader
from gpusudoku.formats.read import parse, read_batches
from gpusudoku.formats.symbols import are_digits, joined_texts, warn_from_zero
from gpusudoku.jobs.job import ChunkSize

BoardLike = Board | ArrayLike | os.PathLike[str]
"""A value that can be converted to a board."""

FIRST_ITEMS = 16
"""Items taken together at first: few, so that the first results of a stream come soon."""
ITEMS_SECONDS = 0.1
"""Items of a slow iterable are taken together for about this time."""
MAX_ITEMS = 1 << 14
"""The maximum number of items taken together."""
MAX_DIGIT = 64
"""A larger number is not a cell, but a puzzle that was read as a number."""

_PLACE = re.compile(r"^<text>(:\d+)*: ")
"""The line and column in a string, which are of little use next to the index of the string."""
_FILE_NAME = re.compile(
    r".{1,250}\.(txt|text|csv|tsv|sdk|sdm|ss|jsonl?|ndjson|md|npy|parquet|xlsx?|gz|bz2|xz|zst|zip)",
    re.I,
)
_SYMBOL = re.compile(r"[.*_0-9A-Za-z]\d?|-1")


def board_of(value: BoardLike, box: Geometry | str | None = None) -> Board:
    """Convert a value to a board; its box shape is guessed if it is not given."""
    geometry = Geometry.of(box)
    board = getattr(value, "board", None)
    if isinstance(board, Board):
        value = board
    if isinstance(value, Board):
        if geometry is not None and geometry != value.geometry:
            raise InputError(f"box {geometry}, but the board has boxes of {value.geometry}")
        return value
    if isinstance(value, os.PathLike):
        return _read_single_board(value, geometry)
    item = _to_python(host_array(value))
    if isinstance(item, str):
        try:
            return parse(item, geometry)
        except InputError:
            # Only now, because the name of a file may be a valid board.
            _refuse_name(item)
            raise
    if isinstance(item, int | float) and item > MAX_DIGIT:
        return _board_of_number(item, geometry)
    if not isinstance(item, Iterable) or isinstance(item, Mapping | Set):
        raise InputError(f"expected a board as text or as rows of cells, found {described(item)}")
    cells: Any = item if hasattr(item, "__array__") else list(item)
    return _board_of_cells(array_of(cells), geometry)


def _read_single_board(path: os.PathLike[str], geometry: Geometry | None) -> Board:
    """Read the only board of a file."""
    boards: list[Board] = []
    for entry in batches_of(path, geometry):
        if isinstance(entry, InputError):
            raise entry
        boards += entry
        if len(boards) > 1:
            name = os.fsdecode(path)
            raise InputError(
                f"{name}: several boards: pass the path itself to count_many, not in a list"
            )
    return boards[0]


def _board_of_number(number: float, geometry: Geometry | None) -> Board:
    """Return the board of an integer whose decimal figures are the cells."""
    n = 9 if geometry is None else geometry.n
    # A shorter number may be a smaller board that lost the zeros before its first digit.
    if isinstance(number, int) and n <= 9 and 10 ** ((n - 1) ** 2) <= number < 10 ** (n * n):
        return parse(f"{number:0{n * n}}", geometry)
    raise InputError(
        "a number, expected a board as text: read columns of puzzles as text (dtype=str), as"
        " numbers lose their leading zeros"
    )


def _board_of_cells(cells: NDArray[Any], geometry: Geometry | None) -> Board:
    """Return the board of an array of integers, None or strings."""
    if cells.size == 1:  # from a table of one column, probably
        cell = cells.item()
        if cell is None:
            raise InputError(
                "expected a board as text or as rows of cells, found one missing value"
            )
        if isinstance(cell, int | float) and cell > MAX_DIGIT:
            return board_of(cell, geometry)
    if cells.dtype == object and {str} <= {*map(type, cells.flat)} <= {str, type(None)}:
        return _board_of_texts(cells, geometry)
    _check_shape(cells)
    if (cells == -1).any():
        cells = np.where(cells == -1, np.array(None), cells)
    return Board(_number_from_one(cells, geometry), geometry)


def _number_from_one(cells: NDArray[Any], geometry: Geometry | None) -> NDArray[Any]:
    """Return cells, None for empty, with digits from 1 if they begin with 0, see ``symbols``."""
    if cells.dtype != object:
        return cells
    values = cells.ravel().tolist()
    n = isqrt(cells.size) if geometry is None else geometry.n
    digits = [value for value in values if value is not None]
    if len(digits) == len(values) or {*map(type, digits)} != {int}:
        return cells
    if min(digits) != 0 or max(digits) >= n or n * n != len(values):
        return cells
    if not are_digits(np.array([value == 0 for value in values])):
        return cells
    warn_from_zero(n)
    return np.array([None if value is None else value + 1 for value in values], object)


def _to_python(item: Any) -> Any:
    """Return a Python object for an item of a column, and text for bytes."""
    if isinstance(item, str):
        return item
    if isinstance(item, bytes):
        return item.decode(errors="replace")
    if isinstance(item, np.generic) or (isinstance(item, np.ndarray) and item.ndim == 0):
        return _to_python(item.item())
    return item.as_py() if hasattr(item, "as_py") else item  # of Arrow


def _check_shape(cells: NDArray[Any]) -> None:
    """Refuse cells that are neither a single row nor a square."""
    shape = cells.shape
    if len(shape) == 2 and shape[0] != shape[1]:
        raise InputError(f"{shape[0]} rows of {shape[1]} cells, expected as many rows as columns")
    if len(shape) > 2:
        raise InputError(f"an array of {len(shape)} dimensions, expected one board")


def _board_of_texts(cells: NDArray[Any], geometry: Geometry | None) -> Board:
    """Return the board of strings, one for every cell or every row; "" is an empty cell."""
    rows = [(text or "").strip("\r\n") for text in cells.flat]
    texts = [row.strip() or "." for row in rows]
    text_count = len(texts)
    bad_cell = next((i for i, text in enumerate(texts) if not _SYMBOL.fullmatch(text)), None)
    are_no_cells = bad_cell is not None or isqrt(text_count) ** 2 != text_count
    if cells.ndim == 1 and (are_no_cells or max(map(len, rows)) >= text_count > 1):
        board = parse("\n".join(rows), geometry)
        if text_count not in (1, board.n):
            raise InputError(
                f"{text_count} strings for a board of {board.n}x{board.n} cells,"
                " expected one for every row"
            )
        return board
    if bad_cell is not None:
        raise InputError(
            f"{name_of(bad_cell, text_count)} holds {texts[bad_cell]!r}, expected the symbol of a"
            " digit, or . for an empty cell"
        )
    _check_shape(cells)
    return parse(" ".join(texts), geometry)


def _refuse_name(text: str) -> None:
    """Refuse the name of a file, or of a board of the collection, given instead of a board."""
    if text.startswith("@"):
        raise InputError(
            f"{shown(text)}: expected a board; collection.load(name) loads one of the collection"
        )
    if os.path.isfile(text):  # noqa: PTH113 - Path refuses some texts
        raise InputError(f"{text} is a file: read it with pathlib.Path({text!r})")
    if _FILE_NAME.fullmatch(text):
        raise InputError(
            f"{text} looks like the name of a file, and there is none: give a board as text, or a"
            " file as pathlib.Path"
        )


def batches_of(
    boards: Iterable[BoardLike] | os.PathLike[str], box: Geometry | str | None = None
) -> Iterator[Batch | InputError]:
    """Yield boards in order, and the errors of bad ones with their index or place in the file."""
    geometry = Geometry.of(box)
    if isinstance(boards, os.PathLike):
        return _read_file(boards, geometry)
    if isinstance(boards, str):
        _refuse_name(boards)
    if isinstance(boards, Board | str | bytes):
        raise InputError(f"expected boards, found one {type(boards).__name__}: use a list of them")
    boards = host_array(boards)
    shape: tuple[int, ...] = getattr(boards, "shape", (1,))
    if not isinstance(boards, Iterable) or isinstance(boards, Mapping) or shape == ():
        raise InputError(f"expected boards, found {described(boards)}")
    if hasattr(boards, "columns") and len(shape) == 2 and 1 < shape[1] < MIN_CELLS:
        raise InputError(
            f"a table of {shape[1]} columns: give its column of puzzles, as table['puzzle'], or in"
            " a list if it is one board"
        )
    if len(shape) > 1:
        # Of a table, iterating would give the names of the columns.
        array = np.asarray(boards)
        if prod(shape[1:]) > 1:  # else NaN is a missing puzzle, and not a cell
            array = _with_integers(array)
        if array.dtype.kind in "iu":
            return _read_array(array, geometry)
        boards = array

    items: Any = boards
    if type(items) in (list, tuple) or (isinstance(items, np.ndarray) and items.ndim == 1):
        if isinstance(items, np.ndarray) and items.dtype.kind not in "US":
            items = list(items)
        starts = range(0, len(items), MAX_ITEMS)
        return _read_items((items[start : start + MAX_ITEMS] for start in starts), geometry)
    return _read_items(_group_items(iter(items)), geometry)


def _read_file(path: os.PathLike[str], geometry: Geometry | None) -> Iterator[Batch | InputError]:
    name = os.fsdecode(path)
    if not os.path.exists(name):  # noqa: PTH110 - Path refuses some texts
        raise InputError(f"{name}: no such file")
    if os.path.isdir(name):  # noqa: PTH112
        raise InputError(f"{name}: a folder, expected a file")
    return read_batches(name, geometry)


def _with_integers(cells: NDArray[Any]) -> NDArray[Any]:
    """Return floats as integers, with 0 for NaN; unchanged if that would lose information."""
    if cells.dtype.kind != "f":
        return cells
    numbers = np.where(np.isnan(cells), 0, cells)
    with np.errstate(invalid="ignore"):  # for values that are out of the range of integers
        integers = numbers.astype(np.int64)
    has_nan = (numbers != cells).any()
    # Together with NaN for empty cells, 0 may be a digit.
    may_begin_with_0 = has_nan and (cells == 0).any()
    is_exact = (integers == numbers).all()
    return integers if is_exact and not may_begin_with_0 else cells


def _group_items(items: Iterator[Any]) -> Iterator[list[Any]]:
    """Yield items in lists, each with as many items as come in a short time."""
    chunk_size = ChunkSize(FIRST_ITEMS, ITEMS_SECONDS, MAX_ITEMS)
    is_full = True
    while is_full:
        start = time.perf_counter()
        chunk: list[Any] = []
        try:
            for item in islice(items, chunk_size.size):
                chunk.append(item)
        except Interrupted:  # at once: Ctrl-C, or a cancellation
            raise
        except Exception:  # of the user's generator: the items before it are kept
            yield chunk
            raise
        is_full = len(chunk) == chunk_size.size
        chunk_size.adapt(time.perf_counter() - start, full=is_full)
        yield chunk


def _read_items(chunks: Iterable[Any], geometry: Geometry | None) -> Iterator[Batch | InputError]:
    """Read lists of items of any kind, and arrays of strings."""
    plain_reader = PlainReader()
    index = 0
    for chunk in chunks:
        # Split the chunk into sequences of strings and of other items.
        sequences: Iterable[tuple[bool, Any]] = [(True, chunk)]
        if not isinstance(chunk, np.ndarray) and {*map(type, chunk)} not in ({str}, {bytes}):
            groups = groupby(map(_to_python, chunk), lambda item: isinstance(item, str))
            sequences = ((are_texts, list(group)) for are_texts, group in groups)
        for are_texts, sequence in sequences:
            if are_texts:
                yield from _read_texts(sequence, index, geometry, plain_reader)
            else:
                for item_index, item in enumerate(sequence, index):
                    yield _read_item(item, item_index, geometry)
            index += len(sequence)


def _read_texts(
    texts: Any, index: int, geometry: Geometry | None, plain_reader: PlainReader
) -> Iterator[Batch | InputError]:
    """Read strings, those that are just the characters of cells many at a time.

    ``index`` is the index of the first string.
    """
    data, starts, sizes = joined_texts(texts)
    # Each range of strings has strings of one size.
    range_ends = (np.flatnonzero(np.diff(sizes)) + 1).tolist()
    for start, end in pairwise([0, *range_ends, len(sizes)]):
        size = int(sizes[start])
        shape = geometry or Geometry.of_cells(size)
        is_plain = shape is not None and shape.cells == size and shape.n <= len(DIGITS)
        while start < end:
            if shape is not None and is_plain:
                chunk = starts[start : min(end, start + plain_reader.max_boards)]
                symbols = data[chunk[0] : chunk[0] + len(chunk) * size]
                if chunk[-1] - chunk[0] > (len(chunk) - 1) * size:  # other bytes are in between
                    symbols = data[chunk[:, None] + np.arange(size)]
                cells = plain_reader.read(symbols.reshape(len(chunk), size), shape.n, len(chunk))
                if len(cells):
                    yield Batch(shape, cells)
                    start += len(cells)
                    continue
            yield _read_item(texts[start], index + start, geometry)
            start += 1


def _read_array(boards: NDArray[Any], geometry: Geometry | None) -> Iterator[Batch | InputError]:
    """Read integers with two dimensions, a board in every row, or with three, a grid in each."""
    advice = ""
    if boards.ndim == 2 and boards.shape[0] == boards.shape[1]:
        size = f"{len(boards)}x{len(boards)}"
        advice = f"; an array of {size} has a board in every row: for one board put it in a list"
    for index in range(0, len(boards), MAX_ITEMS):
        chunk = boards[index : index + MAX_ITEMS]
        if (chunk != 0).all():  # empty cells may be -1 if none is 0
            chunk = np.where(chunk == -1, 0, chunk)
        cells = chunk.reshape(len(chunk), prod(chunk.shape[1:]))
        # The first board shows whether the array has one box shape and valid digits.
        first_board = _read_item(chunk[0], index, geometry)
        if isinstance(first_board, Batch):
            n = first_board.geometry.n
            if ((cells >= 0) & (cells <= n)).all():
                yield Batch(first_board.geometry, cells.astype(np.uint8, order="C"))
                continue
        for item_index, item in enumerate(chunk, index):
            entry = _read_item(item, item_index, geometry)
            yield InputError(f"{entry}{advice}") if isinstance(entry, InputError) else entry


def _read_item(item: Any, index: int, geometry: Geometry | None) -> Batch | InputError:
    """Return the board of an item, or its error with its index."""
    try:
        return Batch.of([board_of(item, geometry)])
    except InputError as error:
        return InputError(f"board {index}: {_PLACE.sub('', str(error))}")
