"""A file to which lines are appended beside the results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gpusudoku.cli.lines import Lines, WriteError
from gpusudoku.cli.messages import complain
from gpusudoku.cli.output import refuse_target
from gpusudoku.errors import InputError


class Log:
    """A file to which lines are appended, as long as that works.

    A failure does not stop the work that is logged: it is reported at the end. What is written
    after it would leave a gap, so nothing is.
    """

    def __init__(self, descriptor: int, path: str) -> None:
        # What stands on stdout is logged to its end.
        self._lines = Lines(descriptor, path, whole=True)
        self._path = path
        self.failure: WriteError | None = None

    def write(self, text: bytes) -> None:
        """Append whole lines."""
        if self.failure is None:
            try:
                self._lines.write(text)
            except WriteError as error:
                self.failure = error
            except BrokenPipeError as error:
                self.failure = WriteError(f"{self._path}: cannot be written: {error.strerror}")


@contextmanager
def open_log(path: str | None, inputs: Sequence[str]) -> Iterator[Log | None]:
    """A file to append to, None for None.

    Raises
    ------
    InputError
        If it cannot be opened.
    WriteError
        At the end, if it could not be written. After another error that is said on stderr instead.
    """
    if path is None:
        yield None
        return
    refuse_target(path, inputs)
    try:
        file = Path(path).open("ab", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    with file:
        log = Log(file.fileno(), path)
        try:
            yield log
        except BaseException:
            if log.failure is not None:
                complain(str(log.failure))
            raise
    if log.failure is not None:
        raise log.failure
