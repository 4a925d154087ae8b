"""The vectors of the processor that kernels are compiled for."""

from __future__ import annotations

import os
from functools import cache

from llvmlite.binding import get_host_cpu_features

VECTOR_BITS = {"+avx512f": 512, "+avx2": 256}
"""The bits of a vector of whole numbers, by the feature that a processor needs for it."""
MIN_VECTOR_BITS = 128
"""The bits of a vector of any other processor: NEON and SSE2."""


@cache
def vector_bits() -> int:
    """Return the bits of the widest vectors that Numba compiles for.

    Numba's settings in the environment decide, as they do in Numba. Those of its configuration file
    are not read: a width that does not fit costs time and changes no result.
    """
    features = os.environ.get("NUMBA_CPU_FEATURES")
    if features is None:
        is_generic = os.environ.get("NUMBA_CPU_NAME", "").lower() == "generic"
        has_no_avx = os.environ.get("NUMBA_ENABLE_AVX") == "0"
        features = "" if is_generic or has_no_avx else get_host_cpu_features().flatten()
    names = features.split(",")
    return next((bits for name, bits in VECTOR_BITS.items() if name in names), MIN_VECTOR_BITS)
