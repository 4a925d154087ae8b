"""Results of many boards, one after the other, with the errors of bad boards in their places."""

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

_CONSUMED = ", consumed"
ON_ERROR = ("raise", "record")
"""Choices for boards that cannot be read."""


def with_bad_boards(
    found: Iterable[Batch | InputError],
    work: Callable[[Iterator[Batch]], Generator[Block, None, None]],
    on_error: str,
) -> Generator[Block | BadBoard, None, None]:
    """Work on the boards that were found, and raise or record the errors among them.

    Raises
    ------
    InputError
        At once, if ``on_error`` is neither; else if it is ``raise``, in the place of the first bad
        board.
    """
    if on_error not in ON_ERROR:
        raise InputError(f"on_error {described(on_error)}: expected {' or '.join(ON_ERROR)}")
    bad = deque[BadBoard]()
    return _in_places(work(_good(found, bad, on_error)), bad)


def _good(
    found: Iterable[Batch | InputError], bad: deque[BadBoard], on_error: str
) -> Iterator[Batch]:
    """Yield the boards, and put the errors among them aside."""
    index = 0
    for each in found:
        if not isinstance(each, InputError):
            yield each
        elif on_error == "raise":
            raise InputError(f'{each} (on_error="record" goes on after it)')
        else:
            bad.append(BadBoard(index, each))
        index += 1 if isinstance(each, InputError) else len(each)


def _in_places(
    blocks: Generator[Block, None, None], bad: deque[BadBoard]
) -> Generator[Block | BadBoard, None, None]:
    """Yield blocks, cut where bad boards were, and these."""
    given = 0
    with closing(blocks):
        for block in blocks:
            start = 0
            while bad and bad[0].index - given <= len(block) - start:
                end = start + bad[0].index - given
                if start < end:
                    yield block.part(start, end)
                yield bad.popleft()
                given, start = given + end - start + 1, end
            if start < len(block):
                yield block.part(start, len(block)) if start else block
            given += len(block) - start
    yield from bad


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

    Boards are worked on in blocks, and an object for a board is made only when it is asked for:
    ``blocks`` and ``numbers`` make none. ``close`` stops the work on boards not asked for yet,
    and so does the token that the call was given. ``len`` is the number of all boards, a TypeError
    if that is not known before they are read. Results can be read once: a second loop gives
    nothing, with a RuntimeWarning. After an error, and for ``blocks`` and ``numbers``, this is an
    InputError.
    """

    def __init__(
        self,
        blocks: Generator[ResultBlock | BadBoard, None, None],
        cancel: CancelToken | None = None,
        boards: object = None,
    ) -> None:
        self._blocks, self._cancel = made_in(lambda: cancelling(cancel), blocks), cancel
        self._length, self._destination = _length(boards), Destination.of(boards)
        self._block: ResultBlock | BadBoard | None = None
        self._objects: Iterator[Row] = iter(())
        self._numbers = list[NDArray[Any]]()
        self._given = self._taken = 0
        """Results given, of all boards and of the block."""
        self._end = ""
        """The reason why there are no more, once that is so."""

    def __repr__(self) -> str:
        total = "" if self._length is None else f" of {self._length}"
        return f"<Results: {self._given}{total} taken{self._end}>"

    def __len__(self) -> int:
        if self._length is None:
            raise TypeError("the number of boards is not known before all are read")
        return self._length

    def __bool__(self) -> bool:
        return self._length != 0

    def __iter__(self) -> Results[Row]:
        if self._end == _CONSUMED:  # no error: a loop over chunks by islice begins once more then
            warnings.warn(self._no_more(), RuntimeWarning, stacklevel=2)
        else:
            self._check_open()
        return self

    def __next__(self) -> Row:
        try:
            check_cancelled(self._cancel)
        except Cancelled:
            self.close()  # a kept error keeps this, too, and would keep its threads
            raise
        while True:
            for one in self._objects:
                self._taken, self._given = self._taken + 1, self._given + 1
                return one
            self._block, self._taken = self._next_block(), 0
            if self._block is None:
                raise StopIteration
            self._objects = cast("Iterator[Row]", iter(self._block))

    def _next_block(self) -> ResultBlock | BadBoard | None:
        """Return the next block, or None at the end."""
        try:
            block = next(self._blocks, None)
        except TooExpensive as error:  # of the board whose turn it is
            self._end = f", ended by board {self._given}: {error}"
            raise TooExpensive(f"board {self._given}: {error}", error.seconds) from None
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
        """Complain if there are no more results, where none would be given without a word."""
        check_cancelled(self._cancel)
        if self._end:
            raise InputError(self._no_more())

    def blocks(self) -> Iterator[ResultBlock | BadBoard]:
        """Yield the results that are left, in blocks of boards that were worked on together.

        If the boards were an array of PyTorch, JAX or CuPy, so are the ``numbers`` and
        ``solutions`` of blocks, on the same device.
        """
        return (_in_library(block, self._destination) for block in self._left())

    def _left(self) -> Iterator[ResultBlock | BadBoard]:
        """Yield the same with arrays of NumPy."""
        self._check_open()
        block, self._block, self._objects = self._block, None, iter(())
        if block is not None and self._taken < len(block):
            block = block.part(self._taken, len(block))
        else:
            block = self._next_block()
        while block is not None:  # the caller may stop here, and ask again later
            self._given += len(block)
            yield block
            block = self._next_block()

    def numbers(self, out: Any = None) -> NDArray[Any]:
        """The number of solutions found of every board that is left.

        An array (B), int64, or of Python's objects: integers, where one exceeds that, and None for
        a ``BadBoard``. A number that reaches the limit may be smaller than the count. After an
        error the next call returns the numbers that were found before it.

        If the boards were an array of PyTorch, JAX or CuPy, so is that of int64, on the same
        device. ``out`` is an array to fill and return: int64 (B), as for ``Solutions.sample``. If
        it cannot be filled, that is an InputError, and the next call returns the numbers.
        """
        if not (self._end and self._numbers):
            for block in self._left():
                self._numbers.append(block.numbers)
        found = np.concatenate([np.zeros(0, np.int64), *self._numbers])
        made: NDArray[Any] = self._destination.give(found, out)
        self._numbers = []
        return made

    def close(self) -> None:
        """Stop the work."""
        self._end = self._end or ", closed"
        self._blocks.close()
        self._objects, self._block = iter(()), None
