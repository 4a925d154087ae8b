"""Results of many boards, in order, with the errors of bad boards in their places."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.arrays import NUMPY, Destination
from gpusudoku.board.batch import Batch, RowBlock
from gpusudoku.errors import Cancelled, InputError, TooExpensive, described
from gpusudoku.jobs.cancel import CancelToken, cancelling, check_cancelled, made_in
from gpusudoku.results import BadBoard, ResultBlock

Row = TypeVar("Row", covariant=True)
Block = TypeVar("Block", bound=RowBlock)
Result = TypeVar("Result")

_CONSUMED = ", consumed"
ON_ERROR = ("raise", "record")
"""Choices for boards that cannot be read."""


def with_bad_boards(
    boards: Iterable[Batch | InputError],
    work: Callable[[Iterator[Batch]], Generator[Block, None, None]],
    on_error: str,
) -> Generator[Block | BadBoard, None, None]:
    """Give the results of good boards, and raise or record the errors of bad ones.

    Raises
    ------
    InputError
        At once, if ``on_error`` is neither; else if it is ``raise``, in the place of the first bad
        board.
    """
    if on_error not in ON_ERROR:
        raise InputError(f"on_error {described(on_error)}: expected {' or '.join(ON_ERROR)}")
    bad_boards = deque[BadBoard]()
    return _merged(work(_good_boards(boards, bad_boards, on_error)), bad_boards)


def _good_boards(
    boards: Iterable[Batch | InputError], bad_boards: deque[BadBoard], on_error: str
) -> Iterator[Batch]:
    """Yield the good boards, and append the bad ones to ``bad_boards``."""
    index = 0
    for batch in boards:
        if not isinstance(batch, InputError):
            yield batch
            index += len(batch)
        elif on_error == "raise":
            raise InputError(f'{batch} (on_error="record" goes on after it)')
        else:
            bad_boards.append(BadBoard(index, batch))
            index += 1


def _merged(
    blocks: Generator[Block, None, None], bad_boards: deque[BadBoard]
) -> Generator[Block | BadBoard, None, None]:
    """Yield blocks and bad boards in the order of their boards; blocks are split where needed."""
    next_index = 0
    with closing(blocks):
        for block in blocks:
            start = 0
            while bad_boards and bad_boards[0].index - next_index <= len(block) - start:
                end = start + bad_boards[0].index - next_index
                if start < end:
                    yield block.part(start, end)
                yield bad_boards.popleft()
                next_index += end - start + 1
                start = end
            if start < len(block):
                yield block.part(start, len(block)) if start else block
            next_index += len(block) - start
    yield from bad_boards


def only_row(block: Iterable[Result | InputError]) -> Result:
    """Return the row of a block of one board; an InputError in its place is raised."""
    [row] = block
    if isinstance(row, InputError):
        raise row
    return row


def rows_of(blocks: Iterable[Any], on_error: str) -> Iterator[Any]:
    """Yield the rows of blocks; an InputError in the place of a row is raised, or a bad board."""
    index = 0
    for block in blocks:
        for row in block:
            if isinstance(row, InputError):
                if on_error == "raise":
                    raise InputError(f"board {index}: {row}")
                row = BadBoard(index, row)
            index += 1
            yield row


def _length(boards: Any) -> int | None:
    """Return the number of boards, None if they do not tell it."""
    try:
        return len(boards)
    except (TypeError, OverflowError):
        return None


def _in_library(block: ResultBlock | BadBoard, destination: Destination) -> ResultBlock | BadBoard:
    """Return a block with numbers and solutions in arrays of a library."""
    if isinstance(block, BadBoard) or destination == NUMPY:
        return block
    solutions = None if block.solutions is None else destination.array(block.solutions)
    return replace(block, numbers=destination.array(block.numbers), solutions=solutions)


class Results(Generic[Row]):
    """An iterator over the results of many boards, in their order.

    Boards are processed in blocks, and iterating makes an object for each board; ``blocks`` and
    ``numbers`` make none. ``close`` stops the work on the remaining boards, and so does the cancel
    token of the call. ``len`` is the number of all boards; it is a TypeError if that is not known
    before they are read. Results can be read once: a second loop yields nothing and gives a
    RuntimeWarning. After an error, and for ``blocks`` and ``numbers``, a second reading is an
    InputError.
    """

    def __init__(
        self,
        blocks: Generator[ResultBlock | BadBoard, None, None],
        cancel: CancelToken | None = None,
        boards: object = None,
    ) -> None:
        self._blocks = made_in(lambda: cancelling(cancel), blocks)
        self._cancel = cancel
        self._length = _length(boards)
        self._destination = Destination.of(boards)
        self._block: ResultBlock | BadBoard | None = None
        self._objects: Iterator[Row] = iter(())
        self._numbers = list[NDArray[Any]]()
        self._read = 0
        """Results that were read."""
        self._read_of_block = 0
        """Those of the current block."""
        self._end = ""
        """The reason why there are no more results; empty while there may be some."""

    def __repr__(self) -> str:
        total = "" if self._length is None else f" of {self._length}"
        return f"<Results: {self._read}{total} taken{self._end}>"

    def __len__(self) -> int:
        if self._length is None:
            raise TypeError("the number of boards is not known before all are read")
        return self._length

    def __bool__(self) -> bool:
        return self._length != 0

    def __iter__(self) -> Results[Row]:
        if self._end == _CONSUMED:  # no error, as a loop over chunks by islice ends like this
            warnings.warn(self._no_more(), RuntimeWarning, stacklevel=2)
        else:
            self._check_open()
        return self

    def __next__(self) -> Row:
        try:
            check_cancelled(self._cancel)
        except Cancelled:
            # Whoever keeps the error keeps this object, too, which would keep its threads.
            self.close()
            raise
        while True:
            for row in self._objects:
                self._read_of_block += 1
                self._read += 1
                return row
            self._block = self._next_block()
            self._read_of_block = 0
            if self._block is None:
                raise StopIteration
            self._objects = cast("Iterator[Row]", iter(self._block))

    def _next_block(self) -> ResultBlock | BadBoard | None:
        """Return the next block, or None at the end."""
        try:
            block = next(self._blocks, None)
        except TooExpensive as error:  # it concerns the next board
            self._end = f", ended by board {self._read}: {error}"
            raise TooExpensive(f"board {self._read}: {error}", error.seconds) from None
        except BaseException as error:
            self._end = self._end or f", ended by {type(error).__name__}: {error}"
            raise
        if block is None:
            self._end = self._end or _CONSUMED
        return block

    def _no_more(self) -> str:
        """Say why there are no more results."""
        return f"{self!r} is used up: results can be read once, so keep them with list(...)"

    def _check_open(self) -> None:
        """Raise an InputError if there are no more results, instead of silently giving none."""
        check_cancelled(self._cancel)
        if self._end:
            raise InputError(self._no_more())

    def blocks(self) -> Iterator[ResultBlock | BadBoard]:
        """Yield the remaining results, in blocks of boards that were processed together.

        If the boards were an array of PyTorch, JAX or CuPy, so are the ``numbers`` and
        ``solutions`` of blocks, on the same device.
        """
        return (_in_library(block, self._destination) for block in self._numpy_blocks())

    def _numpy_blocks(self) -> Iterator[ResultBlock | BadBoard]:
        """Yield the same blocks with NumPy arrays."""
        self._check_open()
        block = self._block
        self._block = None
        self._objects = iter(())
        if block is not None and self._read_of_block < len(block):
            block = block.part(self._read_of_block, len(block))
        else:
            block = self._next_block()
        while block is not None:  # the caller may stop at a block, and continue later
            self._read += len(block)
            yield block
            block = self._next_block()

    def numbers(self, out: Any = None) -> NDArray[Any]:
        """The number of solutions found of each remaining board, int64 (B).

        The array has Python objects instead, integers and None, if a number exceeds int64 or if
        there is a ``BadBoard``, whose number is None. A number that reaches the limit may be
        smaller than the count. After an error, the next call returns the numbers that were found
        before it.

        If the boards were an array of PyTorch, JAX or CuPy, an array of int64 is in the same
        library and on the same device. ``out`` is an array to fill and return: int64 (B), as for
        ``Solutions.sample``. If it cannot be filled, that is an InputError, and the next call
        returns the numbers.
        """
        if not (self._end and self._numbers):
            for block in self._numpy_blocks():
                self._numbers.append(block.numbers)
        all_numbers = np.concatenate([np.zeros(0, np.int64), *self._numbers])
        result: NDArray[Any] = self._destination.give(all_numbers, out)
        self._numbers = []  # only now: after an error of ``give`` they are returned again
        return result

    def close(self) -> None:
        """Stop the work."""
        self._end = self._end or ", closed"
        self._blocks.close()
        self._objects = iter(())
        self._block = None
