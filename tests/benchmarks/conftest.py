"""Fixtures of the tests that run ``gpu.py`` in the simulator."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

Rehearse = Callable[..., tuple[Result, dict[str, Any]]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where ``rehearse`` has its results."""
    return tmp_path / "gpu.json"


@pytest.fixture
def tiny() -> Any:
    """Sizes at which the simulator takes a few seconds."""
    import gpu_bench

    return replace(
        gpu_bench.REHEARSAL,
        nine="box2x2-few",
        small="box2x2-many",
        techniques=("none",),
        clues=(),
        many=1,
        batch=2,
    )


@pytest.fixture
def rehearse(path: Path, tiny: Any, monkeypatch: pytest.MonkeyPatch) -> Rehearse:
    """Run the script with such boards: how it ended, and what is in its file."""
    import gpu

    monkeypatch.setattr(gpu, "REHEARSAL", tiny)

    def run(*options: str) -> tuple[Result, dict[str, Any]]:
        done = CliRunner().invoke(gpu.main, ["--rehearse", "--output", str(path), *options])
        return done, json.loads(path.read_text()) if path.exists() else {}

    return run
