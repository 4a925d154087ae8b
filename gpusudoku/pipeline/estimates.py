"""The loop of ``count --estimate``, and its output."""

from __future__ import annotations

from contextlib import closing
from dataclasses import astuple

from gpusudoku.board.batch import Batch, InputSource
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Interrupted, TooExpensive
from gpusudoku.estimating import CountEstimate, SampleSums, iterate_estimates
from gpusudoku.jobs.watch import Progress
from gpusudoku.options import EstimateOptions, Options
from gpusudoku.pipeline.messages import print_note, several
from gpusudoku.pipeline.progress import ProgressLine
from gpusudoku.pipeline.records import RecordWriter, as_bytes
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.source import place_of
from gpusudoku.pipeline.text_forms import Writer

_SUMS = "sums"
"""The key of the fields of the ``SampleSums`` of the next board in ``Run.notes``."""


class EstimateLine(ProgressLine):
    """The progress line of an estimate."""

    def progress(self, progress: Progress) -> None:
        """Show the progress of an estimate."""
        self.share(progress.done, f"{several(progress.count, 'sample')}, {progress.seconds:,.0f} s")


def estimate_boards(run: Run, estimating: EstimateOptions, options: Options) -> None:
    """Estimate the number of solutions of all boards of a run, and write the estimates."""
    settings = run.settings
    writer = estimate_writer(settings.form, run.source.input_source, single=run.single)
    threads = CpuEngine(options.jobs).threads
    with run.open(writer.header, line=EstimateLine(), reports_boards=True):
        for board in run.source.singles():
            # A checkpoint has saved the sums of the board that the run was working on.
            sums = SampleSums(*run.notes.get(_SUMS, []))
            try:
                _estimate_board(run, board, writer, estimating, threads, sums)
            except TooExpensive as error:
                run.report_unanswered(board, error)
            run.notes.pop(_SUMS, None)
            run.add_finished(boards=1)


def _estimate_board(
    run: Run,
    board: Batch,
    writer: Writer,
    estimating: EstimateOptions,
    threads: int,
    sums: SampleSums,
) -> None:
    """Estimate the number of solutions of one board, and write the estimate.

    After an interrupt, the estimate from the samples so far is printed on stderr.
    """
    place = "" if run.single else place_of(board, 0)
    latest = None
    earlier_sums = astuple(sums)
    try:
        with closing(iterate_estimates(board[0], estimating, threads, sums)) as results:
            for estimate in results:
                latest = estimate
                # Without the last sample: a run that is resumed draws it again, and ends there.
                run.notes[_SUMS] = list(earlier_sums)
                earlier_sums = astuple(sums)
                run.add_finished()  # saves the notes if it is time for that
    except (KeyboardInterrupt, Interrupted):
        if latest is not None:
            run.line.clear()
            print_note(f"{place}{latest} after {several(latest.samples, 'sample')}")
        raise
    assert latest is not None
    if latest.estimate == 0:
        run.source.warn_conflicts(board)
    run.write(writer.text(board, latest))
    if run.settings.stats:
        samples = several(latest.samples, "sample")
        method = f"{samples} of random walks with splitting" if latest.samples else "a short search"
        print_note(f"{place}{method}, {threads} threads")
    if not latest.is_reliable:
        print_note(f"{place}the samples differ so much that the interval may be too narrow")


def estimate_writer(form: str | None, input_source: InputSource, *, single: bool) -> Writer:
    """Return the writer of estimates: records, ``BOARD:ESTIMATE``, or that of a single board."""
    names = ["estimate", "low", "high", "confidence", "samples", "seed", "is_reliable"]
    records = RecordWriter(form, input_source, names) if form is not None else None

    def text(board: Batch, estimate: CountEstimate) -> bytes | memoryview:
        if records is None:
            return as_bytes(f"{estimate}\n" if single else f"{board[0]}:{estimate}\n")
        fields = estimate.as_dict()
        return records.text(board, {name: [fields[name]] for name in names})

    return Writer(text) if records is None else Writer(text, records.header)
