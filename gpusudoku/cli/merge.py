"""``gpusudoku merge``: the results of all parts, as one run would have written them."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from gpusudoku.board.batch import Batch
from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.options import CommandOptions, quiet_option
from gpusudoku.errors import GpusudokuError, InputError
from gpusudoku.pipeline.identity import placed
from gpusudoku.pipeline.messages import quietly
from gpusudoku.pipeline.output import Output
from gpusudoku.pipeline.settings import OutputOptions, form_of_output
from gpusudoku.pipeline.summary import Ending
from gpusudoku.runs.records import DAMAGE_ERRORS, LinesFile, PartFile, in_order, read_parts


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="FILE...", shell_complete=complete_files)
@CommandOptions("merge").output()
@quiet_option
def merge(names: tuple[str, ...], output: str | None, force: bool, quiet: bool) -> None:
    """Join all parts of a run into the output of the whole command.

    \b
    A FILE is one of these:
      records  JSON lines that "count BOARD --part I/N" or
               "shares BOARD --part I/N" printed
      lines    the output file of a command with --part and --output; its record
               is in the same folder, in a file that ends in .part.json
      runs     the run file of a finished part with --part and --checkpoint; if
               the part wrote lines, they are in its output file

    Files may come in any order. Missing, overlapping or changed parts, and parts of different
    boards, options or versions, are refused. The exit status, and the summary of a batch, are
    those of the whole command.

    \b
    Examples:
      gpusudoku count board.txt --part 1/2 > part1.json
      gpusudoku count board.txt --part 2/2 > part2.json
      gpusudoku merge part1.json part2.json
      gpusudoku merge parts/*.json -o count.txt
      gpusudoku merge part*.txt -o solutions.txt

    \b
    A job array of 100 jobs in Slurm, and 100 parts on one machine, 4 at a time:
      I=$SLURM_ARRAY_TASK_ID
      gpusudoku count board.txt --part $I/100 > part$I.json
      seq 100 | xargs -P 4 -I% gpusudoku sample board.txt -n 1000000 --seed 7 \\
        -j 1 --part %/100 -o part%.txt
    """
    parts = in_order(read_parts(names))
    result_types = {type(part.record.found) for part in parts}
    if len(result_types) > 1:
        raise InputError(f"{parts[0].name}: a damaged record of a part: its results differ in type")

    has_lines = isinstance(parts[0].record.found, LinesFile)
    command = parts[0].record.identity.command
    options = parts[0].record.identity.options
    # The format in a record is null if --format was not given.
    default_form = "jsonl" if command == "shares" and has_lines else "text"
    form = options.get("format") or default_form
    form_of_output(output, None, [form], has_text=form == "text")  # refuses other endings
    if not has_lines:
        text = _merged_text(parts, output)
        with Output(output, force, [part.name for part in parts]) as out, out.reporting_lines():
            out.write(text)
        return
    header, inputs = _check_lines(parts)
    ending = Ending.of_parts([part.record.stats for part in parts])
    with Output(output, force, inputs) as out, out.reporting_lines():
        out.write(header)
        _write_lines(out, parts)
    with quietly(quiet):
        ending.show()


def _write_lines(out: Output, parts: list[PartFile]) -> None:
    """Write the lines of all parts, without their headers."""
    has_results = False
    for part in parts:
        lines = part.record.found
        assert isinstance(lines, LinesFile)
        assert part.lines is not None
        # Some formats have a separator between the results of two parts, if both have results.
        if has_results and lines.size > lines.header:
            out.write(lines.between.encode())
        for text in lines.pieces(part.lines):
            has_results = True
            out.write(text)


def _check_lines(parts: list[PartFile]) -> tuple[bytes, list[str]]:
    """Check that no file has changed; return the header of all lines, and the names of the files.

    Raises
    ------
    InputError
        If a file is missing or has changed, or if two files have different headers.
    """
    header = b""
    header_path = ""
    names = list[str]()
    for name, record, path in parts:
        lines = record.found
        assert isinstance(lines, LinesFile)
        if path is None:
            raise InputError(
                f"{name}: the output file of this part is missing: keep both in one folder"
            )
        lines.check(path)
        names += [name, str(path)]
        if lines.size == 0:
            continue  # a part without results may have no header
        with path.open("rb") as file:
            part_header = file.read(lines.header)
        if not header_path:
            header = part_header
            header_path = str(path)
        if part_header != header:
            raise InputError(f"{path}: has another header than {header_path}")
    return header, names


def _merged_text(parts: list[PartFile], output: str | None) -> bytes:
    """Return the text of the count or the shares of one board, from the records of all parts."""
    first_record = parts[0].record
    try:
        boards = placed(first_record.identity.boards, first_record.place)
        if first_record.identity.command == "count":
            return _count_text(parts, boards)
        return _shares_text(parts, boards, output)
    except (GpusudokuError, *DAMAGE_ERRORS) as error:
        reason = error if isinstance(error, GpusudokuError) else "a damaged record of a part"
        raise InputError(f"{parts[0].name}: {reason}") from None


def _count_text(parts: list[PartFile], boards: Batch) -> bytes:
    """Add the counts of all parts of one board, and write the sum."""
    from gpusudoku.pipeline.text_forms import count_writer
    from gpusudoku.results import ResultBlock
    from gpusudoku.runs.counting import merge_records

    options: Any = parts[0].record.identity.options
    assert boards.locations is not None  # ``placed`` sets them
    output_options = OutputOptions(options["format"], errors=options["keep_going"])
    writer = count_writer(output_options, boards.locations.source(0), single=True)
    count = merge_records([part.record for part in parts])
    return writer.header() + writer.text(ResultBlock.of(boards, count, None))


def _shares_text(parts: list[PartFile], boards: Batch, output: str | None) -> bytes:
    """Add the shares of all parts of one board, and write the sums."""
    from gpusudoku.cli.shares import style_of
    from gpusudoku.enumeration.in_memory import check_shares
    from gpusudoku.pipeline.share_forms import Shares, share_writer

    options: Any = parts[0].record.identity.options
    board = boards[0]
    sums = np.zeros((board.geometry.cells, board.n), object)
    for part in parts:
        part_shares = np.asarray(part.record.found)
        if part_shares.shape != sums.shape:
            raise ValueError("no shares of this board")  # reported as a damaged record
        sums += part_shares
    check_shares(sums, board.geometry, int(sums[0].sum()))
    style = style_of("auto", output)
    notes = dict[str, Any]()
    writer = share_writer(options["format"], options["halving"], True, style, lambda: notes)
    return bytes(writer.text(Shares(boards, sums)))
