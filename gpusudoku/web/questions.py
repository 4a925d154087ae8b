"""Questions of a page about a board: one JSON object each, checked field by field."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, partial
from math import inf
from typing import Any

from gpusudoku.board.board import Board
from gpusudoku.board.geometry import Geometry
from gpusudoku.enumeration.sampling import SEED_BITS
from gpusudoku.errors import Hint, InputError, described, python_words, shown
from gpusudoku.formats import Way
from gpusudoku.formats.read import parse_as
from gpusudoku.options import is_integer

MAX_SOLUTIONS = 1000
"""Solutions of one answer; a file for more of them is what the command line makes."""
MAX_SECONDS = 1e9
"""More than this is as good as no limit, and more than a timer takes."""
LONGEST_PAGE = 64
"""Characters of a page's name."""
LONGEST_NUMBER = 4000
"""Digits of an integer that comes as text; Python refuses to read many more."""
_DIGITS = re.compile(r"\d+", re.ASCII)
_PLACE = re.compile(r"<text>(?::(?P<line>\d+))?(?::(?P<column>\d+))?: ")
"""The place of an error in a text, as ``parse`` writes it."""


@dataclass(frozen=True)
class Question:
    """A question about one board."""

    kind: str
    """One of ``KINDS``."""
    board: Callable[[], Board]
    """Reads the board, once; only one of the kind ``read`` may be none, which is an InputError."""
    seconds: float | None = None
    """It is given up if it should take longer, or once it has; None for as long as it takes."""
    page: str | None = None
    """The name of the page that asks: a newer question of it supersedes an older one."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The fields that only this kind of question has."""


def read_question(kind: str, text: bytes) -> Question:
    """Read a question from JSON; an InputError names a field that is missing, unknown or wrong."""
    try:
        given = json.loads(
            text.decode(), object_pairs_hook=_object, parse_int=_short, parse_constant=_no_constant
        )
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"no JSON: {error.msg}, {where}") from None
    except RecursionError:
        raise InputError("no JSON that can be read: lists in lists in lists") from None
    return question_of(kind, given)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of JSON; refuse two fields of one name, as it is unclear which holds."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise InputError(f"{shown(twice)} stands there more than once")
    return found


def _short(digits: str) -> int:
    """Read an integer; refuse long ones, which Python reads slowly, or not at all."""
    if len(digits) > LONGEST_NUMBER:
        raise InputError(f"an integer of {len(digits)} digits: {LONGEST_NUMBER} at most are read")
    return int(digits)


def _no_constant(name: str) -> float:
    """Refuse NaN and the infinities, which Python takes for numbers."""
    raise InputError(f"no JSON: {name} is no number")


def question_of(kind: str, given: object) -> Question:
    """Make a question of a JSON object; errors as of ``read_question``."""
    if not isinstance(given, dict):
        raise InputError("expected a JSON object")
    own = KINDS[kind]
    known = ["board", "box", "seconds", "page", *own]
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            guess = f"; did you mean {close[0]!r}?" if close else f": expected {', '.join(known)}"
            raise InputError(f"unknown field {shown(name)}{guess}")
    fields = {name: read(name, given.get(name)) for name, read in own.items()}
    seconds = given.get("seconds")
    page = given.get("page")
    if seconds is not None:
        is_number = is_integer(seconds) or isinstance(seconds, float)
        if not is_number or not 0 < seconds < inf:
            raise InputError(f"seconds: expected a number above 0, found {_found(seconds)}")
        seconds = float(min(seconds, MAX_SECONDS))
    if page is not None and not (isinstance(page, str) and len(page) <= LONGEST_PAGE):
        raise InputError(
            f"page: expected text of up to {LONGEST_PAGE} characters, found {_found(page)}"
        )
    board = cache(partial(_board, given, fields.get("near")))
    question = Question(kind, board, seconds, page, fields)
    if kind != "read":
        question.board()
    return question


def _board(given: dict[str, Any], near: Geometry | None) -> Board:
    text = given.get("board")
    box = given.get("box")
    if not isinstance(text, str):
        raise InputError(f"board: expected text, found {_found(text)}")
    if box is not None and not isinstance(box, str):
        raise InputError(f'box: expected text such as "3x3", found {_found(box)}')
    geometry = None if box is None else Geometry.parse(box)
    try:
        return parse_as(text, Way("<text>", geometry, near=near, words=field_words))
    except InputError as error:
        message = str(error)
        place = _PLACE.match(message)
        found = {} if place is None else place.groupdict()
        if "\n" not in text.strip():
            found["line"] = None
        names = ["board", *(f"{name} {number}" for name, number in found.items() if number)]
        words = message[place.end() if place else 0 :]
        raise InputError(f"{', '.join(names)}: {words}") from None


def field_words(hint: Hint) -> str:
    """Name an option in a question: a box is one of its fields."""
    if hint.option == "box":
        return f'"box": "{hint.value}"' if hint.value else '"box"'
    return python_words(hint)


def _near(name: str, value: object) -> Geometry | None:
    if value is not None and not isinstance(value, str):
        raise InputError(f'{name}: expected text such as "3x3", found {_found(value)}')
    try:
        return Geometry.of(value)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _some(name: str, value: object) -> int:
    return 1 if value is None else _integer(name, value, MAX_SOLUTIONS, f"{MAX_SOLUTIONS}")


def _whether(name: str, value: object) -> bool:
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{name}: expected true or false, found {_found(value)}")
    return bool(value)


def _seed(name: str, value: object) -> int | None:
    most = (1 << SEED_BITS) - 1
    return None if value is None else _integer(name, value, most, f"2^{SEED_BITS} - 1")


def _numbers(name: str, value: object) -> list[int]:
    if not isinstance(value, list):
        raise InputError(f"{name}: expected a list of numbers as text, found {_found(value)}")
    if len(value) > MAX_SOLUTIONS:
        raise InputError(f"{name}: expected {MAX_SOLUTIONS} numbers at most, found {len(value)}")
    return [_integer(f"{name}[{index}]", each) for index, each in enumerate(value)]


def _integer(name: str, value: object, most: float = inf, words: str = "") -> int:
    """Read an integer from 0 to the most, which ``words`` name."""
    number = -1  # text is read, too: JavaScript keeps only numbers below 2^53 exactly
    if is_integer(value):
        number = int(value)  # type: ignore[call-overload]
    elif isinstance(value, str) and len(value) <= LONGEST_NUMBER and _DIGITS.fullmatch(value):
        number = int(value)
    if not 0 <= number <= most:
        bounds = f"from 0 to {words}" if words else "from 0 on"
        raise InputError(f"{name}: expected an integer {bounds}, found {_found(value)}")
    return number


def _found(value: object) -> str:
    """Describe a value as JSON has it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return json.dumps(value)
    return shown(value) if isinstance(value, str) else described(value)


KINDS: Mapping[str, Mapping[str, Callable[[str, object], Any]]] = {
    "read": {"near": _near},
    "count": {},
    "shares": {},
    "sample": {"n": _some, "seed": _seed, "numbers": _whether},
    "nth": {"k": _numbers},
    "simplify": {},
    "minimise": {"seed": _seed},
}
"""The kinds of questions, each with the fields of its own and the functions that read them."""
