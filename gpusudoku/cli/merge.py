"""``gpusudoku merge``: what all parts of a run together say, as one run would have said it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.messages import quietly
from gpusudoku.cli.options import OutputOptions, output_file, quiet_option
from gpusudoku.cli.output import Output
from gpusudoku.cli.parts import placed
from gpusudoku.cli.summary import Ending
from gpusudoku.errors import GpusudokuError, InputError
from gpusudoku.runs.identity import board_of_identity
from gpusudoku.runs.parts import files
from gpusudoku.runs.parts.records import LinesFile, PartRecord, in_order

if TYPE_CHECKING:
    from gpusudoku.board.batch import Batch

Named = Sequence[tuple[str, PartRecord]]
"""Parts in their order, each with the name of its file."""


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_files)
@output_file("merge")
@quiet_option
def merge(names: tuple[str, ...], output: str | None, force: bool, quiet: bool) -> None:
    """Join all parts of a run: print what the whole command would have printed.

    \b
    A FILE is one of these:
      records  of parts, one a line, as "count BOARD --part I/N" and
               "shares BOARD --part I/N" print them
      lines    that a command wrote with --part and --output; their record is in
               a file beside it, whose name ends in .part.json

    The order of files does not matter. Parts that are missing, overlap, have changed, or are of
    another board, option or version are refused. The closing line of a batch and the exit status
    are those of the whole command.

    \b
    Examples:
      gpusudoku count board.txt --part 1/2 > part1.json
      gpusudoku count board.txt --part 2/2 > part2.json
      gpusudoku merge part1.json part2.json
      gpusudoku merge parts/*.json -o count.txt
      gpusudoku merge part*.txt -o solutions.txt

    \b
    A job array of 100 jobs in Slurm, and on one machine, 4 at a time:
      I=$SLURM_ARRAY_TASK_ID
      gpusudoku count board.txt --part $I/100 > part$I.json
      seq 100 | xargs -P 4 -I% gpusudoku sample board.txt -n 1000000 --seed 7 \\
        -j 1 --part %/100 -o part%.txt
    """
    parts = in_order(files.read_parts(names))
    kinds = {type(part.found) for _, part in parts}
    if len(kinds) > 1:
        raise InputError(f"{parts[0][0]}: a damaged record of a part: others have other results")
    if kinds != {LinesFile}:
        text = _text(parts, output)
        with Output(output, force, [name for name, _ in parts]) as out, out.telling_lines():
            out.write(text)
        return
    header, inputs = _checked(parts)
    ending = Ending.of_parts([part.stats for _, part in parts])
    with Output(output, force, inputs) as out, out.telling_lines():
        out.write(header)
        begun = False
        for name, part in parts:
            lines = part.found
            assert isinstance(lines, LinesFile)
            if begun and lines.bytes > lines.header:
                out.write(lines.between.encode())
            for piece in files.pieces_after(files.lines_file(name), lines.header):
                begun = True
                out.write(piece)
    with quietly(quiet):
        ending.show()


def _checked(parts: Named) -> tuple[bytes, list[str]]:
    """Check that no file has changed; return the header of all lines, and the files."""
    header, names, first = b"", list[str](), ""
    for name, part in parts:
        path, lines = files.lines_file(name), part.found
        assert isinstance(lines, LinesFile)
        files.check_lines(path, lines)
        names += [name, str(path)]
        if lines.bytes == 0:
            continue  # it may have been too early for a header
        with path.open("rb") as file:
            found = file.read(lines.header)
        first, header = (first, header) if first else (str(path), found)
        if found != header:
            raise InputError(f"{path}: has another header than {first}")
    return header, names


def _text(parts: Named, output: str | None) -> bytes:
    """Write the result of one board."""
    first = parts[0][1]
    command = first.identity.command
    try:
        boards = placed(board_of_identity(first.identity.boards), first.place)
        if command == "shares":
            return _shares(boards, parts, output)
        if command == "count":
            return _count(boards, parts, first.identity.options)
        raise InputError(f"{command} has no such parts")
    except (GpusudokuError, TypeError, ValueError, KeyError) as error:
        why = error if isinstance(error, GpusudokuError) else "a damaged record of a part"
        raise InputError(f"{parts[0][0]}: {why}") from None


def _count(boards: Batch, parts: Named, options: Mapping[str, Any]) -> bytes:
    """Write the count of which these are all parts, with its statistics added up."""
    from gpusudoku.cli.records import FORMS
    from gpusudoku.cli.writers import AnswerRecords, AnswerWriter, PlainCounts
    from gpusudoku.results import ResultBlock
    from gpusudoku.runs.parts.counts import merged

    assert boards.places is not None  # ``placed`` gave them
    form = options["format"] if options["format"] in FORMS else None
    asked = OutputOptions(form, errors=options["keep_going"] is True)
    writer: AnswerWriter = PlainCounts(True)
    if form is not None:
        writer = AnswerRecords.of(asked, boards.places.origin(0), single=True)
    results = ResultBlock.of(boards, merged(part for _, part in parts), None)
    return writer.header() + writer.text(results)


def _shares(boards: Batch, parts: Named, output: str | None) -> bytes:
    """Write the shares of all parts, added up."""
    from gpusudoku.cli.share_forms import Shares
    from gpusudoku.cli.shares import coloured, share_writer
    from gpusudoku.orders.shares import check_shares
    from gpusudoku.runs.parts.records import added_shares

    options: Mapping[str, Any] = parts[0][1].identity.options
    board, halving = boards[0], options["halving"]
    shares = added_shares([part for _, part in parts], board)
    check_shares(shares, board.geometry, int(shares[0].sum()))
    writer = share_writer(
        options["format"], halving, single=True, coloured=coloured("auto", output)
    )
    return writer.text(Shares(boards, shares))
