"""Fixtures of the tests on Numba's simulator."""

from __future__ import annotations

import pytest

from gpusudoku.engines.cuda.launch import Launch
from gpusudoku.kernels.search.arguments import NODES
from tests.engines.cuda.simulator import Launched


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> list[Launched]:
    """Every launch of a kernel."""
    made = []
    again = Launch.again

    def watched(self: Launch) -> None:
        before, budget = int(self.stacks.tally[NODES].sum()), self._pace.size
        again(self)
        nodes = int(self.stacks.tally[NODES].sum()) - before
        made.append(Launched(budget, self.threads, self.depth, nodes))

    monkeypatch.setattr(Launch, "again", watched)
    return made
