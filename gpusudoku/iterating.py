"""Results of many boards, in order, with errors for the boards that cannot be read."""

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
from gpusudoku.jobs.cancel import CancelToken, cancelling, check_cancelled, iterate_in
from gpusudoku.results import BadBoard, ResultBlock

Row = TypeVar("Row", covariant=True)
Block = TypeVar("Block", bound=RowBlock)
Result = TypeVar("Result")

_CONSUMED = ", consumed"
ON_ERROR = ("raise", "record")
"""What to do with boards that cannot be read."""


def with_bad_boards(
    boards: Iterable[Batch | InputError],
    work: Callable[[Iterator[Batch]], Generator[Block, None, None]],
    on_error: str,
) -> Generator[Block | BadBoard, None, None]:
    """Yield the results of good boards, and raise or record the errors of bad ones.

    Raises
    ------
    InputError
        Immediately, if ``on_error`` is not one of ``ON_ERROR``. With ``raise``, at the first bad
        board, after the results of the boards before it.
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
            raise InputError(f'{batch} (on_error="record" continues after it)')
        else:
            bad_boards.append(BadBoard(index, batch))
            index += 1


def _merged(
    blocks: Generator[Block, None, None], bad_boards: deque[BadBoard]
) -> Generator[Block | BadBoard, None, None]:
    """Yield blocks and bad boards in the order of the input. Split blocks where a bad board was."""
    next_index = 0  # among all boards, of the next row to yield
    with closing(blocks):
        for block in blocks:
            start = 0  # rows of this block that were yielded
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
    """Return the only row of a block. Raise it if it is an InputError."""
    [row] = block
    if isinstance(row, InputError):
        raise row
    return row


def rows_of(blocks: Iterable[Any], on_error: str) -> Iterator[Any]:
    """Yield the rows of blocks. Raise rows that are InputErrors, or yield a BadBoard for them."""
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
    """Return the number of boards; None if they have no length."""
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

    Boards are processed in blocks. Iterating makes an object for each board; ``blocks`` and
    ``numbers`` do not. ``close`` stops the work on the remaining boards, and so does the cancel
    token of the call. ``len`` is the number of all boards, or a TypeError if it is unknown until
    they are read.

    Results can be read once. A second loop yields nothing and gives a RuntimeWarning. Reading again
    after an error, or by ``blocks`` or ``numbers``, raises an InputError.
    """

    def __init__(
        self,
        blocks: Generator[ResultBlock | BadBoard, None, None],
        cancel: CancelToken | None = None,
        boards: object = None,
    ) -> None:
        self._blocks = iterate_in(lambda: cancelling(cancel), blocks)
        self._cancel = cancel
        self._length = _length(boards)
        self._destination = Destination.of(boards)
        self._block: ResultBlock | BadBoard | None = None
        self._objects: Iterator[Row] = iter(())
        self._numbers = list[NDArray[Any]]()
        self._read = 0
        """The number of results read."""
        self._read_of_block = 0
        """The number of results read from the current block."""
        self._end = ""
        """The reason why there are no more results; empty if there may be more."""

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
        if self._end == _CONSUMED:
            # Not an error, because a loop over chunks by islice ends in this way.
            warnings.warn(self._no_more(), RuntimeWarning, stacklevel=2)
        else:
            self._check_open()
        return self

    def __next__(self) -> Row:
        try:
            check_cancelled(self._cancel)
        except Cancelled:
            # The traceback of the error refers to this object. It must not keep threads alive.
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
        except TooExpensive as error:  # about the next board
            self._end = f", ended by board {self._read}: {error}"
            raise TooExpensive(f"board {self._read}: {error}", error.seconds) from None
        except BaseException as error:
            self._end = self._end or f", ended by {type(error).__name__}: {error}"
            raise
        if block is None:
            self._end = self._end or _CONSUMED
        return block

    def _no_more(self) -> str:
        """Return the message that there are no more results."""
        return f"{self!r} is used up: results can be read once, so keep them with list(...)"

    def _check_open(self) -> None:
        """Raise an InputError if there are no more results. Yielding nothing would hide that."""
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
        """Return the number of solutions of each remaining board, int64 (B).

        If a number exceeds int64, or there is a ``BadBoard``, whose number is None, the dtype is
        object. A number that reaches the limit is a lower bound. After an error, the next call
        returns the numbers before it.

        If the boards were an array of PyTorch, JAX or CuPy, an array of int64 is of the same
        library and on the same device. ``out`` is an array to fill and return: int64 (B), as for
        ``Solutions.sample``. If it cannot be filled, an InputError is raised, and the next call
        returns the numbers.
        """
        if not (self._end and self._numbers):
            for block in self._numpy_blocks():
                self._numbers.append(block.numbers)
        all_numbers = np.concatenate([np.zeros(0, np.int64), *self._numbers])
        result: NDArray[Any] = self._destination.give(all_numbers, out)
        # Only now: after an error of ``give`` the next call returns the numbers.
        self._numbers = []
        return result

    def close(self) -> None:
        """Stop the work on the remaining boards."""
        self._end = self._end or ", closed"
        self._blocks.close()
        self._objects = iter(())
        self._block = None
