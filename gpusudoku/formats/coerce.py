"""Make boards of the values that users pass: text, lists, arrays and columns as well as boards.

A board is one of these:

* a ``Board``, or a result that has one as its ``board``, as those of ``generate``;
* a string in any form that ``parse`` reads, a grid on several lines included;
* an integer with the digits of a 9x9 board, or of a smaller one if the shape of its boxes is given;
* a ``pathlib.Path``, of a file with one board;
* n * n integers, or n rows of n, in lists, in an array of any library or in a table of pandas; 0,
  -1, None or NaN for an empty cell, and 5.0 is 5; beside another sign 0 may be a digit, as in text;
* the same with a string for every cell, as in ``[["5", ".", ...], ...]``, or for every row.

Many boards are any iterable of them: a list, a generator, an open file, a NumPy array of strings, a
column of pandas, Arrow or polars; or the ``pathlib.Path`` of a file. In an array of numbers of two
dimensions every row is a board, in one of three every grid.
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
from gpusudoku.formats.lines import MIN_CELLS, PlainRun
from gpusudoku.formats.read import parse, read_batches
from gpusudoku.formats.symbols import are_digits, joined_texts, warn_from_zero
from gpusudoku.jobs.job import ChunkSize

BoardLike = Board | ArrayLike | os.PathLike[str]
"""A value that is taken for a board."""

FIRST_ITEMS = 16
"""Items taken together at first: a user who streams boards sees the first results soon."""
ITEMS_SECONDS = 0.1
"""Items that come slowly are taken together for about so long."""
MAX_ITEMS = 1 << 14
MAX_DIGIT = 64
"""A larger number is no cell: it is a puzzle that was read as a number."""

_PLACE = re.compile(r"^<text>(:\d+)*: ")
"""The line and column in a string, which say little beside the index of the string."""
_FILE_NAME = re.compile(
    r".{1,250}\.(txt|text|csv|tsv|sdk|sdm|ss|jsonl?|ndjson|md|npy|parquet|xlsx?|gz|bz2|xz|zst|zip)",
    re.I,
)
_SYMBOL = re.compile(r"[.*_0-9A-Za-z]\d?|-1")


def board_of(given: BoardLike, box: Geometry | str | None = None) -> Board:
    """Return the board that is given; the shape of its boxes is guessed if it is not."""
    geometry = Geometry.of(box)
    if isinstance(of := getattr(given, "board", None), Board):
        given = of
    if isinstance(given, Board):
        if geometry is not None and geometry != given.geometry:
            raise InputError(f"box {geometry}, but the board has boxes of {given.geometry}")
        return given
    if isinstance(given, os.PathLike):
        boards: list[Board] = []
        for found in batches_of(given, geometry):
            if isinstance(found, InputError):
                raise found
            boards += found
            if len(boards) > 1:
                name = os.fsdecode(given)
                raise InputError(f"{name}: several boards: give count_many this path, in no list")
        return boards[0]
    item = _plain(host_array(given))
    if isinstance(item, str):
        try:
            return parse(item, geometry)
        except InputError:
            _refuse_name(item)
            raise
    if isinstance(item, int | float) and item > MAX_DIGIT:
        n = 9 if geometry is None else geometry.n
        # A shorter number may be a smaller board that lost its zeros.
        if isinstance(item, int) and n <= 9 and 10 ** ((n - 1) ** 2) <= item < 10 ** (n * n):
            return parse(f"{item:0{n * n}}", geometry)
        raise InputError(
            "a number, expected a board as text: read columns of puzzles as text (dtype=str), as"
            " numbers lose the zeros before them"
        )
    if not isinstance(item, Iterable) or isinstance(item, Mapping | Set):
        raise InputError(f"expected a board as text or as rows of cells, found {described(item)}")
    rows: Any = item if hasattr(item, "__array__") else list(item)
    cells = array_of(rows)
    if cells.size == 1 and cells.item() is None:  # a missing puzzle in a table of one column
        raise InputError("expected a board as text or as rows of cells, found one missing value")
    number = cells.item() if cells.size == 1 else None  # a puzzle in a table of one column
    if isinstance(number, int | float) and number > MAX_DIGIT:
        return board_of(number, geometry)
    if cells.dtype == object and {str} <= {*map(type, cells.flat)} <= {str, type(None)}:
        return _board_of_texts(cells, geometry)
    _check_shape(cells)
    if (cells == -1).any():
        cells = np.where(cells == -1, np.array(None), cells)
    return Board(_from_one(cells, geometry), geometry)


def _from_one(cells: NDArray[Any], geometry: Geometry | None) -> NDArray[Any]:
    """Number the digits from 1 where they begin with 0: see ``symbols``; None is an empty cell."""
    values = cells.ravel().tolist() if cells.dtype == object else []
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


def _plain(item: Any) -> Any:
    """Return a Python object for an item of a column, and text for bytes."""
    if isinstance(item, str):
        return item
    if isinstance(item, bytes):
        return item.decode(errors="replace")
    if isinstance(item, np.generic) or (isinstance(item, np.ndarray) and item.ndim == 0):
        return _plain(item.item())
    return item.as_py() if hasattr(item, "as_py") else item


def _check_shape(cells: NDArray[Any]) -> None:
    """Refuse cells that are neither a single row nor a square."""
    shape = cells.shape
    if len(shape) == 2 and shape[0] != shape[1]:
        raise InputError(f"{shape[0]} rows of {shape[1]} cells, expected as many rows as columns")
    if len(shape) > 2:
        raise InputError(f"an array of {len(shape)} dimensions, expected one board")


def _board_of_texts(cells: NDArray[Any], geometry: Geometry | None) -> Board:
    """Return the board of which every cell, or every row, is a string; "" is an empty cell."""
    rows = [(text or "").strip("\r\n") for text in cells.flat]
    texts = [row.strip() or "." for row in rows]
    number = len(texts)
    wrong = next((i for i, text in enumerate(texts) if not _SYMBOL.fullmatch(text)), None)
    no_cells = wrong is not None or isqrt(number) ** 2 != number
    if cells.ndim == 1 and (no_cells or max(map(len, rows)) >= number > 1):
        board = parse("\n".join(rows), geometry)
        if number not in (1, board.n):
            raise InputError(
                f"{number} strings for a board of {board.n}x{board.n} cells,"
                " expected one for every row"
            )
        return board
    if wrong is not None:
        raise InputError(
            f"{name_of(wrong, number)} holds {texts[wrong]!r}, expected the symbol of a digit,"
            " or . for an empty cell"
        )
    _check_shape(cells)
    return parse(" ".join(texts), geometry)


def _refuse_name(text: str) -> None:
    """Refuse the name of a file, or of a board of ours, where a board is expected."""
    if text.startswith("@"):
        raise InputError(f"{shown(text)}: expected a board; collection.load(name) reads ours")
    if os.path.isfile(text):  # noqa: PTH113 - which takes any text
        raise InputError(f"{text} is a file: read it with pathlib.Path({text!r})")
    if _FILE_NAME.fullmatch(text):
        raise InputError(
            f"{text} looks like the name of a file, and there is none: give a board as text, or a"
            " file as pathlib.Path"
        )


def batches_of(
    boards: Iterable[BoardLike] | os.PathLike[str], box: Geometry | str | None = None
) -> Iterator[Batch | InputError]:
    """Yield boards in order, and errors of bad ones with their index, or place in the file."""
    geometry = Geometry.of(box)
    if isinstance(boards, os.PathLike):
        name = os.fsdecode(boards)
        if not os.path.exists(name):  # noqa: PTH110 - of any text
            raise InputError(f"{name}: no such file")
        if os.path.isdir(name):  # noqa: PTH112
            raise InputError(f"{name}: a folder, expected a file")
        return read_batches(name, geometry)
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
    if len(shape) > 1:  # a table: its rows, not the names of its columns
        boards = np.asarray(boards)
        if prod(shape[1:]) > 1 and boards.dtype.kind == "f":  # else NaN is a missing puzzle
            numbers = np.where(np.isnan(boards), 0, boards)
            with np.errstate(invalid="ignore"):  # of what no integer is
                integers = numbers.astype(np.int64)
            may_begin_with_0 = (numbers != boards).any() and (boards == 0).any()  # beside NaN
            boards = boards if may_begin_with_0 or (integers != numbers).any() else integers
        if boards.dtype.kind in "iu":
            return _array_batches(boards, geometry)
    items: Any = boards
    if type(items) in (list, tuple) or (isinstance(items, np.ndarray) and items.ndim == 1):
        if isinstance(items, np.ndarray) and items.dtype.kind not in "US":
            items = list(items)
        starts = range(0, len(items), MAX_ITEMS)
        return _batches((items[start : start + MAX_ITEMS] for start in starts), geometry)
    return _batches(_taken(iter(items)), geometry)


def _taken(items: Iterator[Any]) -> Iterator[list[Any]]:
    """Yield items in lists, as many in each as come in a short time."""
    pace = ChunkSize(FIRST_ITEMS, ITEMS_SECONDS, MAX_ITEMS)
    full = True
    while full:
        start = time.perf_counter()
        block: list[Any] = []
        try:
            for item in islice(items, pace.size):
                block.append(item)
        except Interrupted:  # at once: Ctrl-C, or a cancellation
            raise
        except Exception:  # of the user's generator: the items before it are kept
            yield block
            raise
        full = len(block) == pace.size
        pace.took(time.perf_counter() - start, full=full)
        yield block


def _batches(blocks: Iterable[Any], geometry: Geometry | None) -> Iterator[Batch | InputError]:
    """Read lists of items of any kind, and arrays of strings."""
    run = PlainRun()
    index = 0
    for block in blocks:
        pieces: Iterable[tuple[bool, Any]] = [(True, block)]
        if not isinstance(block, np.ndarray) and {*map(type, block)} not in ({str}, {bytes}):
            items = groupby(map(_plain, block), lambda item: isinstance(item, str))
            pieces = ((are_texts, list(piece)) for are_texts, piece in items)
        for are_texts, piece in pieces:
            if are_texts:
                yield from _text_batches(piece, index, geometry, run)
            else:
                for place, item in enumerate(piece, index):
                    yield _numbered(item, place, geometry)
            index += len(piece)


def _text_batches(
    texts: Any, index: int, geometry: Geometry | None, run: PlainRun
) -> Iterator[Batch | InputError]:
    """Read strings; those that are just the characters of cells together."""
    data, starts, sizes = joined_texts(texts)
    for start, end in pairwise([0, *(np.flatnonzero(np.diff(sizes)) + 1).tolist(), len(sizes)]):
        size = int(sizes[start])
        shape = geometry or Geometry.of_cells(size)
        is_plain = shape is not None and shape.cells == size and shape.n <= len(DIGITS)
        while start < end:
            if shape is not None and is_plain:
                some = starts[start : min(end, start + run.most)]
                symbols = data[some[0] : some[0] + len(some) * size]
                if some[-1] - some[0] > (len(some) - 1) * size:  # other bytes come between
                    symbols = data[some[:, None] + np.arange(size)]
                cells = run.read(symbols.reshape(len(some), size), shape.n, len(some))
                if len(cells):
                    yield Batch(shape, cells)
                    start += len(cells)
                    continue
            yield _numbered(texts[start], index + start, geometry)
            start += 1


def _array_batches(boards: NDArray[Any], geometry: Geometry | None) -> Iterator[Batch | InputError]:
    """Read integers of two dimensions, a board in every row, or of three, a grid in every one."""
    advice = ""
    if boards.ndim == 2 and boards.shape[0] == boards.shape[1]:
        size = f"{len(boards)}x{len(boards)}"
        advice = f"; an array of {size} has a board in every row: for one board put it in a list"
    for index in range(0, len(boards), MAX_ITEMS):
        some = boards[index : index + MAX_ITEMS]
        if (some != 0).all():
            some = np.where(some == -1, 0, some)
        cells = some.reshape(len(some), prod(some.shape[1:]))
        first = _numbered(some[0], index, geometry)
        if isinstance(first, Batch) and ((cells >= 0) & (cells <= first.geometry.n)).all():
            yield Batch(first.geometry, cells.astype(np.uint8, order="C"))
            continue
        for place, item in enumerate(some, index):
            found = _numbered(item, place, geometry)
            yield InputError(f"{found}{advice}") if isinstance(found, InputError) else found


def _numbered(item: Any, index: int, geometry: Geometry | None) -> Batch | InputError:
    """Return the board of an item, or its error, with its index."""
    try:
        return Batch.of([board_of(item, geometry)])
    except InputError as error:
        return InputError(f"board {index}: {_PLACE.sub('', str(error))}")
