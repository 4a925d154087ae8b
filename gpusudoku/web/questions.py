"""Questions of a page about a board. Each is a JSON object, which is checked field by field."""

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
from gpusudoku.errors import Hint, InputError, described, python_words, shown
from gpusudoku.estimating import ScaledNumber
from gpusudoku.formats import ReadOptions
from gpusudoku.formats.read import parse_as
from gpusudoku.options import SEED_BITS, is_integer

MAX_SOLUTIONS = 1000
"""The number of solutions in one answer. For more of them, use the command line."""
MAX_SECONDS = 1e9
"""A higher time limit is reduced to this: timers do not take any number."""
MAX_PAGE_LENGTH = 64
"""Characters in the name of a page."""
MAX_INTEGER_DIGITS = 4000
"""Digits of an integer. Python refuses to read more than 4300."""
_DIGITS = re.compile(r"\d+", re.ASCII)
_PLACE = re.compile(r"<text>(?::(?P<line>\d+))?(?::(?P<column>\d+))?: ")
"""The place of an error in a text, as ``parse`` writes it."""


@dataclass(frozen=True)
class Question:
    """A question about one board."""

    kind: str
    """One of ``KINDS``."""
    board: Callable[[], Board]
    """Reads the board, at the first call. Raises an InputError if there is none; only a question of
    the kind ``read`` can have such a board."""
    seconds: float | None = None
    """The time limit, or None. A question whose estimate exceeds it fails at once; one of the kind
    ``estimate`` ends then, with the samples that it has."""
    page: str | None = None
    """The name of the page. A newer question of the page replaces an older one."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """The fields that only this kind of question has."""
    samples: list[ScaledNumber] = field(default_factory=list)
    """The samples of an estimate so far. They are kept when other questions interrupt it."""


def read_question(kind: str, text: bytes) -> Question:
    """Read a question from JSON.

    Raises
    ------
    InputError
        If it is no JSON, or a field is missing, unknown or wrong; the message names the field.
    """
    try:
        question = json.loads(
            text.decode(),
            object_pairs_hook=_object,
            parse_int=_parse_integer,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"invalid JSON: {error.msg}, {place}") from None
    except RecursionError:
        raise InputError("invalid JSON: lists or objects are nested too deeply") from None
    return question_of(kind, question)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a JSON object; refuse two fields of one name, of which Python would drop one."""
    json_object = dict(pairs)
    if len(json_object) < len(pairs):
        [(duplicate, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise InputError(f"{shown(duplicate)} occurs more than once")
    return json_object


def _parse_integer(digits: str) -> int:
    """Read an integer; refuse long ones, which Python reads slowly, or not at all."""
    if len(digits) > MAX_INTEGER_DIGITS:
        raise InputError(
            f"an integer of {len(digits)} digits: {MAX_INTEGER_DIGITS} at most are read"
        )
    return int(digits)


def _refuse_constant(name: str) -> float:
    """Refuse NaN and the infinities, which Python accepts, but JSON does not have."""
    raise InputError(f"invalid JSON: {name} is not a number")


def question_of(kind: str, json_object: object) -> Question:
    """Make a question from a JSON object; raise errors as ``read_question`` does."""
    if not isinstance(json_object, dict):
        raise InputError("expected a JSON object")
    field_readers = KINDS[kind]
    known_names = ["board", "box", "seconds", "page", *field_readers]
    for name in json_object:
        if name not in known_names:
            close_names = get_close_matches(name, known_names, n=1)
            if close_names:
                hint = f"; did you mean {close_names[0]!r}?"
            else:
                hint = f": expected {', '.join(known_names)}"
            raise InputError(f"unknown field {shown(name)}{hint}")
    fields = {
        name: read_field(name, json_object.get(name)) for name, read_field in field_readers.items()
    }
    seconds = _time_limit(json_object.get("seconds"))
    page = json_object.get("page")
    if page is not None and not (isinstance(page, str) and len(page) <= MAX_PAGE_LENGTH):
        expected = f"text of up to {MAX_PAGE_LENGTH} characters"
        raise InputError(f"page: expected {expected}, found {_described(page)}")
    board = cache(partial(_board, json_object, fields.get("near")))
    question = Question(kind, board, seconds, page, fields)
    if kind != "read":
        question.board()  # raises an InputError for a wrong board here
    return question


def _time_limit(seconds: Any) -> float | None:
    if seconds is None:
        return None
    is_number = is_integer(seconds) or isinstance(seconds, float)
    if not is_number or not 0 < seconds < inf:
        raise InputError(f"seconds: expected a number above 0, found {_described(seconds)}")
    return float(min(seconds, MAX_SECONDS))


def _board(json_object: dict[str, Any], likely_geometry: Geometry | None) -> Board:
    """Read the board of a question; the geometry is preferred where several are possible."""
    text = json_object.get("board")
    box = json_object.get("box")
    if not isinstance(text, str):
        raise InputError(f"board: expected text, found {_described(text)}")
    if box is not None and not isinstance(box, str):
        raise InputError(f'box: expected text such as "3x3", found {_described(box)}')
    geometry = None if box is None else Geometry.parse(box)
    try:
        options = ReadOptions("<text>", geometry, preferred=likely_geometry, words=field_words)
        return parse_as(text, options)
    except InputError as error:
        raise InputError(_board_message(str(error), text)) from None


def _board_message(message: str, text: str) -> str:
    """Name the field in the message of ``parse_as``: ``board, line 3, column 4: ...``."""
    place = _PLACE.match(message)
    if place is None:
        return f"board: {message}"
    names = ["board"]
    if place["line"] and "\n" in text.strip():  # in a single line, the column is enough
        names.append(f"line {place['line']}")
    if place["column"]:
        names.append(f"column {place['column']}")
    return f"{', '.join(names)}: {message[place.end() :]}"


def field_words(hint: Hint) -> str:
    """Name an option in a question: a box is one of its fields."""
    if hint.option == "box":
        return f'"box": "{hint.value}"' if hint.value else '"box"'
    return python_words(hint)


# The readers of fields take the name and the value of a field, None if it is missing.


def _read_near(name: str, value: object) -> Geometry | None:
    if value is not None and not isinstance(value, str):
        raise InputError(f'{name}: expected text such as "3x3", found {_described(value)}')
    try:
        return Geometry.of(value)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _read_solution_count(name: str, value: object) -> int:
    return 1 if value is None else _read_integer(name, value, MAX_SOLUTIONS, f"{MAX_SOLUTIONS}")


def _read_boolean(name: str, value: object) -> bool:
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{name}: expected true or false, found {_described(value)}")
    return bool(value)


def _read_seed(name: str, value: object) -> int | None:
    max_seed = (1 << SEED_BITS) - 1
    return None if value is None else _read_integer(name, value, max_seed, f"2^{SEED_BITS} - 1")


def _read_numbers(name: str, value: object) -> list[int]:
    if not isinstance(value, list):
        raise InputError(f"{name}: expected a list of numbers as text, found {_described(value)}")
    if len(value) > MAX_SOLUTIONS:
        raise InputError(f"{name}: expected {MAX_SOLUTIONS} numbers at most, found {len(value)}")
    return [_read_integer(f"{name}[{index}]", number) for index, number in enumerate(value)]


def _read_integer(name: str, value: object, maximum: float = inf, maximum_text: str = "") -> int:
    """Read an integer from 0 to ``maximum``, which ``maximum_text`` names in messages.

    It may be text: JavaScript's numbers are exact only below 2^53.
    """
    number = -1
    if is_integer(value):
        number = int(value)  # type: ignore[call-overload]
    elif isinstance(value, str) and len(value) <= MAX_INTEGER_DIGITS and _DIGITS.fullmatch(value):
        number = int(value)
    if not 0 <= number <= maximum:
        bounds = f"from 0 to {maximum_text}" if maximum_text else "from 0 on"
        raise InputError(f"{name}: expected an integer {bounds}, found {_described(value)}")
    return number


def _described(value: object) -> str:
    """Describe a value in a message as JSON has it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return json.dumps(value)
    return shown(value) if isinstance(value, str) else described(value)


KINDS: Mapping[str, Mapping[str, Callable[[str, object], Any]]] = {
    "read": {"near": _read_near},
    "count": {},
    "shares": {},
    "sample": {"n": _read_solution_count, "seed": _read_seed, "numbers": _read_boolean},
    "nth": {"k": _read_numbers},
    "simplify": {},
    "minimise": {"seed": _read_seed},
    "estimate": {},
}
"""The kinds of questions, each with its own fields and the functions that read them."""
BACKGROUND_KIND = "estimate"
"""Questions of this kind are worked on only while there are no others."""
