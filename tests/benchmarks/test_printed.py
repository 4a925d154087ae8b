"""Scripts that only compute tables from recorded results."""

from __future__ import annotations

import correlations
import findings
import pytest
import timings
from click.testing import CliRunner


@pytest.mark.parametrize(
    ("command", "arguments", "text"),
    [
        (findings.main, [], "no cutoff"),
        (correlations.main, [], "search space"),
        (timings.main, ["--list"], "Canonical forms"),
    ],
)
def test_they_print(command: object, arguments: list[str], text: str) -> None:
    result = CliRunner().invoke(command, arguments)  # type: ignore[arg-type]
    assert result.exit_code == 0, result.output
    assert text in result.stdout
