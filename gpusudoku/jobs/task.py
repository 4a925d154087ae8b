"""What a job consists of, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Task:
    """What a worker takes at a time."""

    payload: Any
    weight: float
    """Its share of the whole job; only the progress depends on it."""


@dataclass
class Progress:
    """What is known while a job runs. ``done`` is the estimated share of the work, 0 to 1."""

    done: float
    count: int
    seconds: float
