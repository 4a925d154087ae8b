"""A store of one's own, and what is told of compiling."""

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
    """Give this process, and those that it starts, an empty store."""
    monkeypatch.setenv("GPUSUDOKU_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(kernel, "pace", lambda price: 1.0)  # nothing is compiled to measure it
    clear = kernel_store.user_store.cache_clear
    clear()
    found = kernel_store.user_store()
    assert found is not None
    yield found
    clear()


@pytest.fixture
def announced() -> Iterator[list[list[Kernel]]]:
    """Collect the kernels that are compiled rather than loaded, as they are announced."""
    calls: list[list[Kernel]] = []

    class Announced(Watch):
        def compiling(self, kernels: Sequence[Kernel], seconds: float, kept: str) -> None:
            calls.append(list(kernels))

    with watching(Announced()):
        yield calls
