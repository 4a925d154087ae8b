"""A few boards are packed and simplified without compiling anything, as they would be compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.collection import load
from gpusudoku.kernels.search import cpu, few
from gpusudoku.kernels.search.layout import layout_of
from gpusudoku.kernels.search.settings import SearchSettings
from gpusudoku.search.frontier import Frontier

CLUELESS, NINE = Board(np.zeros(81, np.uint8)), layout_of(3, 3)


@pytest.fixture
def anew(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Kernels that have had no boards yet; the names of those that are compiled from now on."""
    compiled: list[str] = []

    def noting(name: str, compiling: Callable[..., Any]) -> Callable[..., Any]:
        def note(*arguments: Any) -> Any:
            compiled.append(name)
            return compiling(*arguments)

        return note

    for name in "pack", "expand":
        getattr(few, name).cache_clear()
        monkeypatch.setattr(cpu, name, noting(name, getattr(cpu, name)))
    return compiled


def test_a_few_are_not_compiled_for(anew: list[str]) -> None:
    for _ in range(few.FEW):
        Frontier.of([CLUELESS]).simplified(SearchSettings())
    assert anew == []
    Frontier.of([CLUELESS]).simplified(SearchSettings())
    assert anew == ["pack", "expand"]


def test_many_at_once_are_compiled_for(anew: list[str]) -> None:
    Frontier.of([CLUELESS] * (few.FEW + 1)).simplified(SearchSettings())
    assert anew == ["pack", "expand"]


def test_large_boards_are_compiled_for(anew: list[str]) -> None:
    few.pack(NINE).of(1)
    assert anew == []
    few.pack(layout_of(6, 6)).of(1)
    assert anew == ["pack"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["a1", "1f", "16x16-few", "25x25-few"])
def test_boards_come_out_as_compiled(name: str, anew: list[str]) -> None:
    board, settings = load(name), SearchSettings()
    roots = Frontier.of([board])
    found = roots.simplified(settings)
    assert anew == []
    many = Frontier.of([board] * (few.FEW + 1))
    assert anew == ["pack"]
    assert np.array_equal(many.boards[:1], roots.boards)
    assert np.array_equal(many.simplified(settings).boards[:1], found.boards)


@pytest.mark.filterwarnings("error")
def test_a_contradiction_is_seen(anew: list[str]) -> None:
    cells = np.zeros(81, np.uint8)
    cells[:2] = 1
    assert len(Frontier.of([Board(cells, Geometry(3, 3))]).simplified(SearchSettings())) == 0
    assert anew == []
