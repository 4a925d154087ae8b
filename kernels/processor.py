"""The processor that kernels are compiled for."""

from __future__ import annotations

import os
from functools import cache

from llvmlite.binding import get_host_cpu_features

from gpusudoku.jobs.forks import delayed_forks


@cache
def has_avx512() -> bool:
    """Tell whether Numba compiles for vectors of 512 bits.

    Numba's settings in the environment decide, as they do in Numba. Its configuration file is not
    read: a wrong answer costs time, but changes no result.
    """
    features = os.environ.get("NUMBA_CPU_FEATURES")
    if features is None:
        is_generic = os.environ.get("NUMBA_CPU_NAME", "").lower() == "generic"
        has_no_avx = os.environ.get("NUMBA_ENABLE_AVX") == "0"
        with delayed_forks():  # a child would wait for llvmlite's lock forever
            features = "" if is_generic or has_no_avx else get_host_cpu_features().flatten()
    return "+avx512f" in features.split(",")
