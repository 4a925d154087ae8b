"""Fixtures of the tests on Numba's simulator."""

from __future__ import annotations

import pytest

from gpusudoku.engines.cuda.search import DeviceSearch
from tests.engines.cuda.simulator import Launch


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Launch]:
    """Record every launch of a search."""
    launches = []
    launch = DeviceSearch.launch

    def recorded_launch(self: DeviceSearch) -> bool:
        rounds = self._rounds
        boards_before = self.boards
        is_unfinished = launch(self)
        launches.append(Launch(rounds, self.threads, self.depth, boards_before, self.boards))
        return is_unfinished

    monkeypatch.setattr(DeviceSearch, "launch", recorded_launch)
    return launches
