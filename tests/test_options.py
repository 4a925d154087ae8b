"""Options: what is refused, and with which words."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from math import nan
from typing import Any

import numpy as np
import pytest

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.counting import count
from gpusudoku.errors import InputError
from gpusudoku.options import OptionFields, Options

BOARD = Board.empty(Geometry(2, 2))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("device", "gpu", "device 'gpu': expected auto, cpu, cuda"),
        ("device", "", "device ''"),
        ("method", "guess", "method 'guess': expected auto, search, contraction"),
        ("memory", 1 << 20, "memory 1048576 bytes: at least 256 MiB are needed"),
        ("strategy", "max", "strategy 'max': expected first, min"),
        ("jobs", 0, "jobs 0: expected from 1 to 1024"),
        ("jobs", -1, "jobs -1"),
        ("limit", 0, "limit 0: at least 1 is needed"),
        ("limit", -5, "limit -5"),
        ("cutoff", 0.5, "cutoff 0.5: a finite number"),
        ("cutoff", 0, "cutoff 0"),
        ("cutoff", nan, "cutoff nan"),
        ("propagate", "luck", "unknown technique 'luck': expected naked-single, "),
        ("propagate", "", "unknown technique ''"),
        ("propagate", "none,singles", "technique 'none' goes with no other"),
    ],
)
def test_wrong_values(name: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Options(**{name: value})
    with pytest.raises(InputError, match=message):
        count(BOARD, **{name: value})


def test_right_values() -> None:
    Options(device="cpu", jobs=1, limit=1, cutoff=1, strategy="first", propagate="none")
    Options(propagate=" naked-pair , singles ", limit=10**40, cutoff=10**300)


def test_unknown_names() -> None:
    with pytest.raises(TypeError, match=r"^count\(\) got an .* 'limits'; did you mean 'limit'\?$"):
        count(BOARD, limits=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^count\(\) got an unexpected keyword argument 'zzz'$"):
        count(BOARD, zzz=1)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("limit", 2.5, "an integer"),
        ("limit", True, "an integer"),
        ("jobs", "2", "an integer"),
        ("memory", 3e9, "an integer"),
        ("memory", None, "an integer"),
        ("memory", "2G", "an integer, the number of bytes"),
        ("jobs", 1.5, "an integer"),
        ("device", 5, "auto, cpu, cuda"),
        ("cutoff", "x", "a number"),
        ("propagate", 3, "names"),
        ("gpus", 0, "the numbers of GPUs"),
        ("gpus", (), "the numbers of GPUs"),
        ("gpus", (-1,), "the numbers of GPUs"),
    ],
)
def test_wrong_types(name: str, value: Any, expected: str) -> None:
    with pytest.raises(InputError, match=rf"^{name} .*: expected {expected}"):
        Options(**{name: value})


def test_whole_numbers_of_numpy() -> None:
    assert Options(limit=np.int64(5), jobs=np.uint8(2)).limit == 5


def test_only_what_differs_is_shown() -> None:
    assert repr(Options()) == "Options()"
    options = Options(limit=5, jobs=2, device="cpu", method="search")
    assert repr(options) == "Options(device='cpu', method='search', jobs=2, limit=5)"
    assert eval(repr(options)) == options


def test_every_field_is_documented() -> None:
    """Once, where ``help`` shows it, and as a keyword for those who check types."""
    names = [field.name for field in fields(Options)]
    section = (inspect.getdoc(Options) or "").partition("----------\n")[2].partition("\n\n")[0]
    assert re.findall(r"^(\w+)\n    \S", section, re.MULTILINE) == names
    assert list(OptionFields.__annotations__) == names
