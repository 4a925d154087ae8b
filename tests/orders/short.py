"""Lists so short that small boards take the ways of large ones."""

from __future__ import annotations

import pytest

from gpusudoku.orders import ascending, choose, few


def short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few solutions be very few."""
    for module in (ascending, choose):
        monkeypatch.setattr(module, "LEAF", 5)
    monkeypatch.setattr(choose, "ONE_ORDER", 5)
    monkeypatch.setattr(few, "MOST_SOLUTIONS", 5)
