"""Stand-ins for columns and tables of libraries that the tests do not need (pandas, PyArrow)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class NAType:
    """A stand-in for the value that pandas uses for a missing integer."""


class Scalar:
    """A stand-in for an element of an Arrow column."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def as_py(self) -> Any:
        return self.value


class Column:
    """A stand-in for a column of a table: it can be iterated, and NumPy can convert it."""

    def __init__(self, values: list[Any], *, wrapped: bool = False) -> None:
        self.values = values
        self.wrapped = wrapped
        self.shape = (len(values),)

    def __iter__(self) -> Iterator[Any]:
        return iter(map(Scalar, self.values) if self.wrapped else self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, object)


class Table:
    """A stand-in for a table, which yields the names of its columns when it is iterated."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.shape = values.shape

    def __iter__(self) -> Iterator[str]:
        return iter(["puzzle"])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.values
