"""Records of the parts of a run, as JSON, and checks that some are all parts of one run.

A part is worked on by itself, on any machine, and knows nothing of the others. Its record names the
run that it is a part of, so that nothing is added up that does not belong together.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusudoku.board.board import Board
from gpusudoku.errors import InputError, described
from gpusudoku.options import is_integer
from gpusudoku.results import decimal_digits
from gpusudoku.runs.identity import Identity

KIND = "gpusudoku part"
SCHEMA = 1
"""Of the record; another one is not read."""
MOST_DIGITS = 1 << 17
"""Of a number that is read: a count may have many, but a longer one takes long to read."""
MOST_NAMED = 10
"""Ranges of parts that a message names."""

_NUMBER = re.compile(rf"(?:0|[1-9][0-9]{{0,{MOST_DIGITS - 1}}})")
_SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class LinesFile:
    """A file of lines that a part wrote."""

    bytes: int
    """Its size."""
    lines: int
    header: int
    """Bytes at its beginning that each part has, and the whole once."""
    between: str
    """The text between the lines of one part and those of the next."""
    sha256: str
    """Of the whole file, as hexadecimal digits."""

    @classmethod
    def parse(cls, facts: Any) -> LinesFile:
        """Read what ``asdict`` gave; raise a ValueError if it is anything else."""
        if not isinstance(facts, dict) or set(facts) != set(cls.__annotations__):
            raise ValueError("its lines are not described")
        sizes = [facts[name] for name in ("bytes", "lines", "header")]
        texts = [facts[name] for name in ("between", "sha256")]
        if not all(is_integer(size) and size >= 0 for size in sizes):
            raise ValueError("its lines have no size")
        if not all(isinstance(text, str) for text in texts) or not _SHA256.fullmatch(texts[1]):
            raise ValueError("its lines have no SHA-256")
        return cls(**facts)


@dataclass(frozen=True, eq=False)
class PartRecord:
    """A part of a run and what it found. ``str`` of it is its record, a line of JSON.

    Parameters
    ----------
    identity
        The run. Its options have ``tasks`` and ``parts``, how many there are.
    number
        Of the part, from 1 on.
    tasks
        The tasks that it consists of: runs of their numbers, of step 1, none empty.
    found
        The number of solutions; or of each cell and digit, object (cells, n); or the file of lines.
    stats
        The work done, as JSON; those of all parts add up.
    place
        The place where the board was read, as JSON.
    """

    identity: Identity
    number: int
    tasks: tuple[range, ...]
    found: int | NDArray[Any] | LinesFile
    stats: Mapping[str, Any] = field(default_factory=dict)
    place: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parts(self) -> int:
        """The number of parts of this run."""
        return int(self.identity.options["parts"])

    def __str__(self) -> str:
        tasks = [[run.start, run.stop] for run in self.tasks]
        found: dict[str, Any] = {"partial": _as_texts(self.found)}
        if isinstance(self.found, LinesFile):
            found = {"lines": asdict(self.found)}
        record = {
            "kind": KIND,
            "schema": SCHEMA,
            "part": {"number": self.number, "of": self.parts, "tasks": tasks},
            **found,
            "digest": self.identity.digest,
            "identity": json.loads(self.identity.json),
            "stats": dict(self.stats),
            "place": dict(self.place),
        }
        return json.dumps({**record, "seal": seal_of(record)})

    @classmethod
    def parse(cls, text: str | bytes) -> PartRecord:
        """Read a record.

        Raises
        ------
        InputError
            If the text is no record of this schema, or it is damaged.
        """
        try:
            record = json.loads(text)
        except (ValueError, TypeError, RecursionError):  # also for a number of too many digits
            raise InputError("no record of a part") from None
        try:
            return cls._of(record)
        except InputError:
            raise
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            why = str(error) if type(error) is ValueError else "something is missing"
            raise InputError(f"a damaged record of a part: {why}") from None

    @classmethod
    def _of(cls, record: Any) -> PartRecord:
        if not isinstance(record, dict) or record.get("kind") != KIND:
            raise InputError("no record of a part")
        if record.get("schema") != SCHEMA:
            raise InputError(
                f"a record of another version: schema {described(record.get('schema'))}"
            )
        identity = Identity.parse(json.dumps(record["identity"]))
        if identity.digest != record["digest"]:
            raise ValueError("its digest is not that of what it is of")
        part, options = record["part"], identity.options
        number, parts, tasks = part["number"], part["of"], part["tasks"]
        if not (is_integer(number) and is_integer(parts) and 1 <= number <= parts):
            raise ValueError("its number is none from 1 to the number of parts")
        if options["parts"] != parts or not is_integer(options["tasks"]):
            raise ValueError("the numbers of parts or tasks do not agree")
        found = (
            LinesFile.parse(record["lines"]) if "lines" in record else _numbers(record["partial"])
        )
        stats, place = record["stats"], record["place"]
        if record["seal"] != seal_of(record):
            raise ValueError("it was changed")
        if not isinstance(stats, dict) or not isinstance(place, dict):
            raise ValueError("its statistics or its place are none")
        return cls(identity, number, _runs(tasks, options["tasks"]), found, stats, place)


def seal_of(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record without its seal: it shows damage, but proves no origin."""
    facts = {name: value for name, value in record.items() if name != "seal"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def in_order(parts: Iterable[tuple[str, PartRecord]]) -> list[tuple[str, PartRecord]]:
    """Put parts with their names in order; refuse them if they are not all of one run."""
    named: dict[int, tuple[str, PartRecord]] = {}
    first: tuple[str, PartRecord] | None = None
    for name, part in parts:
        first = first or (name, part)
        difference = first[1].identity.difference(part.identity)
        if difference is not None:
            raise InputError(f"{name}: of another run than {first[0]}: {difference}")
        if part.number in named:
            other = named[part.number][0]
            raise InputError(f"{other} and {name}: both are part {part.number} of {part.parts}")
        named[part.number] = name, part
    if first is None:
        raise InputError("no parts, expected all of a run")
    _check_all_there(sorted(named), first[1].parts)
    ordered = [named[number] for number in sorted(named)]
    # They must have all tasks, each once: else a record was changed.
    tasks, end, before = int(first[1].identity.options["tasks"]), 0, ""
    runs = sorted((run.start, run.stop, name) for name, part in ordered for run in part.tasks)
    for start, stop, name in runs:
        if start < end:
            raise InputError(f"{before} and {name}: both have task {start}")
        if start > end:
            raise InputError(f"{name}: task {end} is in no part")
        end, before = stop, name
    if end != tasks:
        raise InputError(f"task {end} is in no part")
    return ordered


def added_shares(parts: Iterable[PartRecord], board: Board) -> NDArray[Any]:
    """Add up the shares of all parts of a board: object (cells, n)."""
    shares = np.zeros((board.geometry.cells, board.n), object)
    for part in parts:
        if not isinstance(part.found, np.ndarray) or part.found.shape != shares.shape:
            raise InputError(f"a damaged record of part {part.number}: no shares of this board")
        shares += part.found
    return shares


def _check_all_there(numbers: Sequence[int], parts: int) -> None:
    """Refuse parts if some are missing, and name those."""
    missing, expected = [], 1
    for number in [*numbers, parts + 1]:
        if number > expected:
            last = number - 1
            missing.append(f"{expected}" if last == expected else f"{expected} to {last}")
        expected = number + 1
    if not missing:
        return
    shown = missing[:MOST_NAMED] + ["..."] * (len(missing) > MOST_NAMED)
    one = len(missing) == 1 and missing[0].isdigit()
    what = f"part {missing[0]} of {parts} is" if one else f"parts {', '.join(shown)} of {parts} are"
    raise InputError(f"{what} missing")


def _as_texts(found: Any) -> Any:
    """Write a number as text, many as lists of texts: JSON readers round numbers."""
    if isinstance(found, np.ndarray):
        return [[decimal_digits(number) for number in row] for row in found.tolist()]
    return None if isinstance(found, LinesFile) else decimal_digits(found)


def _numbers(texts: Any) -> int | NDArray[Any]:
    """Read what ``_as_texts`` wrote; raise a ValueError if it is anything else."""
    if isinstance(texts, list):
        rows = [[_number(text) for text in row] for row in texts]
        if not rows or len({len(row) for row in rows}) != 1:
            raise ValueError("its shares are no table")
        return np.array(rows, object)
    return _number(texts)


def _number(text: Any) -> int:
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise ValueError("its partial result is no number")
    return int(Decimal(text))


def _runs(tasks: Any, number: int) -> tuple[range, ...]:
    """Read runs of tasks; raise a ValueError if they are none of so many."""
    if not isinstance(tasks, list) or not all(
        isinstance(run, list) and len(run) == 2 and all(map(is_integer, run)) for run in tasks
    ):
        raise ValueError("its tasks are no runs of numbers")
    if not all(0 <= start < end <= number for start, end in tasks):
        raise ValueError(f"its tasks are none of {number}")
    return tuple(range(start, end) for start, end in tasks)
