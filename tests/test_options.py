"""Options: wrong values are refused in one short line without control characters."""

from __future__ import annotations

import inspect
import pickle
import re
from dataclasses import fields
from math import inf, nan

import numpy as np
import pytest

from gpusudoku import Board, Geometry, InputError, Interrupted, Options, count
from gpusudoku.errors import (
    LONGEST_MESSAGE,
    GpusudokuError,
    described,
    escaped,
    printable,
    shown,
)
from gpusudoku.options import OptionFields
from gpusudoku.search.techniques import parse_techniques

BOARD = Board.empty(Geometry(2, 2))
HUGE = 10**5000
ODD = "a\x1b[31m\n\u202eb\ud800\x85\x00"

WRONG = [
    ("device", "gpu", "device 'gpu': expected auto, cpu, cuda"),
    ("method", "guess", "method 'guess': expected auto, search, contraction"),
    ("strategy", "max", "strategy 'max': expected first, min"),
    ("cutoff_by", "x", "cutoff by 'x': expected space, empty"),
    ("memory", 1 << 20, "memory 1048576 bytes: at least 256 MiB are needed"),
    ("memory", 3e9, "memory 3000000000.0: expected an integer"),
    ("memory", "2G", "memory '2G': expected an integer, the number of bytes"),
    ("jobs", 0, "jobs 0: expected from 1 to 1024"),
    ("jobs", 1025, "jobs 1025: expected from 1 to 1024"),
    ("limit", 0, "limit 0: at least 1 is needed"),
    ("limit", 2.5, "limit 2.5: expected an integer"),
    ("limit", True, "limit True: expected an integer"),
    ("seconds", 0, "seconds 0: expected a number above 0 and at most 1e\\+09"),
    ("seconds", -0.5, "seconds -0.5: expected a number above 0"),
    ("seconds", nan, "seconds nan: expected a number above 0"),
    ("seconds", inf, "seconds inf: expected a number above 0"),
    ("seconds", True, "seconds True: expected a number"),
    ("seconds", "1", "seconds '1': expected a number"),
    ("cutoff", 0.5, "cutoff 0.5: a finite number"),
    ("cutoff", nan, "cutoff nan"),
    ("cutoff", "x", "cutoff 'x': expected a number"),
    ("propagate", "luck", "unknown technique 'luck': expected naked-single, "),
    ("propagate", "", "unknown technique ''"),
    ("propagate", "none,singles", "technique 'none' cannot be combined with others"),
    ("propagate", 3, "techniques 3: exp|propagate 3: expected names"),
    ("gpus", 0, "gpus 0: expected the numbers of GPUs"),
    ("gpus", (-1,), "gpus .*: expected the numbers of GPUs"),
]


def test_wrong_values_and_types() -> None:
    for name, value, message in WRONG:
        for call in (Options, lambda **options: count(BOARD, **options)):
            with pytest.raises(InputError, match=f"^({message})"):
                call(**{name: value})  # type: ignore[operator]


def test_right_values() -> None:
    Options(device="cpu", jobs=1, limit=1, cutoff=1, strategy="first", propagate="none")
    Options(propagate=" naked-pair , singles ", limit=10**40, cutoff=10**300, jobs=1024)
    assert Options(limit=np.int64(5), jobs=np.uint8(2)).limit == 5  # type: ignore[arg-type]


def test_every_field_is_documented() -> None:
    """``help`` shows each once, and type checkers know it as a keyword."""
    names = [field.name for field in fields(Options)]
    section = (inspect.getdoc(Options) or "").partition("----------\n")[2].partition("\n\n")[0]
    assert re.findall(r"^(\w+)\n    \S", section, re.MULTILINE) == names
    assert list(OptionFields.__annotations__) == names


def test_control_characters_come_as_escapes() -> None:
    error = InputError(f"{ODD}:1: é ☺")
    assert str(error) == r"a\x1b[31m\n\u202eb\ud800\x85\x00:1: é ☺"
    assert str(error) == escaped(str(error)) == str(pickle.loads(pickle.dumps(error)))
    assert printable(ODD) == r"a\x1b[31m \u202eb\ud800 \x00"
    assert str(Interrupted(ODD, 3)).isprintable()


def test_messages_have_a_bounded_length() -> None:
    text = str(GpusudokuError("a" * 10**6 + "b"))
    assert len(text) == LONGEST_MESSAGE
    assert (text[0], text[-1]) == ("a", "b")
    assert len(printable("a" * 10**6)) == LONGEST_MESSAGE
    assert len(str(GpusudokuError("\x00" * 10**4))) == LONGEST_MESSAGE
    assert len(shown(b"\xff" * 100)) < 50


def test_what_cannot_be_shown_is_described_by_its_type() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise KeyError("no")

    assert described(HUGE) == "a value of type int"
    assert described(Odd()) == "a value of type Odd"


def test_rubbish_is_refused_in_a_short_line() -> None:
    numbers = ("memory", "jobs", "limit", "cutoff")
    names = ("device", "method", "strategy")
    for function, rubbish in (
        *((name, value) for name in numbers for value in (-HUGE, ODD)),
        *((name, ODD * 100) for name in (*names, "cutoff_by", "propagate")),
        *(("gpus", gpus) for gpus in ((-HUGE,), (1,) * 5000 + (-1,))),
        *((name, HUGE) for name in ("propagate", "jobs")),
        *((Geometry.of, box) for box in (HUGE, ODD, "9" * 5000, "1x999999999", b"3x3", (3, HUGE))),
        *(
            (parse_techniques, names_of_techniques)
            for names_of_techniques in (HUGE, ODD * 100, [ODD * 100])
        ),
    ):
        with pytest.raises(InputError) as raised:
            function(rubbish) if callable(function) else Options(**{function: rubbish})
        assert str(raised.value).isprintable()
        assert len(str(raised.value)) < 300
    with pytest.raises(InputError, match=r"digits"):
        Geometry(HUGE, 1)
