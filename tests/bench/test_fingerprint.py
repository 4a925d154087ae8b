"""A fingerprint changes with everything that is seen, but not with the place or the ticks."""

from __future__ import annotations

from typing import Any

import pytest

from gpusudoku.bench.fingerprint import fingerprint

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def closed() -> Any:
    """Close what a test leaves open."""
    yield
    pyplot.close("all")


def drawn(**changes: Any) -> Any:
    figure, axes = pyplot.subplots(figsize=changes.get("figsize", (4, 3)))
    values = changes.get("values", [1.0, 2.0, 3.5])
    axes.plot([1, 2, 3], values, label=changes.get("label", "a"),
              linestyle=changes.get("linestyle", "-"))  # fmt: skip
    axes.lines[0].set_alpha(changes.get("alpha", 1.0))
    axes.stackplot([1, 2, 3], changes.get("area", [1.0, 1.0, 1.0]),
                   colors=[changes.get("colour", "red")])  # fmt: skip
    axes.bar([1, 2], changes.get("bars", [1.0, 2.0]), color=changes.get("bar", "blue"))
    axes.imshow(changes.get("matrix", [[0.5, 0.25]]), cmap=changes.get("map", "Purples"))
    axes.text(1, 1, changes.get("text", "text"))
    axes.set(xlabel=changes.get("xlabel", "x"))
    axes.set_xticks(changes.get("ticks", [1, 2]))
    axes.legend()
    figure.suptitle(changes.get("title", "title"))
    figure.supxlabel(changes.get("below", "machine"))
    return figure


@pytest.mark.parametrize(
    "change",
    [
        {"values": [1.0, 2.0, 3.5001]},
        {"label": "b"},
        {"linestyle": "--"},
        {"alpha": 0.5},
        {"colour": "green"},
        {"bar": "green"},
        {"map": "Greens"},
        {"area": [1.0, 1.5, 1.0]},
        {"bars": [1.0, 2.5]},
        {"matrix": [[0.5, 0.26]]},
        {"text": "other"},
        {"xlabel": "y"},
        {"title": "other"},
        {"below": "another machine"},
    ],
)
def test_what_is_seen(change: dict[str, Any]) -> None:
    assert fingerprint(drawn(**change)) != fingerprint(drawn())


@pytest.mark.parametrize(
    "change",
    [{"ticks": [1, 2, 3]}, {"figsize": (8, 6)}, {"values": [1.0, 2.0, 3.5 * (1 + 1e-12)]}],
)
def test_what_is_not(change: dict[str, Any]) -> None:
    assert fingerprint(drawn(**change)) == fingerprint(drawn())
