"""Records of the parts of a run, as JSON; reading them, and checking that they are complete.

Each part is computed on its own, on any machine, and needs nothing from the others. Its record
contains the identity of the run, so that only parts of one run are added up. A record is a line in
a file of records, a file next to the output file that the part wrote, or a fact in a run file.
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
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from gpusudoku.errors import InputError, described
from gpusudoku.results import decimal_digits
from gpusudoku.runs.identity import Identity

KIND = "gpusudoku part"
SCHEMA = 3
"""The version of records. Records of other versions are not read."""
ENDING = ".part.json"
"""The record of an output file is in a file of its name with this ending."""
OUTPUT = "output"
"""The key, in the notes of a ``Position``, of the path of the output file."""
MAX_NAMED = 10
"""The number of missing parts that a message lists at most."""
MAX_RECORD_BYTES = 1 << 23
"""The longest record that is read. The record of the largest board is shorter."""
CHUNK_BYTES = 1 << 20
"""The bytes of an output file that are in memory at a time."""
DAMAGE_ERRORS = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""The errors that reading a damaged record may raise."""


# Merged output consists of these parts of files, where each `|` is a boundary:
#
#     header | lines of part 1 | between | lines of part 2 | between | lines of part 3 ...
#
# The names of the fields are keys in records.
@dataclass(frozen=True)
class LinesFile:
    """An output file that a part wrote."""

    size: int
    """In bytes."""
    header: int
    """The size of its header in bytes; 0 if the file is too short to have one. Every part has the
    header, the merged output has it once."""
    between: str
    """The text between the lines of one part and those of the next in merged output."""
    sha256: str
    """The SHA-256 of the whole file, as hexadecimal digits."""

    @classmethod
    def of(cls, path: str | Path, header: bytes, between: bytes = b"") -> LinesFile:
        """Read and describe a file, with the header and the separator that merging needs."""
        digest = hashlib.sha256()
        size = 0
        start = b""
        with Path(path).open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                # Headers are far shorter than a chunk.
                start = start or chunk[: len(header)]
                digest.update(chunk)
                size += len(chunk)
        header_size = len(header) if start == header else 0
        return cls(size, header_size, between.decode(), digest.hexdigest())

    def check(self, path: Path) -> None:
        """Raise an InputError if a file cannot be read, or has changed since it was written."""
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
        """Read the file without its header, in chunks.

        A chunk ends at the end of a line, except within lines that are longer than a chunk.
        """
        # The chunk that was read ends somewhere in a line, whose start waits for the next chunk.
        with path.open("rb") as file:
            file.seek(self.header)
            line_start = b""
            while chunk := file.read(CHUNK_BYTES):
                end = chunk.rfind(b"\n") + 1 or len(chunk)
                yield line_start + chunk[:end]
                line_start = chunk[end:]
            if line_start:
                yield line_start


