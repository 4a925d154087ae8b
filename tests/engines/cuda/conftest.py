"""Fixtures of the tests on Numba's simulator."""

from __future__ import annotations

import pytest

from gpusudoku.engines.cuda.launch import Launch
from tests.engines.cuda.simulator import Launched


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Launched]:
    """Every launch of a kernel."""
    made = []
    again = Launch.again

    def watched(self: Launch) -> None:
        made.append(Launched(self._pace.size, self.threads, self.depth))
        again(self)

    monkeypatch.setattr(Launch, "again", watched)
    return made
