"""What is worked out once for all processes that share the tests, and kept while they run."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

try:
    import fcntl
except ImportError:  # on Windows each process works it out for itself
    fcntl = None  # type: ignore[assignment]


class _Place:
    """Where it is kept: a folder that all processes of this run have, and no other run."""

    folder: Path


def keep_in(paths: pytest.TempPathFactory) -> None:
    """Say where this run has its folders."""
    own = paths.getbasetemp()
    _Place.folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def all_of(works: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
    """What comes of some work, by name, as JSON has it.

    Whoever asks does what nobody has begun, and only then waits for what another process does.
    What fails is not kept: the next who asks tries it again.
    """
    found: dict[str, Any] = {}
    for wait in (False, True):
        for name in [name for name in works if name not in found]:
            with suppress(BlockingIOError):
                found[name] = _one(_Place.folder / f"{name}.json", works[name], wait)
    return {name: found[name] for name in works}


def _one(path: Path, work: Callable[[], Any], wait: bool) -> Any:
    """Do it, or take what was kept; raises ``BlockingIOError`` rather than wait."""
    with path.with_suffix(".lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        if not path.exists():
            partial = path.with_suffix(f".{os.getpid()}")
            partial.write_text(json.dumps(work()))
            partial.replace(path)
        return json.loads(path.read_text())
