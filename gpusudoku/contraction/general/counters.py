"""How full the columns of a stack are, as counters packed into words."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.contraction.general.maps import Bools, Ints, Words


class Counters:
    """The states of a ``Graph``: the digits in every column of every band, counted in fields.

    A field starts so that one digit too many sets its top bit, the guard. Such a state is dropped,
    so no field overflows into the next. With two rows a field has three bits, of which the first
    is the guard: 001 is an empty column, 010 has one digit, 011 is full, and 100 has too many.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.fields = columns * columns
        self._columns, self._rows = columns, rows
        width = rows.bit_length() + 1
        per_word = 64 // width
        self._word, place = np.divmod(np.arange(self.fields), per_word)
        self._shift = (place * width).astype(np.uint64)
        self._top, self._mask = 1 << (width - 1), np.uint64((1 << width) - 1)
        self._start = self._top - 1 - rows
        self.guard = self.packed(np.full(self.fields, self._top))
        """uint64 (words): the top bits of all fields."""
        self.empty = self.packed(np.full((1, self.fields), self._start))
        """uint64 (1, words): the state without any digit."""

    def packed(self, fields: NDArray[Any]) -> Words:
        """uint64 (..., words): the values of all fields, given as (..., fields)."""
        words = np.zeros((*fields.shape[:-1], self._word[-1] + 1), np.uint64)
        for field in range(self.fields):
            value = fields[..., field].astype(np.uint64)
            words[..., self._word[field]] |= value << self._shift[field]
        return words

    def enough(self, to_come: Ints) -> Words:
        """uint64 (words): added to a state, it sets the guard where enough digits can still come.

        A field needs a least value, so that the digits to come can fill what is left of its column.
        With what this adds, that value reaches the guard.
        """
        return self.packed(self._top - self._start - np.maximum(0, self._rows - to_come))

    def begun(self, states: Words) -> Bools:
        """Whether a column of the first band has a digit: bool (states, columns)."""
        word, shift = self._word[: self._columns], self._shift[: self._columns]
        fields: Words = states[:, word] >> shift & self._mask
        begun: Bools = fields != self._start
        return begun
