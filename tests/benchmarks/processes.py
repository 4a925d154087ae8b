"""Scripts of ``benchmarks/``, run as a user runs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_script(name: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own, with some variables of the environment besides."""
    search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), *options],
        env={**os.environ, "PYTHONPATH": search, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
