"""Wait for a condition: five minutes at most, which is enough on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

SECONDS = 300
"""The time limit of a condition."""


def until(condition: Callable[[], Any]) -> Any:
    """Call ``condition`` until it returns a true value; return that value."""
    deadline = time.monotonic() + SECONDS
    while not (value := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)
    return value
