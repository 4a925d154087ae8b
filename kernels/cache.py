"""The cache of compiled code: where it is, and what the code in it depends on."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import llvmlite
from llvmlite.binding import get_host_cpu_features, get_host_cpu_name

from gpusudoku.kernels.store import Store

SETTINGS = ("CPU_NAME", "CPU_FEATURES", "OPT", "BOUNDSCHECK", "DEBUGINFO", "ENABLE_AVX",
            "LOOP_VECTORIZE", "SLP_VECTORIZE")  # fmt: skip
"""Numba's settings on which machine code depends, as variables of the environment are named."""


@cache
def store() -> Store | None:
    """Return the store of compiled code; None if this user has no home.

    A folder in GPUSUDOKU_CACHE_DIR, else in the user's cache; one for each state of all that
    decides what machine code comes out.
    """
    state = _state()
    try:
        return Store(base_folder() / state.hex()[:16], state)
    except RuntimeError:
        return None


def base_folder() -> Path:
    """Return the folder in which there is one for each state."""
    user_cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("GPUSUDOKU_CACHE_DIR") or Path(user_cache) / "gpusudoku").absolute()


def _state() -> bytes:
    """Return a digest of the sources, the compilers, Python, the processor and Numba's settings."""
    settings = [os.environ.get(f"NUMBA_{name}") for name in SETTINGS], _read(_SETTINGS_FILE)
    python = sys.implementation.cache_tag, sys.version, getattr(sys, "abiflags", ""), sys.platform
    processor = get_host_cpu_name(), get_host_cpu_features().flatten()
    versions = _numba_version(), llvmlite.__version__
    digest = hashlib.sha256(repr((versions, python, processor, settings)).encode())
    folder = Path(__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.digest()


_SETTINGS_FILE = Path(".numba_config.yaml")
"""Numba reads settings from there, too."""


def _numba_version() -> bytes | str:
    """Return what tells versions of Numba apart: to import it takes longer than all else."""
    found = find_spec("numba")
    folders = (found and found.submodule_search_locations) or [""]
    version = _read(Path(folders[0]) / "_version.py")
    if version is None:
        import numba

        return str(numba.__version__)
    return version


def _read(path: Path) -> bytes | None:
    """Return the content of a file; None if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None
