"""``gpusudoku merge``: what all parts of a run together say, as one run would have said it."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.options import OwnOptions, quiet_option
from gpusudoku.errors import GpusudokuError, InputError
from gpusudoku.pipeline.identity import placed
from gpusudoku.pipeline.messages import quietly
from gpusudoku.pipeline.output import Output
from gpusudoku.pipeline.settings import OutputOptions, form_of_output
from gpusudoku.pipeline.summary import Ending
from gpusudoku.runs.records import DAMAGED, LinesFile, PartFile, in_order, read_parts


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_files)
@OwnOptions("merge").output()
@quiet_option
def merge(names: tuple[str, ...], output: str | None, force: bool, quiet: bool) -> None:
    """Join all parts of a run: print what the whole command would have printed.

    \b
    A FILE is one of these:
      records  of parts, one a line, as "count BOARD --part I/N" and
               "shares BOARD --part I/N" print them
      lines    that a command wrote with --part and --output; their record is in
               a file beside it, whose name ends in .part.json
      runs     of finished parts, as --part with --checkpoint keeps them; the
               lines of one are in the file that its command wrote

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
    parts = in_order(read_parts(names))
    if len({type(part.record.found) for part in parts}) > 1:
        raise InputError(f"{parts[0].name}: a damaged record of a part: others have other results")
    has_lines = isinstance(parts[0].record.found, LinesFile)
    command = parts[0].record.identity.command
    options = parts[0].record.identity.options
    form = options.get("format") or ("jsonl" if command == "shares" and has_lines else "text")
    form_of_output(output, None, [form], has_text=form == "text")
    if not has_lines:
        text = _text(parts, output)
        with Output(output, force, [part.name for part in parts]) as out, out.telling_lines():
            out.write(text)
        return
    header, inputs = _checked(parts)
    ending = Ending.of_parts([part.record.stats for part in parts])
    with Output(output, force, inputs) as out, out.telling_lines():
        out.write(header)
        begun = False
        for part in parts:
            lines = part.record.found
            assert isinstance(lines, LinesFile)
            assert part.lines is not None
            if begun and lines.size > lines.header:
                out.write(lines.between.encode())
            for piece in lines.pieces(part.lines):
                begun = True
                out.write(piece)
    with quietly(quiet):
        ending.show()


def _checked(parts: list[PartFile]) -> tuple[bytes, list[str]]:
    """Check that no file has changed; return the header of all lines, and the files."""
    header = b""
    names = list[str]()
    first = ""
    for name, record, path in parts:
        lines = record.found
        assert isinstance(lines, LinesFile)
        if path is None:
            raise InputError(f"{name}: the lines of this part are not beside it: keep both files")
        lines.check(path)
        names += [name, str(path)]
        if lines.size == 0:
            continue  # it may have been too early for a header
        with path.open("rb") as file:
            found = file.read(lines.header)
        first, header = (first, header) if first else (str(path), found)
        if found != header:
            raise InputError(f"{path}: has another header than {first}")
    return header, names


def _text(parts: list[PartFile], output: str | None) -> bytes:
    """Write the count or the shares of one board, of which these are all parts."""
    first = parts[0].record
    options: Any = first.identity.options
    try:
        boards = placed(first.identity.boards, first.place)
        if first.identity.command == "count":
            from gpusudoku.pipeline.text_forms import count_writer
            from gpusudoku.results import ResultBlock
            from gpusudoku.runs.counting import merged

            assert boards.places is not None  # ``placed`` gave them
            settings = OutputOptions(options["format"], errors=options["keep_going"])
            writer = count_writer(settings, boards.places.source(0), single=True)
            count = merged([part.record for part in parts])
            return writer.header() + writer.text(ResultBlock.of(boards, count, None))
        from gpusudoku.cli.shares import style_of
        from gpusudoku.enumeration.in_memory import check_shares
        from gpusudoku.pipeline.share_forms import Shares, share_writer

        board = boards[0]
        shares = np.zeros((board.geometry.cells, board.n), object)
        for part in parts:
            found = np.asarray(part.record.found)
            if found.shape != shares.shape:
                raise ValueError("no shares of this board")
            shares += found
        check_shares(shares, board.geometry, int(shares[0].sum()))
        form = share_writer(
            options["format"], options["halving"], single=True, style=style_of("auto", output)
        )
        return bytes(form.text(Shares(boards, shares)))
    except (GpusudokuError, *DAMAGED) as error:
        why = error if isinstance(error, GpusudokuError) else "a damaged record of a part"
        raise InputError(f"{parts[0].name}: {why}") from None
