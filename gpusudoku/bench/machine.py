"""The machine that ran a measurement, in words."""

from __future__ import annotations

import platform
import subprocess
import time
from pathlib import Path

import numba
import numpy

import gpusudoku
from gpusudoku.engines.cuda import availability
from gpusudoku.jobs.cores import usable_cores

FOLDER = Path(gpusudoku.__file__).resolve().parents[1]
"""That of the checkout, if the program is used from one."""
MEASURED = ("gpusudoku", "kernels", "boards", "benchmarks", "pyproject.toml",
            ":!benchmarks/results", ":!*.md")  # fmt: skip
"""What can change a measurement, for git. Results are written by the measurements themselves."""


def machine() -> dict[str, object]:
    """Describe processor, cores, GPUs, system and versions, as JSON types."""
    model = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), model)
    gpus = (
        []
        if availability.simulated() or availability.unusable_because()
        else list(availability.gpu_names())
    )
    return {
        "processor": model,
        "cores": usable_cores(),
        "gpus": gpus,
        "system": platform.system(),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": numpy.__version__,
        "gpusudoku": gpusudoku.__version__,
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d"),
    }


def commit(folder: Path = FOLDER) -> str | None:
    """The commit of a checkout, with ``-dirty`` if what can change a measurement is another by now.

    None if the folder is no checkout: not that of the program as it is installed, even if that is
    somewhere inside another repository.
    """
    if not (folder / ".git").exists():
        return None
    try:
        name = _git(folder, "rev-parse", "--short=12", "HEAD")
        changes = _git(folder, "status", "--porcelain", "--", *MEASURED)
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{name}-dirty" if changes else name


def _git(folder: Path, *words: str) -> str:
    """What git says of a folder."""
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def heading(described: dict[str, object]) -> str:
    """The line above a table: machine and date."""
    gpus = described.get("gpus")
    names = f"; {', '.join(map(str, gpus))}" if isinstance(gpus, list) and gpus else ""
    return f"{described['processor']}, {described['cores']} cores{names}, {described['date']}"
