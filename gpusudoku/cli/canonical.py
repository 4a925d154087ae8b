"""``gpusudoku canonical`` and ``gpusudoku isomorphic``: boards and their classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.board.batch import Batch
from gpusudoku.cli.completing import complete_boards
from gpusudoku.cli.options import (
    boards_argument,
    command_facts,
    form_options,
    jobs_option,
    output_file,
    own_option,
    reading,
)
from gpusudoku.errors import InputError
from gpusudoku.formats import FORMATS, line_buffer
from gpusudoku.pipeline.messages import naming, note, several
from gpusudoku.pipeline.records import FORMS as RECORDS
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import InputOptions, OutputOptions
from gpusudoku.pipeline.source import Source, place_of, sole_board
from gpusudoku.pipeline.text_forms import PuzzleLines
from gpusudoku.results import BadBoard

if TYPE_CHECKING:
    from gpusudoku.puzzles.canonical import CanonicalBlock, Transformation

own = own_option("canonical")

MAP = ("transposed", "rows", "columns", "digits")
"""The fields of a transformation."""


@click.command()
@boards_argument
@own(
    "--automorphisms",
    is_flag=True,
    help="Add how many transformations leave the board as it is.",
)
@own(
    "--map",
    "with_map",
    is_flag=True,
    help="Add a transformation that makes the form: transposed or not, then which row, and which"
    " column, of the board comes first, second, ..., and what the digits 1, 2, ... become.",
)
@own(
    "--dedupe",
    is_flag=True,
    help="Write the form of each class once, where it first comes: about 130 bytes of memory each.",
)
@form_options(
    "canonical",
    (*FORMATS, "jsonl"),
    "How to write forms; csv, tsv and jsonl have the board, too.  [default: line]",
)
@output_file("canonical")
@jobs_option
@reading
def canonical(
    boards: tuple[str, ...],
    reading: InputOptions,
    automorphisms: bool,
    with_map: bool,
    dedupe: bool,
    jobs: int | None,
    **given: Any,
) -> None:
    """Rearrange every BOARD to its canonical form.

    The form is the least board that relabelling digits, permuting rows in bands, bands, columns in
    stacks, and stacks, and transposing can make, read row by row, empty cells first: equivalent
    boards have the same one, whether they have one solution or many. A batch has a line a board,
    an empty one for a board without a form, and with --keep-going for one that cannot be read.

    \b
    Examples:
      gpusudoku canonical puzzle.txt
      gpusudoku canonical puzzles.txt --dedupe -o classes.txt
      gpusudoku canonical puzzles.txt --automorphisms --map --format csv
    """
    from gpusudoku.jobs.cores import usable_cores
    from gpusudoku.puzzles.canonical import Classes, canonical_batches

    command = command_facts()
    settings = OutputOptions.take(given, command, errors=reading.keep_going and not dedupe)
    run = Run(command, boards, reading, settings)
    writer = FormWriter(settings.form or "line", run.source, automorphisms, with_map)
    work = partial(canonical_batches, threads=jobs or usable_cores())
    classes = Classes()
    with run.open(writer), run.blocks(work) as blocks:
        for block in blocks:
            if isinstance(block, BadBoard):
                run.write_bad(b"" if dedupe else writer.bad(block))
                continue
            number = len(block)
            for index, error in block.errors.items():
                run.source.unanswered(f"{place_of(block.boards, index)}{error}")
            if dedupe:
                block = block.chosen(classes.new(block))
            run.write(writer.text(block))
            run.done(boards=number, count=number)
        if dedupe and not run.single:
            found = "1 class" if len(classes) == 1 else f"{len(classes):,} classes"
            note(f"{found} in {several(run.boards, 'board')}")


@click.command()
@click.argument("board", metavar="A", shell_complete=complete_boards)
@click.argument("other", metavar="B", shell_complete=complete_boards)
@own_option("isomorphic")(
    "--map",
    "with_map",
    is_flag=True,
    help="Add a transformation that makes B of A, as that of 'gpusudoku canonical --map'.",
)
@reading
def isomorphic(board: str, other: str, reading: InputOptions, with_map: bool) -> None:
    """Say whether two boards, A and B, can be rearranged to each other: yes or no.

    The transformations are those of 'gpusudoku canonical'.

    \b
    Examples:
      gpusudoku isomorphic one.txt other.txt
      gpusudoku isomorphic one.txt other.txt --map
    """
    from gpusudoku.puzzles.canonical import canonical as form_of

    if board == other == "-":
        raise InputError("standard input cannot be both boards")
    forms = []
    for name in (board, other):
        batch = sole_board(name, Source([name], reading, one=True))
        with naming(place_of(batch, 0)):
            forms.append(form_of(batch[0]))
    found = forms[0].to(forms[1])
    fields = [] if found is None or not with_map else _as_words(found)
    click.echo(" ".join(["no" if found is None else "yes", *fields]))


def _as_lists(found: Transformation) -> list[Any]:
    """Return the values of ``MAP``, with numbers from 1."""
    rows, columns = ([i + 1 for i in lines] for lines in (found.rows, found.columns))
    return [found.transposed, rows, columns, [*found.digits]]


def _lists(found: Transformation) -> list[str]:
    """Return the lists of numbers as texts."""
    return [",".join(map(str, each)) for each in _as_lists(found)[1:]]


def _as_texts(found: Transformation) -> list[str]:
    """Write them for tables."""
    return [str(found.transposed).lower(), *_lists(found)]


def _as_words(found: Transformation) -> list[str]:
    """Write them for lines."""
    return ["yes" if found.transposed else "no", *_lists(found)]


class FormWriter(PuzzleLines):
    """Writes canonical forms; records have the board, too."""

    def __init__(self, form: str, source: Source, automorphisms: bool, with_map: bool) -> None:
        if form not in ("line", *RECORDS) and (automorphisms or with_map):
            raise InputError(f"--format {form} has no place for --automorphisms and --map")
        columns = ["canonical"] + ["automorphisms"] * automorphisms + [*MAP] * with_map
        super().__init__(form, source, [*columns, *["error"] * source.gives_errors])
        self._automorphisms = automorphisms
        self._map: Callable[[Transformation], Sequence[Any]] | None = None
        if with_map:
            self._map = {"line": _as_words, "jsonl": _as_lists}.get(form, _as_texts)

    def text(self, block: CanonicalBlock) -> bytes | memoryview:
        """Write forms as whole lines; a board without one has an empty line, or no values."""
        errors = block.errors
        if self._form != "line":
            return b"".join(self.texts(Batch(block.boards.geometry, block.forms[block.ties > 0])))
        lines = line_buffer(block.forms)
        if self._records is None and not (self._automorphisms or self._map or errors):
            return lines
        columns: list[list[Any]] = [bytes(lines).decode().splitlines()]
        if self._automorphisms:
            columns.append(block.automorphisms())
        if self._map:
            fields = map(self._map, block.transformations())
            columns += map(list, zip(*fields, strict=True)) if len(block) else [[]] * len(MAP)
        if self._records is None:
            rows = (" ".join(map(str, row)) for row in zip(*columns, strict=True))
            gap = self._gap.decode()
            return "".join(gap if i in errors else f"{r}\n" for i, r in enumerate(rows)).encode()
        for column in columns:
            for index in errors:
                column[index] = None
        columns.append([str(errors.get(i, "")) for i in range(len(block))])
        return self._records.text(block.boards, dict(zip(self._columns, columns, strict=False)))
