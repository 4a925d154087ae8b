"""The walks that ``benchmarks/estimates.py`` compares: all of them are unbiased."""

from __future__ import annotations

from math import sqrt

import pytest
from estimates import METHODS, Method, measure_variance

from gpusudoku import Board, Geometry


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_the_mean_of_all_walks_is_the_number_of_solutions(method: Method) -> None:
    """The seed is fixed, and so is the number of walks, because no time is given."""
    run = measure_variance(Board.empty(Geometry(2, 3)), method, seconds=0.0)
    standard_error = sqrt(run["variance"] / run["walks"])
    assert standard_error < 0.02
    assert 10 ** run["log10_mean"] / 28_200_960 == pytest.approx(1, abs=4 * standard_error)
