"""The loop of ``count --estimate``, and its output."""

from __future__ import annotations

from gpusudoku.board.batch import Batch, InputSource
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Interrupted, TooExpensive
from gpusudoku.estimating import CountEstimate, ScaledNumber, estimates
from gpusudoku.jobs.watch import Progress
from gpusudoku.options import EstimateOptions, Options
from gpusudoku.pipeline.messages import print_note, several
from gpusudoku.pipeline.progress import ProgressLine
from gpusudoku.pipeline.records import RecordWriter, as_bytes
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.source import place_of
from gpusudoku.pipeline.text_forms import Writer

_SAMPLES = "samples"
"""The key of the samples of the next board in ``Run.notes``: mantissas with exponents."""


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
            # A checkpoint has saved the samples of the board that the run was working on.
            saved_samples = run.notes.get(_SAMPLES, [])
            samples: list[ScaledNumber] = [tuple(sample) for sample in saved_samples]
            try:
                _estimate_board(run, board, writer, estimating, threads, samples)
            except TooExpensive as error:
                run.report_unanswered(board, error)
            run.notes.pop(_SAMPLES, None)
            run.add_finished(boards=1)


def _estimate_board(
    run: Run,
    board: Batch,
    writer: Writer,
    estimating: EstimateOptions,
    threads: int,
    samples: list[ScaledNumber],
) -> None:
    """Estimate the number of solutions of one board, and write the estimate.

    After an interrupt, the estimate from the samples so far is printed on stderr.
    """
    place = "" if run.single else place_of(board, 0)
    latest = None
    try:
        for estimate in estimates(board[0], estimating, threads, samples):
            latest = estimate
            run.notes[_SAMPLES] = samples.copy()  # values of notes must not change
            run.add_finished()  # saves them if it is time for that
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
        samples_made = several(latest.samples, "sample")
        print_note(f"{place}{samples_made} of random walks with splitting, {threads} threads")
    if not latest.is_reliable:
        print_note(f"{place}the samples differ so much that the interval may be too narrow")


def estimate_writer(form: str | None, input_source: InputSource, *, single: bool) -> Writer:
    """Return the writer of estimates: records, ``BOARD:ESTIMATE``, or that of a single board."""
    names = ["estimate", "low", "high", "confidence", "samples", "seed"]
    records = RecordWriter(form, input_source, names) if form is not None else None

    def text(board: Batch, estimate: CountEstimate) -> bytes | memoryview:
        if records is None:
            return as_bytes(f"{estimate}\n" if single else f"{board[0]}:{estimate}\n")
        fields = estimate.as_dict()
        return records.text(board, {name: [fields[name]] for name in names})

    return Writer(text) if records is None else Writer(text, records.header)
