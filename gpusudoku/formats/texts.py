"""Many strings of Python or NumPy as one buffer of bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_NO_SYMBOL = ord("!")
_BLANKS = np.isin(np.arange(256), [*b" \t\r\n"])
_MOST_BLANKS = 4
"""Blanks taken off at each end. A string with more of them takes a closer look."""


class Texts(NamedTuple):
    """Strings without the blanks around them, one byte for a character.

    What is not ASCII has become a byte that is no symbol.
    """

    data: NDArray[np.uint8]
    """uint8 (bytes)."""
    starts: NDArray[np.int64]
    """int64 (strings), where each of them begins."""
    sizes: NDArray[np.int64]
    """int64 (strings), its length."""

    def alike(self) -> Iterator[tuple[int, int, int]]:
        """Runs of strings of one length: the length, the first, and the one behind the last."""
        cuts = [0, *(np.flatnonzero(np.diff(self.sizes)) + 1).tolist(), len(self.sizes)]
        for start, end in pairwise(cuts):
            if start < end:
                yield int(self.sizes[start]), start, end


def is_strings(given: Any) -> bool:
    """Whether something is a NumPy array of strings or of bytes."""
    return isinstance(given, np.ndarray) and given.dtype.kind in "US"


def joined_texts(texts: Sequence[str] | Sequence[bytes] | NDArray[Any]) -> Texts:
    """The texts of a list of ``str`` or of ``bytes``, or of an array of one dimension of them."""
    if isinstance(texts, np.ndarray):
        data, starts, sizes = _of_array(texts)
    else:
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        starts = np.cumsum(sizes) - sizes
        data = as_symbols(texts)
    for _ in range(_MOST_BLANKS):
        for first in (True, False):
            place = starts if first else starts + sizes - 1
            blank = (sizes > 0) & _BLANKS[data[np.maximum(place, 0)]]
            if blank.any():
                starts, sizes = starts + (blank if first else 0), sizes - blank
    return Texts(data, starts, sizes)


def as_symbols(texts: Any) -> NDArray[np.uint8]:
    """All bytes, one for a character, and one more, so that there are some."""
    if len(texts) and isinstance(texts[0], bytes):
        data = b"".join([*texts, b"!"])
    else:
        text = "".join(texts)
        data = (text if text.isascii() else _NOT_ASCII.sub("!", text)).encode() + b"!"
    return np.frombuffer(data, np.uint8)


def _of_array(
    texts: NDArray[Any],
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """The bytes of an array, and the place and size of each string."""
    sizes = np.char.str_len(texts).astype(np.int64)
    width = int(sizes.max(initial=1))
    kind = texts.dtype.kind
    same = np.ascontiguousarray(texts, f"={kind}{width}")
    if kind == "U":
        codes = same.view(np.uint32)
        data = np.where(codes < 128, codes, _NO_SYMBOL).astype(np.uint8)
    else:
        data = same.view(np.uint8)
    # One more, so that there is one behind a string of blanks, too.
    return np.append(data, np.uint8(_NO_SYMBOL)), np.arange(len(texts)) * width, sizes
