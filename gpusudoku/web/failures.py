"""Why a request has no answer: one line in words, a kind, and a status of HTTP."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

from gpusudoku.errors import GpusudokuError, InputError, TooExpensive, printable
from gpusudoku.results import decimal_digits
from gpusudoku.web.answers import Expensive

STATUSES = {
    "input": 400,
    "foreign": 403,
    "missing": 404,
    "method": 405,
    "overtaken": 409,
    "large": 413,
    "expensive": 422,
    "failed": 500,
    "busy": 503,
    "late": 504,
}
"""The kinds of failures, each with its status."""
BUSY_SECONDS = 5
"""When one who was told that all are busy may ask again."""
_PACKAGE = Path(__file__).parents[1]


class Failure(Exception):  # noqa: N818 - it need not be an error
    """What is told instead of an answer; ``more`` are further fields of the JSON object."""

    def __init__(self, kind: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.kind, self.more = kind, more

    @property
    def status(self) -> int:
        """The status of HTTP."""
        return STATUSES[self.kind]

    @property
    def facts(self) -> dict[str, Any]:
        """All of it as a JSON object."""
        message = printable(str(self))
        return {"error": message, "kind": self.kind, "status": self.status, **self.more}

    @property
    def headers(self) -> dict[str, str]:
        """What HTTP says besides."""
        return {"Retry-After": str(BUSY_SECONDS)} if self.kind == "busy" else {}


def failure_of(error: BaseException) -> Failure:
    """What is told of an error; of one that nobody has foreseen only that there was one."""
    if isinstance(error, Failure):
        return error
    if isinstance(error, Expensive):
        found = decimal_digits(error.count)
        return Failure("expensive", str(error), seconds=error.seconds, at_least=found)
    if isinstance(error, TooExpensive):
        seconds = error.seconds
        return Failure("expensive", str(error), seconds=seconds, at_least="0", final=True)
    if isinstance(error, InputError):
        return Failure("input", str(error))
    if isinstance(error, MemoryError):
        return Failure("failed", "out of memory")
    if isinstance(error, GpusudokuError):
        return Failure("failed", str(error))
    return Failure("failed", "something went wrong here; the server's terminal says where")


def place_of_error(error: BaseException) -> str:
    """What kind of error it is, and which of our lines raised it: nothing of what was asked."""
    ours = [
        f"{path.relative_to(_PACKAGE).as_posix()}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if _PACKAGE in (path := Path(frame.filename)).parents
    ]
    return f"{type(error).__name__} in {ours[-1] if ours else 'a library'}"
