"""Writers of puzzles: random and minimal puzzles, neighbours, and canonical forms.

Every writer has the ``names`` of its columns, for the header of csv and tsv, and a dict ``columns``
with their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.board.geometry import Geometry
from gpusudoku.errors import InputError
from gpusudoku.formats import line_buffer
from gpusudoku.pipeline.records import (
    FORMS,
    Choices,
    RecordWriter,
    TableWriter,
    as_list,
    board_column,
    with_gaps,
)
from gpusudoku.pipeline.source import Source
from gpusudoku.pipeline.text_forms import Writer, board_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpusudoku.puzzles.canonical import CanonicalBlock, Transformation
    from gpusudoku.puzzles.generate import PuzzleBlock
    from gpusudoku.puzzles.minimise import MinimisedBlock
    from gpusudoku.puzzles.neighbours import NeighbourBlock

MAP = ("transposed", "rows", "columns", "digits")
"""The columns that describe a transformation."""


def puzzle_writer(form: str, *, weighted: bool) -> Writer:
    """Return the writer of random puzzles; ``text`` takes a block and the number of its batch.

    If the puzzles are ``weighted``, records have a weight and a batch, and lines end with a tab and
    the weight.
    """
    names = ["puzzle", "solution", "clues", "difficulty", "guesses", "seed", "number"]
    if weighted:
        names += ["weight", "batch"]
    table = TableWriter(form, names) if form in FORMS else None

    def text(block: PuzzleBlock, batch: int) -> bytes:
        if table is None:
            lines = board_texts(Batch(block.geometry, block.puzzles), form)
            if weighted:
                pairs = zip(lines, block.weights.tolist(), strict=True)
                lines = (b"%b\t%a\n" % (line.rstrip(), weight) for line, weight in pairs)
            return b"".join(lines)
        from gpusudoku.puzzles.difficulty import LEVELS

        levels, guesses = block.ratings
        columns = {
            "puzzle": board_column(block.puzzles),
            "solution": board_column(block.solutions),
            "clues": np.count_nonzero(block.puzzles, axis=1),
            "difficulty": Choices(LEVELS, levels),
            "guesses": guesses,
            "seed": str(block.seed),
            "number": block.numbers,
        }
        if weighted:
            columns |= {"weight": block.weights, "batch": batch}
        return table.rows({**columns, "box": str(block.geometry)})

    return Writer(text) if table is None else Writer(text, table.header)


def minimal_writer(form: str, source: Source, *, seeded: bool) -> Writer:
    """Return the writer of minimal puzzles; records have the input puzzle and the solution, too."""
    names = ["minimal", "solution", "clues", "difficulty", "guesses"]
    if seeded:
        names.append("seed")
    if source.gives_errors:
        names.append("error")
    records = RecordWriter(form, source.input_source, names) if form in FORMS else None
    gap = _gap_of(form, source)

    def text(block: MinimisedBlock) -> bytes:
        from gpusudoku.puzzles.difficulty import LEVELS, rate_batch
        from gpusudoku.solving import not_one

        is_unique = block.numbers == 1  # other boards have no minimal puzzle
        puzzles = block.boards.with_cells(block.puzzles).select(is_unique)
        if records is None:
            return _join_with_gaps(board_texts(puzzles, form), is_unique, gap)
        levels, guesses = rate_batch(puzzles)
        columns = {
            "minimal": _puzzle_column(puzzles),
            "solution": board_column(block.solutions[is_unique]),
            "clues": np.count_nonzero(puzzles.cells, axis=1),
            "difficulty": Choices(LEVELS, levels),
            "guesses": guesses,
        }
        columns = {name: with_gaps(column, is_unique) for name, column in columns.items()}
        # Boards without a minimal puzzle have these columns, too.
        if seeded:
            columns["seed"] = str(block.seed)
        if source.gives_errors:
            columns["error"] = [str(not_one(number) or "") for number in block.numbers.tolist()]
        return records.text(block.boards, columns)

    return _board_writer(text, records, gap)


def canonical_writer(form: str, source: Source, *, automorphisms: bool, with_map: bool) -> Writer:
    """Return the writer of canonical forms; records have the board, too."""
    names = ["canonical"]
    if automorphisms:
        names.append("automorphisms")
    if with_map:
        names += MAP
    has_details = automorphisms or with_map
    if source.gives_errors:
        names.append("error")
    records = RecordWriter(form, source.input_source, names) if form in FORMS else None
    if records is None and form != "line" and has_details:
        raise InputError(f"--format {form} has no place for --automorphisms and --map")
    gap = _gap_of(form, source)

    def text(block: CanonicalBlock) -> bytes | memoryview:
        has_form = block.ties > 0  # the search for a canonical form may be too expensive
        if form == "line" and not has_details and has_form.all():
            return line_buffer(block.forms)
        finished = block if has_form.all() else block.select(has_form)
        if records is None and not has_details:
            forms = Batch(block.boards.geometry, finished.forms)
            return _join_with_gaps(board_texts(forms, form), has_form, gap)
        columns: dict[str, Any] = {"canonical": board_column(finished.forms)}
        if automorphisms:
            columns["automorphisms"] = finished.automorphisms()
        if with_map:
            maps = map(map_values, finished.transformations())
            # If no board of the block has a form, there are no values, and no columns.
            columns |= zip(MAP, map(list, zip(*maps, strict=True)), strict=False)
        if records is None:
            columns_of_words = [map(as_word, as_list(column)) for column in columns.values()]
            rows_of_words = zip(*columns_of_words, strict=True)
            lines = (f"{' '.join(words)}\n".encode() for words in rows_of_words)
            return _join_with_gaps(lines, has_form, gap)
        columns = {name: with_gaps(column, has_form) for name, column in columns.items()}
        if source.gives_errors:
            columns["error"] = [str(block.errors.get(index, "")) for index in range(len(block))]
        return records.text(block.boards, columns)

    return _board_writer(text, records, gap)


def map_values(transformation: Transformation) -> list[bool | list[int]]:
    """Return the values of the columns ``MAP``; rows, columns and digits are numbered from 1."""
    rows = [row + 1 for row in transformation.rows]
    columns = [column + 1 for column in transformation.columns]
    return [transformation.transposed, rows, columns, [*transformation.digits]]


def as_word(value: Any) -> str:
    """Write the value of a column as a word on a line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def neighbour_writer(form: str, source: Source) -> Writer:
    """Return the writer of neighbours; records have the puzzle and the changed clues, too."""
    if form not in FORMS:
        return Writer(lambda block: b"".join(board_texts(block.neighbours, form)))
    records = RecordWriter(form, source.input_source, ["neighbour", "removed", "added"])

    def text(block: NeighbourBlock) -> bytes:
        geometry = block.boards.geometry
        old_cells = block.boards.cells[block.index]
        changed = old_cells != block.cells
        columns = {
            "neighbour": _puzzle_column(block.neighbours),
            "removed": _clues(geometry, np.where(changed, old_cells, 0)),
            "added": _clues(geometry, np.where(changed, block.cells, 0)),
        }
        return records.text(block.boards, columns, block.index)

    return Writer(text, records.header)


