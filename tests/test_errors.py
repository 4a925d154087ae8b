"""Errors are one line of bounded length, whatever they quote, and do nothing to a terminal."""

from __future__ import annotations

import pickle

import pytest

from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import (
    LONGEST_MESSAGE,
    GpusudokuError,
    InputError,
    Interrupted,
    described,
    escaped,
    printable,
    shown,
)
from gpusudoku.options import Options
from gpusudoku.search.techniques import parse_techniques

HUGE = 10**5000
ODD = "a\x1b[31m\n\u202eb\ud800\x85\x00"


def test_control_characters_come_as_escapes() -> None:
    error = InputError(f"{ODD}:1: é ☺")
    assert str(error) == r"a\x1b[31m\n\u202eb\ud800\x85\x00:1: é ☺"
    assert str(error) == escaped(str(error))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert printable(ODD) == r"a\x1b[31m \u202eb\ud800 \x00"
    assert str(Interrupted(ODD, 3)).isprintable()


def test_a_message_has_a_bounded_length() -> None:
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


@pytest.mark.parametrize(
    "options",
    [{name: value} for name in ("memory", "jobs", "limit", "cutoff") for value in (-HUGE, ODD)]
    + [{name: ODD * 100} for name in ("device", "method", "strategy", "cutoff_by", "propagate")]
    + [{"gpus": (-HUGE,)}, {"gpus": (1,) * 5000 + (-1,)}, {"propagate": HUGE}, {"jobs": HUGE}],
    ids=lambda options: next(iter(options)),
)
def test_options_that_are_rubbish(options: dict[str, object]) -> None:
    with pytest.raises(InputError) as raised:
        Options(**options)  # type: ignore[arg-type]
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    "box",
    [HUGE, ODD, "9" * 5000, "1x999999999", b"3x3", (3, HUGE)],
    ids=lambda box: type(box).__name__,
)
def test_boxes_that_are_rubbish(box: object) -> None:
    with pytest.raises(InputError) as raised:
        Geometry.of(box)  # type: ignore[arg-type]
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 100


def test_a_side_of_too_many_digits() -> None:
    with pytest.raises(InputError, match=r"digits"):
        Geometry(HUGE, 1)


def test_techniques_that_are_rubbish() -> None:
    for names in (HUGE, ODD * 100, [ODD * 100]):
        with pytest.raises(InputError) as raised:
            parse_techniques(names)  # type: ignore[arg-type]
        assert len(str(raised.value)) < 300
