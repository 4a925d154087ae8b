"""Fixtures of the tests on Numba's simulator."""

from __future__ import annotations

import pytest

from gpusudoku.engines.cuda.search import DeviceSearch
from tests.engines.cuda.simulator import Launched


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Launched]:
    """Every launch of a search."""
    made = []
    launch = DeviceSearch.launch

    def watched(self: DeviceSearch) -> bool:
        rounds = self._rounds
        before = self.boards
        goes_on = launch(self)
        made.append(Launched(rounds, self.threads, self.depth, before, self.boards))
        return goes_on

    monkeypatch.setattr(DeviceSearch, "launch", watched)
    return made
