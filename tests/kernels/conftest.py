"""An empty cache, and the announcements of compilation."""

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
    """Give this process, and those that it starts, an empty cache."""
    monkeypatch.setenv("GPUSUDOKU_CACHE_DIR", str(tmp_path / "cache"))
    # Nothing is compiled to measure the pace.
    monkeypatch.setattr(kernel, "get_pace", lambda estimate: 1.0)
    clear = kernel_store.user_store.cache_clear
    clear()
    user_store = kernel_store.user_store()
    assert user_store is not None
    yield user_store
    clear()


@pytest.fixture
def announced() -> Iterator[list[list[Kernel]]]:
    """Collect the kernels that are announced to be compiled, one list per announcement."""
    calls: list[list[Kernel]] = []

    class Announced(Watch):
        def compiling(self, kernels: Sequence[Kernel], seconds: float, details: str) -> None:
            calls.append(list(kernels))

    with watching(Announced()):
        yield calls
