"""What tests of long runs share."""

from __future__ import annotations

import pytest

from gpusudoku.runs.ledger import Ledger
from tests.runs.fakes import IDENTITY, SETUP, FakePlan, worked


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a run.sqlite"


@pytest.fixture
def kept(path):
    """A file with a run that is not finished."""
    plan = FakePlan(calls=100)
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, SETUP, plan.part())
        worked(ledger, plan, 3)
    assert not ledger.finished
    return path