@dataclass(frozen=True, eq=False)
class PartRecord:
    """The result of one part of a run. ``str`` returns its record, a line of JSON.

    Parameters
    ----------
    identity
        The identity of the run. Its options contain ``tasks`` and ``parts``, the numbers of tasks
        and parts of the run.
    number
        The number of the part, from 1.
    tasks
        The tasks of the part: ranges of task numbers, with step 1, none empty.
    found
        The number of solutions; or, for each cell and digit, the number of solutions with that
        digit in that cell, object (cells, n); or the output file.
    stats
        The work done, as JSON. Those of all parts add up.
    place
        The place from which the board was read, as JSON.
    """

    identity: Identity
    number: int
    tasks: tuple[range, ...]
    found: int | NDArray[Any] | LinesFile
    stats: Mapping[str, Any] = field(default_factory=dict)
    place: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parts(self) -> int:
        """The number of parts of the run."""
        return int(self.identity.options["parts"])

    def __repr__(self) -> str:
        return f"<PartRecord: part {self.number} of {self.parts} of {self.identity.command}>"

    def __str__(self) -> str:
        task_ranges = [[tasks.start, tasks.stop] for tasks in self.tasks]
        # Numbers of solutions are written as text: many readers of JSON round large integers.
        if isinstance(self.found, LinesFile):
            results: dict[str, Any] = {"lines": asdict(self.found)}
        elif isinstance(self.found, np.ndarray):
            rows = [[decimal_digits(number) for number in row] for row in self.found.tolist()]
            results = {"partial": rows}
        else:
            results = {"partial": decimal_digits(self.found)}
        record = {
            "kind": KIND,
            "schema": SCHEMA,
            "part": {"number": self.number, "of": self.parts, "tasks": task_ranges},
            **results,
            "digest": self.identity.digest,
            "identity": json.loads(self.identity.json),
            "stats": dict(self.stats),
            "place": dict(self.place),
        }
        return json.dumps({**record, "seal": compute_seal(record)})

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
            is_record = isinstance(record, dict) and record.get("kind") == KIND
        except (ValueError, TypeError, RecursionError):
            # A ValueError may also mean that Python refuses a number of too many digits.
            is_record = False
        if not is_record:
            raise InputError("no record of a part")
        if record.get("schema") != SCHEMA:
            schema = described(record.get("schema"))
            raise InputError(f"a record of another version of gpusudoku: schema {schema}")
        try:
            if record["seal"] != compute_seal(record):
                raise ValueError("it was changed")
            results = _parse_results(record)
            identity = Identity.parse(json.dumps(record["identity"]))
            part = record["part"]
            tasks = tuple(range(start, stop) for start, stop in part["tasks"])
            return cls(identity, part["number"], tasks, results, record["stats"], record["place"])
        except DAMAGE_ERRORS as error:
            # Only ValueErrors of this package have a message that says what is wrong.
            reason = str(error) if type(error) is ValueError else "something is missing"
            raise InputError(f"a damaged record of a part: {reason}") from None


def _parse_results(record: Mapping[str, Any]) -> int | NDArray[Any] | LinesFile:
    """Read the results of a part from its record."""
    if "lines" in record:
        return LinesFile(**record["lines"])
    partial = record["partial"]
    if isinstance(partial, list):
        return np.array([[_parse_number(text) for text in row] for row in partial], object)
    return _parse_number(partial)


class PartFile(NamedTuple):
    """A part that was read from a file."""

    name: str
    """The file that contains its record."""
    record: PartRecord
    lines: Path | None
    """Its output file, if it has one."""


def record_path(path: str | Path) -> Path:
    """Return the path of the record of an output file."""
    return Path(f"{path}{ENDING}")


def read_parts(names: Iterable[str]) -> Iterator[PartFile]:
    """Read the parts in some files. A file that is named twice is read once.

    A file contains records, one a line; or it is an output file, whose record is in a file next to
    it; or it is a run file.
    """
    paths_read = set[str]()
    for name in names:
        try:
            path = Path(name)
            if record_path(name).is_file():
                path = record_path(name)
            real_path = os.path.realpath(path)
            # An output file and its record are the same part, which may be named twice, too.
            if real_path not in paths_read:
                paths_read.add(real_path)
                yield from _parts_in(path)
        except OSError as error:
            raise InputError(f"{name}: {error.strerror}, expected a file of a part") from None
        except ValueError as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{name!r}: no name of a file") from None


def _parts_in(path: Path) -> Iterator[PartFile]:
    """Read the parts in a file of records or in a run file."""
    record_count = 0
    with path.open("rb") as file:
        if file.peek(16).startswith(b"SQLite format 3\0"):
            yield _part_of_run(path)
            return
        # Lines are read up to a limit: the file may be anything.
        lines = iter(lambda: file.readline(MAX_RECORD_BYTES), b"")
        for line_number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                if len(line) == MAX_RECORD_BYTES:
                    raise InputError("no record of a part: the line is too long")
                record = PartRecord.parse(line)
            except InputError as error:
                # A file without JSON may be an output file, and its record is missing.
                hint = "" if line.startswith(b"{") else f", and {record_path(path)} is not there"
                raise InputError(f"{path}:{line_number}: {error}{hint}") from None
            output_path = None
            if isinstance(record.found, LinesFile) and path.name.endswith(ENDING):
                output_path = Path(str(path).removesuffix(ENDING))
            yield PartFile(str(path), record, output_path)
            record_count += 1
    if not record_count:
        raise InputError(f"{path}: no record of a part")


