"""Records of the parts of a run, as JSON, and checks that some are all parts of one run.

A part is worked on by itself, on any machine, and knows nothing of the others. Its record names the
run that it is a part of, so that nothing is added up that does not belong together. A record stands
in a file of records, beside the lines that its part wrote, or in the file of ``--checkpoint``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpusudoku.errors import InputError, described
from gpusudoku.results import decimal_digits
from gpusudoku.runs.identity import Identity

KIND = "gpusudoku part"
SCHEMA = 3
"""Of the record; another one is not read."""
ENDING = ".part.json"
"""The ending of the name of a record, behind the name of its file of lines."""
OUTPUT = "output"
"""The note, in the position of a run, of the file to which it writes lines."""
MAX_NAMED = 10
"""Missing parts that a message names."""
MAX_RECORD = 1 << 23
"""Bytes of the longest record that is read: no board's is as long."""
PIECE = 1 << 20
"""Bytes of lines that are in memory at a time."""
DAMAGED = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What reading a record raises that holds other things than ours do."""


@dataclass(frozen=True)
class LinesFile:
    """A file of lines that a part wrote."""

    size: int
    """In bytes."""
    header: int
    """Bytes at its beginning that each part has, and the whole once."""
    between: str
    """The text between the lines of one part and those of the next."""
    sha256: str
    """Of the whole file, as hexadecimal digits."""

    @classmethod
    def of(cls, path: str | Path, header: bytes, between: bytes = b"") -> LinesFile:
        """Read and describe a file, with the header and separator that joining needs."""
        digest = hashlib.sha256()
        size = 0
        start = b""
        with Path(path).open("rb") as file:
            while piece := file.read(PIECE):
                start = start or piece[: len(header)]
                digest.update(piece)
                size += len(piece)
        shown = len(header) if start == header else 0
        return cls(size, shown, between.decode(), digest.hexdigest())

    def check(self, path: Path) -> None:
        """Refuse a file that is not as it was written, or cannot be read."""
        try:
            if not path.is_file():
                raise InputError(f"{path}: no such file, expected the lines of a part")
            size = path.stat().st_size
            if size != self.size:
                raise InputError(f"{path}: has {size} bytes, not the {self.size} that were written")
            if LinesFile.of(path, b"").sha256 != self.sha256:
                raise InputError(f"{path}: has changed since it was written")
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}, expected the lines of a part") from None

    def pieces(self, path: Path) -> Iterator[bytes]:
        """Read the lines behind the header, in pieces of whole lines where these are not long."""
        with path.open("rb") as file:
            file.seek(self.header)
            rest = b""
            while piece := file.read(PIECE):
                end = piece.rfind(b"\n") + 1 or len(piece)
                yield rest + piece[:end]
                rest = piece[end:]
            if rest:
                yield rest


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

    def __repr__(self) -> str:
        return f"<PartRecord: part {self.number} of {self.parts} of {self.identity.command}>"

    def __str__(self) -> str:
        tasks = [[run.start, run.stop] for run in self.tasks]
        if isinstance(self.found, LinesFile):
            found: dict[str, Any] = {"lines": asdict(self.found)}
        elif isinstance(self.found, np.ndarray):  # numbers as texts: JSON readers round them
            rows = self.found.tolist()
            found = {"partial": [[decimal_digits(number) for number in row] for row in rows]}
        else:
            found = {"partial": decimal_digits(self.found)}
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
            known = isinstance(record, dict) and record.get("kind") == KIND
        except (ValueError, TypeError, RecursionError):  # also for a number of too many digits
            known = False
        if not known:
            raise InputError("no record of a part")
        if record.get("schema") != SCHEMA:
            schema = described(record.get("schema"))
            raise InputError(f"a record of another version of gpusudoku: schema {schema}")
        try:
            if record["seal"] != seal_of(record):
                raise ValueError("it was changed")
            if "lines" in record:
                found: int | NDArray[Any] | LinesFile = LinesFile(**record["lines"])
            elif isinstance(partial := record["partial"], list):
                found = np.array([[_number(text) for text in row] for row in partial], object)
            else:
                found = _number(partial)
            part = record["part"]
            identity = Identity.parse(json.dumps(record["identity"]))
            tasks = tuple(range(start, stop) for start, stop in part["tasks"])
            return cls(identity, part["number"], tasks, found, record["stats"], record["place"])
        except DAMAGED as error:
            why = str(error) if type(error) is ValueError else "something is missing"
            raise InputError(f"a damaged record of a part: {why}") from None


class PartFile(NamedTuple):
    """A part that was read from a file."""

    name: str
    """The file of its record."""
    record: PartRecord
    lines: Path | None
    """The file of its lines, if it has any."""


def record_path(path: str | Path) -> Path:
    """Return the path of the record of a file of lines."""
    return Path(f"{path}{ENDING}")


def read_parts(names: Iterable[str]) -> Iterator[PartFile]:
    """Read the parts in some files, and in one that is named twice once.

    A file has records, one a line; or lines, with their record beside it; or it is that of a run.
    """
    seen = set[str]()
    for name in names:
        try:
            path = record_path(name) if record_path(name).is_file() else Path(name)
            if (resolved := os.path.realpath(path)) not in seen:
                seen.add(resolved)
                yield from _parts_in(path)
        except OSError as error:
            raise InputError(f"{name}: {error.strerror}, expected a file of a part") from None
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{name!r}: no name of a file") from None


def _parts_in(path: Path) -> Iterator[PartFile]:
    """Read the parts in a file."""
    found = 0
    with path.open("rb") as file:
        if file.peek(16).startswith(b"SQLite format 3\0"):
            yield _part_of_run(path)
            return
        for number, line in enumerate(iter(lambda: file.readline(MAX_RECORD), b""), 1):
            if not line.strip():
                continue
            try:
                if len(line) == MAX_RECORD:
                    raise InputError("no record of a part: the line is too long")
                record = PartRecord.parse(line)
            except InputError as error:
                hint = "" if line.startswith(b"{") else f", and {record_path(path)} is not there"
                raise InputError(f"{path}:{number}: {error}{hint}") from None
            has_lines = isinstance(record.found, LinesFile) and path.name.endswith(ENDING)
            lines = Path(str(path).removesuffix(ENDING)) if has_lines else None
            yield PartFile(str(path), record, lines)
            found += 1
    if not found:
        raise InputError(f"{path}: no record of a part")


def _part_of_run(path: Path) -> PartFile:
    """Read the part in the file of a run, which may have moved together with that of its lines."""
    from gpusudoku.runs.store import read_run  # imported lazily: SQLite takes a moment to load

    run = read_run(path)
    if run.record is None:
        raise InputError(f"{path}: holds no finished part: 'gpusudoku resume {path}' goes on")
    lines = None
    if run.state.position is not None:
        lines = Path(run.state.position.notes[OUTPUT])
        lines = lines if lines.exists() else path.with_name(lines.name)
    return PartFile(str(path), PartRecord.parse(run.record), lines)


def seal_of(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record without its seal: it shows damage, but proves no origin."""
    facts = {name: value for name, value in record.items() if name != "seal"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def in_order(parts: Iterable[PartFile]) -> list[PartFile]:
    """Put parts in order; refuse them if they are not all of one run, each once."""
    named: dict[int, PartFile] = {}
    first: PartFile | None = None
    for part in parts:
        first = first or part
        difference = first.record.identity.difference(part.record.identity)
        if difference is not None:
            raise InputError(f"{part.name}: of another run than {first.name}: {difference}")
        if other := named.get(part.record.number):
            which = f"part {part.record.number} of {part.record.parts}"
            raise InputError(f"{other.name} and {part.name}: both are {which}")
        named[part.record.number] = part
    if first is None:
        raise InputError("no parts, expected all of a run")
    try:
        parts_of_run = first.record.parts
        missing = [str(number) for number in range(1, parts_of_run + 1) if number not in named]
        if missing:
            which = ", ".join(missing[:MAX_NAMED] + ["..."] * (len(missing) > MAX_NAMED))
            are = f"part {which} of {parts_of_run} is"
            if len(missing) > 1:
                are = f"parts {which} of {parts_of_run} are"
            raise InputError(f"{are} missing")
        ordered = [named[number] for number in sorted(named)]
        # They must have all tasks, each once: else a record was changed.
        tasks = int(first.record.identity.options["tasks"])
        end = 0
        before = ""
        runs = sorted((run.start, run.stop, p.name) for p in ordered for run in p.record.tasks)
    except DAMAGED as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{first.name}: a damaged record of a part") from None
    for start, stop, name in runs:
        if start < end:
            raise InputError(f"{before} and {name}: both have task {start}")
        if start > end:
            raise InputError(f"{name}: task {end} is in no part")
        end = stop
        before = name
    if end != tasks:
        raise InputError(f"task {end} is in no part")
    return ordered


def _number(text: str) -> int:
    """Read a number of any size; ``int`` refuses one of more than 4300 digits."""
    if not re.fullmatch("[0-9]+", text):
        raise ValueError("its partial result is no number")
    return int(Decimal(text))
