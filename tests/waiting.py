"""Waiting for a condition, five minutes at most: enough on a busy machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

SECONDS = 300
"""What has not happened by then does not happen."""


def until(condition: Callable[[], Any]) -> Any:
    """Wait until something holds; return what it is."""
    end = time.monotonic() + SECONDS
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)
    return found
