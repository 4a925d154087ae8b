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


def commit() -> str | None:
    """The commit of the sources; None if they are in no repository."""
    folder = Path(gpusudoku.__file__).resolve().parents[1]
    if not (folder / "pyproject.toml").is_file():  # installed, perhaps inside another repository
        return None
    try:
        command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def heading(described: dict[str, object]) -> str:
    """The line above a table: machine and date."""
    gpus = described.get("gpus")
    names = f"; {', '.join(map(str, gpus))}" if isinstance(gpus, list) and gpus else ""
    return f"{described['processor']}, {described['cores']} cores{names}, {described['date']}"
