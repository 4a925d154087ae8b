"""Fixtures for tests of long runs."""

from __future__ import annotations

import pytest

from gpusudoku.runs import store
from tests.cli.checkpointed import limit_disk
from tests.runs.stopped import count_partly

__all__ = ["limit_disk"]


@pytest.fixture
def path(tmp_path):
    """Return a path for a run file, with a space in its name."""
    return tmp_path / "a run.sqlite"


@pytest.fixture
def frequent_saves(monkeypatch):
    """Save counts every millisecond."""
    monkeypatch.setattr(store, "FIRST_SECONDS", 0.001)
    monkeypatch.setattr(store, "MAX_SECONDS", 0.001)


@pytest.fixture
def unfinished(frequent_saves, path):
    """Return a run file with an unfinished count of ``BOARD`` by search."""
    count_partly(path)
    return path
