"""What tests of the command line share."""

from __future__ import annotations

import pytest


@pytest.fixture
def file(tmp_path):
    """Write a file; returns its path."""

    def write(content, name="board.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
