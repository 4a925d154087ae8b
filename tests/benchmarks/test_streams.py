"""What comes through a pipe takes little memory, however much it is."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest
import streams

MOST_MEGABYTES = 300

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="memory is told in other ways here"
)


def check(gigabytes: float, names: Collection[str] = ()) -> None:
    runs = streams.measure(gigabytes, names)
    assert {run["input"] for run in runs} == set(names or streams.blocks())
    for run in runs:
        assert 10 < run["peak_mb"] < MOST_MEGABYTES, run
        assert len(run["said"]) == (streams.blocks()[run["input"]][1] == 2), run
        if run["said"]:  # a pipe, and a block
            assert run["bytes"] < 1 << 26
        else:
            assert run["bytes"] >= gigabytes * 1e9


def test_some_megabytes() -> None:
    refused = [name for name, (_, status) in streams.blocks().items() if status]
    check(0.04, ["boards on lines", *refused])


@pytest.mark.slow
def test_more_than_may_be_kept() -> None:
    check(0.5)
