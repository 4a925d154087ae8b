"""The errors that a caller can meet, each with the exit status the command line gives it."""


class GpusudokuError(Exception):
    """Base class: every error this package raises on purpose. Its text is one line."""

    exit_status = 1


class InputError(GpusudokuError, ValueError):
    """Bad input: a board, a file or an option value. The text names the place."""

    exit_status = 2


class DeviceError(GpusudokuError, RuntimeError):
    """The device that was asked for cannot be used on this machine."""


class MismatchError(GpusudokuError, RuntimeError):
    """Two independent counts of the same board differ: one of them is wrong."""


class TooExpensive(GpusudokuError):  # noqa: N818 - the board is not wrong
    """The board would take more time or memory than allowed to count in this way."""


class Interrupted(GpusudokuError):  # noqa: N818 - as KeyboardInterrupt
    """The work was stopped from outside; ``count`` is what it had found, a lower bound."""

    def __init__(self, message: str, count: int = 0) -> None:
        super().__init__(message)
        self.count = count
