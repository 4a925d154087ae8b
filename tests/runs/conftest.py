"""What tests of long runs share."""

from __future__ import annotations

import pytest

from gpusudoku.runs import store
from tests.cli.checkpointed import limit_disk
from tests.runs.stopped import stopped

__all__ = ["limit_disk"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a run.sqlite"


@pytest.fixture
def often(monkeypatch):
    """Let counts be saved every thousandth of a second."""
    monkeypatch.setattr(store, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(store, "MAX_SECONDS", 0.001)


@pytest.fixture
def unfinished(often, path):
    """A file with a count of ``BOARD`` by search that is begun and not finished."""
    stopped(path)
    return path
