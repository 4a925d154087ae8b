"""Fixtures of the tests that run the project's kernels in the executor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpusudoku.engines.cuda import availability
from tests.ptx.card import Card

Insert = Callable[..., Card]


@pytest.fixture
def insert(monkeypatch: pytest.MonkeyPatch) -> Insert:
    """Return a function that inserts a card of a compute capability: see ``Card``."""
    if not availability.simulated():
        pytest.skip("a GPU is there: see test_gpu.py")

    def insert_card(*capability: int, blocks: int = 2, threads: int = 4, **options: Any) -> Card:
        card = Card(capability, **options)
        card.insert(monkeypatch, blocks, threads)
        return card

    return insert_card
