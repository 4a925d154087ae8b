"""``gpusudoku canonical`` and ``gpusudoku isomorphic``: boards and their classes."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from gpusudoku.cli.completing import complete_boards
from gpusudoku.cli.options import (
    CommandOptions,
    boards_argument,
    command_facts,
    jobs_option,
    reading_options,
)
from gpusudoku.errors import InputError
from gpusudoku.formats import FORMATS
from gpusudoku.pipeline.messages import prefixing_errors, print_note, several
from gpusudoku.pipeline.puzzle_forms import as_word, canonical_writer, map_values
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import InputOptions, OutputOptions
from gpusudoku.pipeline.source import Source, place_of, sole_board
from gpusudoku.results import BadBoard

canonical_option = CommandOptions("canonical")


@click.command()
@boards_argument
@canonical_option(
    "--automorphisms",
    is_flag=True,
    help="Add the number of transformations that leave the board unchanged.",
)
@canonical_option(
    "--map",
    "with_map",
    is_flag=True,
    help="Add a transformation from the board to its form: whether it transposes the board, the"
    " order in which rows and columns are taken, and the new digits for 1, 2, ...",
)
@canonical_option(
    "--dedupe",
    is_flag=True,
    help="Write the form of each class only once. Takes about 130 bytes of memory per class.",
)
@canonical_option.forms(
    (*FORMATS, "jsonl"),
    "Format of canonical forms; csv, tsv and jsonl add the board.  [default: line]",
)
@canonical_option.output()
@jobs_option
@reading_options
def canonical(
    boards: tuple[str, ...],
    input_options: InputOptions,
    automorphisms: bool,
    with_map: bool,
    dedupe: bool,
    jobs: int | None,
    **params: Any,
) -> None:
    """Rearrange every BOARD to its canonical form.

    Two boards are equivalent if they can be transformed to each other by relabelling digits,
    permuting rows in bands, bands, columns in stacks, and stacks, and transposing. The canonical
    form is the first of all equivalent boards in ascending order, read row by row, an empty cell
    before all digits. It exists for boards with any number of solutions.

    A batch has one line per board. The line is empty if no form can be computed, or if the board
    cannot be read and --keep-going is given.

    \b
    Examples:
      gpusudoku canonical puzzle.txt
      gpusudoku canonical puzzles.txt --dedupe -o classes.txt
      gpusudoku canonical puzzles.txt --automorphisms --map --format csv
    """
    from gpusudoku.jobs.threads import usable_cores
    from gpusudoku.puzzles.canonical import Classes, canonical_batches

    command = command_facts()
    # With --dedupe, a line is a class, so a bad board has none.
    errors = input_options.keep_going and not dedupe
    output_options = OutputOptions.from_params(params, command, errors=errors)
    run = Run(command, boards, input_options, output_options)
    form = output_options.form or "line"
    writer = canonical_writer(form, run.source, automorphisms=automorphisms, with_map=with_map)
    work = partial(canonical_batches, threads=jobs or usable_cores())
    classes = Classes()
    with run.open(writer.header), run.blocks(work) as blocks:
        for block in blocks:
            if isinstance(block, BadBoard):
                run.write_bad(b"" if dedupe else writer.bad(block))
                continue
            board_count = len(block)
            for index, error in block.errors.items():
                run.source.report_unanswered(f"{place_of(block.boards, index)}{error}")
            if dedupe:
                # A board without a canonical form belongs to no class, and is left out.
                block = block.select(classes.new(block))
            run.write(writer.text(block))
            run.add_finished(boards=board_count, count=board_count)
        if dedupe and not run.single:
            class_count = "1 class" if len(classes) == 1 else f"{len(classes):,} classes"
            print_note(f"{class_count} in {several(run.boards, 'board')}")


@click.command()
@click.argument("board", metavar="A", shell_complete=complete_boards)
@click.argument("target", metavar="B", shell_complete=complete_boards)
@CommandOptions("isomorphic")(
    "--map",
    "with_map",
    is_flag=True,
    help="Add a transformation from A to B, as 'gpusudoku canonical --map' writes it.",
)
@reading_options
def isomorphic(board: str, target: str, input_options: InputOptions, with_map: bool) -> None:
    """Tell whether board A can be rearranged to board B: print yes or no.

    The transformations are those of 'gpusudoku canonical'.

    \b
    Examples:
      gpusudoku isomorphic one.txt other.txt
      gpusudoku isomorphic one.txt other.txt --map
    """
    from gpusudoku.puzzles.canonical import canonical as canonical_form_of

    if board == target == "-":
        raise InputError("standard input cannot be both boards")
    # Two boards are isomorphic if their canonical forms are equal.
    forms = []
    for name in (board, target):
        batch = sole_board(name, Source([name], input_options, expects_one=True))
        with prefixing_errors(place_of(batch, 0)):
            forms.append(canonical_form_of(batch[0]))
    transformation = forms[0].to(forms[1])
    if transformation is None:
        click.echo("no")
    else:
        map_words = map(as_word, map_values(transformation)) if with_map else ()
        click.echo(" ".join(["yes", *map_words]))
