"""What is worked out once for all processes that share the tests, and kept while they run."""

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
except ImportError:  # on Windows each process works it out for itself
    fcntl = None  # type: ignore[assignment]

PLACE = "TESTS_SHARED"
"""The variable that names the folder of results, for processes that tests start, too."""


def keep_in(paths: pytest.TempPathFactory) -> None:
    """Keep results in a folder that all processes of this run have, and no other run."""
    own = paths.getbasetemp()
    os.environ[PLACE] = str(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


def all_of(works: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """What comes of some work, by name, as JSON has it.

    Whoever asks does what nobody has begun, and only then waits for what another process does.
    What fails is not kept: the next who asks tries it again.
    """
    found: dict[str, Any] = {}
    for wait in (False, True):
        for name, work in works.items():
            if name not in found:
                with suppress(BlockingIOError):  # another process is at it
                    text = once(f"{name}.json", partial(_as_json, work), wait)
                    found[name] = json.loads(text)
    return {name: found[name] for name in works}


def _as_json(work: Callable[[], Any]) -> bytes:
    return json.dumps(work()).encode()


def once(name: str, work: Callable[[], bytes], wait: bool = True) -> bytes:
    """Return what some work gives, done now or kept; ``BlockingIOError`` rather than wait."""
    if PLACE not in os.environ:
        return work()
    path = Path(os.environ[PLACE]) / name
    with locked(name, wait):
        if not path.exists():
            unfinished = path.with_name(f"{name}.{os.getpid()}")
            unfinished.write_bytes(work())
            unfinished.replace(path)
        return path.read_bytes()


@contextmanager
def locked(name: str, wait: bool = True) -> Iterator[None]:
    """Let one process of the run in at a time; ``BlockingIOError`` rather than wait if so asked."""
    with (Path(os.environ[PLACE]) / f"{name}.lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
