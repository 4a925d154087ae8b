"""Counting twice: by which other way, and what is said if the counts differ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpusudoku import collection
from gpusudoku.counting import count, cross_check
from gpusudoku.engines.cuda import availability
from gpusudoku.errors import MismatchError, TooExpensive
from gpusudoku.formats import parse
from gpusudoku.planning import choose
from tests import naive
from tests.boards import puzzle

BOARD = puzzle("2x3", 8, 1)


@pytest.fixture
def without_contraction(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise TooExpensive("too expensive")

    monkeypatch.setattr(choose, "contraction_of", refuse)


def test_by_the_other_method() -> None:
    for board in (BOARD, puzzle("3x3", 22, 1)):
        for method, other in (("search", "contraction"), ("contraction", "search")):
            result = count(board, device="cpu", method=method)
            assert cross_check(result, device="cpu") == f"method {other}"


@pytest.mark.usefixtures("without_cuda")
def test_none_is_affordable() -> None:
    result = count(collection.load("top-band-cyclic"), device="cpu")
    assert result.method == "contraction"
    assert cross_check(result, device="cpu") is None


@pytest.mark.usefixtures("without_cuda", "without_contraction")
@pytest.mark.parametrize(("strategy", "other"), [("min", "first"), ("first", "min")])
def test_by_the_other_strategy(strategy: str, other: str) -> None:
    options = {"device": "cpu", "jobs": 1, "strategy": strategy}
    result = count(BOARD, **options)
    assert cross_check(result, **options) == f"strategy {other}"


@pytest.mark.usefixtures("without_contraction")
@pytest.mark.skipif(not availability.simulated(), reason="test_gpu.py does it on hardware")
def test_by_the_other_device() -> None:
    board = parse("1...  ..2. .3.. ...4".replace(" ", ""))
    result = count(board, device="cpu", jobs=1)
    assert cross_check(result, device="cpu", jobs=1) == "device cuda"
    result = count(board, device="cuda")
    assert cross_check(result, device="cuda", jobs=1) == "device cpu"


@pytest.mark.usefixtures("without_cuda", "without_contraction")
@pytest.mark.parametrize("limit", [None, 10])
def test_a_mismatch(limit: int | None) -> None:
    options: dict[str, Any] = {"device": "cpu", "jobs": 1, "limit": limit}
    result = count(BOARD, **options)
    assert cross_check(result, **options)
    wrong = replace(result, count=result.count - 1)
    with pytest.raises(MismatchError) as caught:
        cross_check(wrong, **options)
    assert f"{wrong} solutions, but {result} by strategy first" in str(caught.value)
    if limit is not None:  # without one, "at least so many" holds
        with pytest.raises(MismatchError):
            cross_check(replace(result, exact=True), **options)


def test_a_limit_is_a_lower_bound() -> None:
    """A count that stopped at a limit is counted again up to there, if no limit is given."""
    board = puzzle("2x2", 4, 1)
    total = naive.count(board)
    assert total > 2
    assert cross_check(count(board, device="cpu", limit=2), device="cpu") is not None
    wrong = replace(count(board, device="cpu", limit=2), count=total + 1)
    with pytest.raises(MismatchError):
        cross_check(wrong, device="cpu")
