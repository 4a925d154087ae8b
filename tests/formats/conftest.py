"""A fixture that the tests of readers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.formats import hostile


@pytest.fixture(scope="module")
def together_at_once() -> Iterator[None]:
    """Let readers also read the lines of short texts together."""
    with hostile.limits(hostile.AT_ONCE):
        yield
