"""Fixtures: an empty store of kernels, and the announcements of kernels that are compiled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from gpusudoku.jobs.watch import Watch, watching
from gpusudoku.kernels import kernel, kernel_store
from gpusudoku.kernels.kernel import Kernel
from gpusudoku.kernels.kernel_store import Store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Give this process, and the processes that it starts, an empty store."""
    monkeypatch.setenv("GPUSUDOKU_CACHE_DIR", str(tmp_path / "kept"))
    # Otherwise the first estimate of a compile time would compile a kernel to measure the machine.
    monkeypatch.setattr(kernel, "pace", lambda price: 1.0)
    clear_cache = kernel_store.user_store.cache_clear
    clear_cache()
    empty_store = kernel_store.user_store()
    assert empty_store is not None
    yield empty_store
    clear_cache()


@pytest.fixture
def announced() -> Iterator[list[list[Kernel]]]:
    """Collect the announcements of compiling, each a list of kernels."""
    announcements: list[list[Kernel]] = []

    class Recorder(Watch):
        def compiling(self, kernels: Sequence[Kernel], seconds: float, kept: str) -> None:
            announcements.append(list(kernels))

    with watching(Recorder()):
        yield announcements
