"""Cross-checks: the choice of the second way to count, and the report of a mismatch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpusudoku import checking, collection
from gpusudoku.checking import cross_check
from gpusudoku.counting import count
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import DeviceError, MismatchError, TooExpensive
from gpusudoku.formats import parse
from gpusudoku.planning import contraction
from tests import naive
from tests.boards import puzzle

BOARD = puzzle("2x3", 8, 1)


@pytest.fixture
def without_contraction(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise TooExpensive("too expensive")

    monkeypatch.setattr(contraction, "contraction_of", refuse)


def test_by_the_other_method() -> None:
    for board in (BOARD, puzzle("3x3", 22, 1)):
        for method, other_method in (("search", "contraction"), ("contraction", "search")):
            result = count(board, device="cpu", method=method)
            assert cross_check(result, device="cpu") == f"method {other_method}"


@pytest.mark.usefixtures("without_cuda")
def test_none_is_affordable() -> None:
    result = count(collection.load("top-band-cyclic"), device="cpu")
    assert result.method == "contraction"
    assert cross_check(result, device="cpu") is None


@pytest.mark.usefixtures("without_cuda", "without_contraction")
@pytest.mark.parametrize(("strategy", "other_strategy"), [("min", "first"), ("first", "min")])
def test_by_the_other_strategy(strategy: str, other_strategy: str) -> None:
    options = {"device": "cpu", "jobs": 1, "strategy": strategy}
    result = count(BOARD, **options)
    assert cross_check(result, **options) == f"strategy {other_strategy}"


@pytest.mark.skipif(not availability.simulated(), reason="test_gpu.py does it on hardware")
class TestTheOtherDevice:
    """Counts of the CPU are checked on a GPU, and those of a GPU by the CPU."""

    BOARD = parse("1.....2..3.....4")

    @pytest.mark.usefixtures("without_contraction")
    def test_by_the_same_method_where_there_is_no_other(self) -> None:
        result = count(self.BOARD, device="cpu", jobs=1)
        assert cross_check(result, jobs=1) == "device cuda"
        assert cross_check(result, device="cpu", jobs=1) == "strategy first"
        result = count(self.BOARD, device="cuda")
        assert cross_check(result, device="cuda", jobs=1) == "device cpu"
        assert cross_check(result, gpus=(0,), jobs=1) == "device cpu"

    def test_by_the_other_method_too(self) -> None:
        result = count(self.BOARD, device="cuda", method="search")
        assert cross_check(result, device="cuda") == "device cpu, method contraction"
        result = count(self.BOARD, device="cpu", method="contraction")
        assert cross_check(result) == "device cuda, method search"

    def test_a_contraction_that_no_gpu_does_is_no_other_device(self) -> None:
        """A board of 4x4 cells is contracted by the CPU, whatever the device."""
        result = count(self.BOARD, device="cuda", method="contraction")
        assert (result.device, result.method) == ("cpu", "contraction")
        assert cross_check(result, device="cuda") == "device cuda, method search"
        result = count(self.BOARD, device="cpu", method="search", jobs=1)
        assert cross_check(result) == "device cuda"

    @pytest.mark.usefixtures("without_contraction")
    def test_a_check_that_takes_too_long_is_stopped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(checking, "CHECK_SECONDS", 0.05)
        monkeypatch.setattr(checking, "CHECK_RATIO", 0.0)
        board = collection.load("2f")
        result = count(board, device="cpu", method="search", limit=10**7)
        assert cross_check(result, device="cpu", limit=10**7) is None

    def test_a_device_that_fails_is_skipped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: Any) -> None:
            raise DeviceError("out of memory")

        monkeypatch.setattr(CudaEngine, "explore", fail)
        result = count(self.BOARD, device="cpu", method="contraction")
        assert cross_check(result) == "method search"


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
    """A count that stopped at a limit is counted again up to that limit."""
    board = puzzle("2x2", 4, 1)
    total = naive.count(board)
    assert total > 2
    assert cross_check(count(board, device="cpu", limit=2), device="cpu") is not None
    wrong = replace(count(board, device="cpu", limit=2), count=total + 1)
    with pytest.raises(MismatchError):
        cross_check(wrong, device="cpu")
