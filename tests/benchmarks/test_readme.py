"""The README's tables are those of the recorded results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_tables_are_current() -> None:
    script = [sys.executable, str(ROOT / "benchmarks" / "readme.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in (
        "contraction", "speed", "scaling", "batches", "model", "peers", "techniques", "documents",
    ):  # fmt: skip
        assert f"<!-- end of {name} -->" in readme
