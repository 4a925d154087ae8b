"""Results that are computed once for all processes of a test run, and kept while they run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

try:
    import fcntl
except ImportError:  # on Windows, each process computes every result itself
    fcntl = None  # type: ignore[assignment]

FOLDER_VARIABLE = "TESTS_SHARED"
"""The environment variable with the folder of results: processes that tests start inherit it."""


def set_folder(paths: pytest.TempPathFactory) -> None:
    """Choose a folder that all processes of this test run share, and no other run uses."""
    folder = paths.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # each worker of xdist has a folder of its own in that of the run
    os.environ[FOLDER_VARIABLE] = str(folder)


def compute_all(functions: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """Return the results of functions by name, converted to JSON and back.

    The first pass computes the results that no process has begun. Only then the second pass waits
    for those that another process computes. A function that fails leaves no result: the next
    process that needs it calls it again.
    """
    results: dict[str, Any] = {}
    for wait in (False, True):
        for name, function in functions.items():
            if name not in results:
                with suppress(BlockingIOError):  # another process is computing it
                    text = once(f"{name}.json", partial(_to_json, function), wait)
                    results[name] = json.loads(text)
    return {name: results[name] for name in functions}


def _to_json(function: Callable[[], Any]) -> bytes:
    return json.dumps(function()).encode()


def once(name: str, function: Callable[[], bytes], wait: bool = True) -> bytes:
    """Return the stored result of a function; call and store it if no process has done so.

    Raises
    ------
    BlockingIOError
        If another process is computing the result, and ``wait`` is False.
    """
    if FOLDER_VARIABLE not in os.environ:
        return function()
    path = Path(os.environ[FOLDER_VARIABLE]) / name
    with locked(name, wait):
        if not path.exists():
            # A process that is killed meanwhile must not leave half a result.
            unfinished = path.with_name(f"{name}.{os.getpid()}")
            unfinished.write_bytes(function())
            unfinished.replace(path)
        return path.read_bytes()


@contextmanager
def locked(name: str, wait: bool = True) -> Iterator[None]:
    """Admit one process of the run at a time; without ``wait``, raise BlockingIOError instead."""
    with (Path(os.environ[FOLDER_VARIABLE]) / f"{name}.lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
