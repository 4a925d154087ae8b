"""Search and contraction against the counts of all the project's own boards."""

import pytest

import gpusudoku
from gpusudoku import collection
from tests.boards import SHAPES, run_uncompiled

QUICK = 2_000_000
"""Solutions that are counted in a second or so."""

SEARCHABLE = [entry for entry in collection.entries() if entry.searchable]


COMPILED = {*SHAPES, "5x5"}
"""Boxes of boards that take some search. Others are counted sooner than kernels are compiled."""


@pytest.fixture
def kernels(entry, monkeypatch):
    """Compiled ones, or not, as suits the board."""
    if str(collection.load(entry.name).geometry) not in COMPILED:
        run_uncompiled(monkeypatch)


def cases(boards):
    return [
        pytest.param(entry, id=entry.name, marks=[pytest.mark.slow] * (entry.count > QUICK))
        for entry in boards
    ]


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("entry", cases(SEARCHABLE))
def test_count(entry):
    result = gpusudoku.count(collection.load(entry.name), device="cpu", method="search")
    assert (result.count, result.exact) == (entry.count, True)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("strategy", ["first", "min"])
@pytest.mark.parametrize(
    "entry", cases(collection.entry(f"{s}{b}") for s in "12" for b in "abcdef")
)
def test_benchmark_series(entry, strategy, jobs):
    board = collection.load(entry.name)
    how = {"method": "search", "strategy": strategy, "jobs": jobs}
    result = gpusudoku.count(board, device="cpu", **how)
    assert result.count == entry.count


@pytest.mark.parametrize("entry", cases(e for e in collection.entries() if not e.searchable))
def test_out_of_reach_boards_have_many(entry):
    result = gpusudoku.count(collection.load(entry.name), device="cpu", method="search", limit=1000)
    assert (result.count, result.exact) == (1000, False)


REFUSED = {"box2x5-empty"}
"""Too expensive to contract, even in parts."""

TOO_LONG = {"25x25-newspaper"}
"""Contracted in minutes only."""


@pytest.mark.parametrize(
    "entry",
    [e for e in collection.entries() if e.name not in TOO_LONG],
    ids=lambda entry: entry.name,
)
@pytest.mark.usefixtures("kernels")
def test_contraction(entry):
    board = collection.load(entry.name)
    if entry.name in REFUSED:
        with pytest.raises(gpusudoku.TooExpensive):
            gpusudoku.count(board, device="cpu", method="contraction")
    else:
        result = gpusudoku.count(board, device="cpu", method="contraction")
        assert (result.count, result.method) == (entry.count, "contraction")
