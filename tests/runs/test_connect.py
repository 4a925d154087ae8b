"""Connections that are disturbed: Dask's client asserts that nobody else is told anything then."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

distributed = pytest.importorskip("distributed")

from gpusudoku.errors import ClusterError  # noqa: E402
from gpusudoku.runs.cluster.connect import TRIES, connected  # noqa: E402

ADDRESS = "tcp://127.0.0.1:1"


@pytest.fixture
def disturbed(monkeypatch):
    """Let so many clients fail before one connects; gives that one, and who was asked."""

    def make(failures):
        client = Mock()
        clients = Mock(side_effect=[*failures * [AssertionError], client])
        # A class, as it is asked whether something is a client.
        kind = type("Client", (), {"__new__": lambda cls, *args, **options: clients(*args)})
        monkeypatch.setattr(distributed, "Client", kind)
        return client, clients

    return make


def test_it_is_tried_again(disturbed):
    client, clients = disturbed(TRIES - 1)
    with connected(ADDRESS) as found:
        assert found is client
        client.close.assert_not_called()
    client.close.assert_called_once()
    assert clients.call_args.args == (ADDRESS,)


def test_in_the_end_one_line_says_so(disturbed):
    _, clients = disturbed(TRIES)
    busy = pytest.raises(ClusterError, match=f"{ADDRESS}': the scheduler is too busy")
    with busy, connected(ADDRESS):
        pass
    assert clients.call_count == TRIES