def _clues(geometry: Geometry, rows: NDArray[np.uint8]) -> list[str]:
    """Name the clues of every row, uint8 (k, cells), such as ``r1c1=5 r2c2=3``."""
    names = [geometry.cell_name(cell) for cell in range(geometry.cells)]
    clues: list[list[str]] = [[] for _ in range(len(rows))]
    indices, cells = np.nonzero(rows)
    digits = rows[indices, cells].tolist()
    for index, cell, digit in zip(indices.tolist(), cells.tolist(), digits, strict=True):
        clues[index].append(f"{names[cell]}={digit}")
    return [" ".join(words) for words in clues]


def _puzzle_column(puzzles: Batch) -> NDArray[np.bytes_] | list[str]:
    """Return the lines of puzzles, which may have candidates, as a column."""
    return board_column(puzzles.cells) if puzzles.candidates is None else [*map(str, puzzles)]


def _board_writer(
    text: Callable[..., bytes | memoryview], records: RecordWriter | None, gap: bytes
) -> Writer:
    """Return the writer of a command with a result, a record or a gap for every board."""
    if records is None:
        return Writer(text, bad=lambda board: gap)
    return Writer(text, records.header, bad=records.bad)


def _gap_of(form: str, source: Source) -> bytes:
    """Return the text for a board without a result: an empty line in a batch, else nothing."""
    return b"\n" if form == "line" and not source.single else b""


def _join_with_gaps(texts: Iterable[bytes], has_text: NDArray[np.bool_], gap: bytes) -> bytes:
    """Join the texts of the boards of a mask, bool (B), with a gap for each other board."""
    remaining_texts = iter(texts)
    return b"".join(next(remaining_texts) if is_set else gap for is_set in has_text.tolist())
