"""``gpusudoku canonical`` and ``gpusudoku isomorphic``: boards and their classes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.completing import complete_boards
from gpusudoku.cli.options import OwnOptions, boards_argument, command_facts, jobs_option, reading
from gpusudoku.errors import InputError
from gpusudoku.formats import FORMATS
from gpusudoku.pipeline.messages import naming, note, several
from gpusudoku.pipeline.puzzle_forms import as_word, canonical_writer, map_values
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import InputOptions, OutputOptions
from gpusudoku.pipeline.source import Source, place_of, sole_board
from gpusudoku.results import BadBoard

if TYPE_CHECKING:
    pass

own = OwnOptions("canonical")


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
@own.forms(
    (*FORMATS, "jsonl"),
    "How to write forms; csv, tsv and jsonl have the board, too.  [default: line]",
)
@own.output()
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
    from gpusudoku.jobs.threads import usable_cores
    from gpusudoku.puzzles.canonical import Classes, canonical_batches

    command = command_facts()
    settings = OutputOptions.take(given, command, errors=reading.keep_going and not dedupe)
    run = Run(command, boards, reading, settings)
    form = settings.form or "line"
    writer = canonical_writer(form, run.source, automorphisms=automorphisms, with_map=with_map)
    work = partial(canonical_batches, threads=jobs or usable_cores())
    classes = Classes()
    with run.open(writer.header), run.blocks(work) as blocks:
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
@OwnOptions("isomorphic")(
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
    fields = [] if found is None or not with_map else map(as_word, map_values(found))
    click.echo(" ".join(["no" if found is None else "yes", *fields]))