def _part_of_run(path: Path) -> PartFile:
    """Read the part in a run file."""
    from gpusudoku.runs.store import read_run  # imported lazily: SQLite takes a moment to load

    run = read_run(path)
    if run.record is None:
        hint = f"'gpusudoku resume {path}' continues the run"
        raise InputError(f"{path}: holds no finished part: {hint}")
    output_path = None
    if run.state.position is not None:
        output_path = Path(run.state.position.notes[OUTPUT])
        if not output_path.exists():  # both files may have been moved together
            output_path = path.with_name(output_path.name)
    return PartFile(str(path), PartRecord.parse(run.record), output_path)


def compute_seal(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record without its seal. It shows damage, but proves no origin."""
    facts = {name: value for name, value in record.items() if name != "seal"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def in_order(parts: Iterable[PartFile]) -> list[PartFile]:
    """Sort parts by number.

    Raises
    ------
    InputError
        If they are not all parts of one run, each once.
    """
    by_number = _by_number(parts)
    if not by_number:
        raise InputError("no parts, expected all of a run")
    start_part = next(iter(by_number.values()))
    try:
        part_count = start_part.record.parts
        missing = [str(number) for number in range(1, part_count + 1) if number not in by_number]
        if missing:
            _refuse_missing(missing, part_count)
        ordered = [by_number[number] for number in sorted(by_number)]
        _check_tasks(ordered)
    except DAMAGE_ERRORS as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{start_part.name}: a damaged record of a part") from None
    return ordered


def _by_number(parts: Iterable[PartFile]) -> dict[int, PartFile]:
    """Map the numbers of parts to the parts; refuse other runs and parts that occur twice."""
    by_number: dict[int, PartFile] = {}
    start_part: PartFile | None = None
    for part in parts:
        start_part = start_part or part
        difference = start_part.record.identity.difference(part.record.identity)
        if difference is not None:
            raise InputError(f"{part.name}: of another run than {start_part.name}: {difference}")
        number = part.record.number
        if same_part := by_number.get(number):
            raise InputError(
                f"{same_part.name} and {part.name}: both are part {number} of {part.record.parts}"
            )
        by_number[number] = part
    return by_number


def _refuse_missing(missing: list[str], part_count: int) -> NoReturn:
    listed = ", ".join(missing[:MAX_NAMED])
    if len(missing) > MAX_NAMED:
        listed += ", ..."
    if len(missing) == 1:
        raise InputError(f"part {listed} of {part_count} is missing")
    raise InputError(f"parts {listed} of {part_count} are missing")


def _check_tasks(parts: list[PartFile]) -> None:
    """Check that the parts have all tasks of their run, each once: else a record was changed."""
    task_count = int(parts[0].record.identity.options["tasks"])
    task_ranges = sorted(
        (tasks.start, tasks.stop, part.name) for part in parts for tasks in part.record.tasks
    )
    end = 0
    previous_name = ""
    for start, stop, name in task_ranges:
        if start < end:
            raise InputError(f"{previous_name} and {name}: both have task {start}")
        if start > end:
            raise InputError(f"{name}: task {end} is in no part")
        end = stop
        previous_name = name
    if end != task_count:
        raise InputError(f"task {end} is in no part")


def _parse_number(text: str) -> int:
    """Read a number of any size; ``int`` refuses one of more than 4300 digits."""
    if not re.fullmatch("[0-9]+", text):
        raise ValueError("its partial result is no number")
    return int(Decimal(text))
