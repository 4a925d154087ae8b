"""What is compiled is told from what is not, in a run of a real command."""

from __future__ import annotations

from pathlib import Path

import lock_share
import pytest

from tests.boards import puzzle


@pytest.mark.parametrize("command", ["count --limit 2", "count --method contraction"])
def test_a_command_is_measured(command: str, tmp_path: Path) -> None:
    file = tmp_path / "puzzles"
    file.write_text("".join(f"{puzzle('3x3', 40, seed)}\n" for seed in range(50)))
    spent = lock_share.spent(command, file)
    assert 0 < spent.compiled < spent.all


def test_by_amdahls_law() -> None:
    assert lock_share.bound(0.0, 16) == 16
    assert lock_share.bound(1.0, 16) == 1
    assert lock_share.bound(0.2, 16) == 4
