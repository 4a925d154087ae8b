"""The style of all figures, and the check that matplotlib is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from gpusudoku.errors import GpusudokuError, not_installed

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.titlesize": 10,
    "figure.titlesize": 11,
    "figure.constrained_layout.use": True,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "legend.title_fontsize": 10,
    "svg.hashsalt": "gpusudoku",  # identical figures give identical files
}
"""Settings of matplotlib for all figures."""


def require_matplotlib() -> None:
    """Raise a GpusudokuError if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise GpusudokuError(not_installed("--plot", "matplotlib", "bench"))
