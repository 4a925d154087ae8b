"""Summaries on stderr: plans, statistics, and the closing line of a batch with its exit status."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from gpusudoku.board.board import Board
from gpusudoku.errors import InputError
from gpusudoku.jobs.watch import duration
from gpusudoku.options import is_integer
from gpusudoku.pipeline.messages import print_info, print_note, several
from gpusudoku.results import ContractionStats, Count, ResultBlock, SearchStats, Stats

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.planning.plan import FinishedPlan, Plan

# Exit statuses of --exit-code for boards that are not puzzles. Of a batch it is the largest one.
_EXIT_UNDECIDED = 1
_EXIT_SEVERAL = 3
_EXIT_NONE = 4


class Tally:
    """Counts boards with one solution, with several solutions, and without a solution.

    It continues a saved tally: ``saved_counts`` are its ``notes``, ``seconds`` its time.
    """

    def __init__(self, saved_counts: Mapping[str, int] | None = None, seconds: float = 0.0) -> None:
        counts = saved_counts or {}
        self.boards = counts.get("boards", 0)
        """All boards."""
        self._one = counts.get("one", 0)
        self._several = counts.get("several", 0)
        self._none = counts.get("none", 0)
        self._undecided = counts.get("undecided", 0)
        """Boards whose search ended at the time limit."""
        self._hides_several = bool(counts.get("hidden"))
        """True if the search stopped at the first solution: ``_one`` then includes ``_several``."""
        self._start = time.perf_counter() - seconds

    def add(self, results: ResultBlock) -> None:
        """Add the boards of a block."""
        self.boards += len(results)
        counts = results.numbers
        if results.is_undecided:
            self._undecided += len(results)
            counts = counts[:0]
        self._one += int((counts == 1).sum())
        self._several += int((counts > 1).sum())
        self._none += int((counts == 0).sum())
        self._hides_several = results.limit == 1

    @property
    def notes(self) -> dict[str, int]:
        """The counts as JSON, from which a later run continues."""
        return {
            "boards": self.boards,
            "one": self._one,
            "several": self._several,
            "none": self._none,
            "undecided": self._undecided,
            "hidden": int(self._hides_several),
        }

    @property
    def seconds(self) -> float:
        """Seconds of work, including those of the saved tally."""
        return time.perf_counter() - self._start

    @property
    def status(self) -> int:
        """The exit status of --exit-code."""
        if self._none:
            return _EXIT_NONE
        if self._several:
            return _EXIT_SEVERAL
        return _EXIT_UNDECIDED if self._undecided else 0

    def show(self, unreadable: int) -> None:
        """Print the closing line on stderr; ``unreadable`` is the number of bad boards."""
        seconds = self.seconds
        if self._hides_several:
            solvable = f"{self._one:,} solvable"
        else:
            solvable = f"{self._one:,} unique, {self._several:,} several"
        unknown = f"{self._undecided:,} unknown, " if self._undecided else ""
        print_note(
            f"{several(self.boards + unreadable, 'board')}: {solvable}, {self._none:,} none, "
            f"{unknown}{unreadable:,} unreadable; {seconds:,.2f} s, "
            f"{self.boards / seconds:,.0f} boards a second"
        )


@dataclass(frozen=True)
class Ending:
    """The end of a command, or of one of its parts. Records of parts have its fields as JSON."""

    status: int
    """The exit status."""
    unreadable: int
    """The number of bad boards."""
    tally: Mapping[str, int] | None = None
    """The ``notes`` of its ``Tally``; None if the command prints no closing line."""
    seconds: float = 0.0
    """Seconds of work."""

    @classmethod
    def of_parts(cls, stats: Sequence[Mapping[str, Any]]) -> Ending:
        """Join the ends of all parts of a command; ``stats`` are their fields.

        Raises
        ------
        InputError
            If the fields are not those of an ``Ending``.
        """
        try:
            parts = [cls(**fields) for fields in stats]
            tallies = [part.tally for part in parts if part.tally is not None]
            seconds = [float(part.seconds) for part in parts]
            _check_fields(parts, tallies, seconds)
        except (TypeError, ValueError, OverflowError, AttributeError):
            message = "a damaged record of a part: its statistics are invalid"
            raise InputError(message) from None

        # Bad boards (2) and unanswered or undecided boards (1) take precedence over the larger
        # statuses of --exit-code.
        statuses = [part.status for part in parts]
        if 2 in statuses:
            status = 2
        elif 1 in statuses:
            status = 1
        else:
            status = max(statuses)
        total_tally = None
        if tallies:
            total_tally = {name: sum(tally[name] for tally in tallies) for name in tallies[0]}
        unreadable = sum(part.unreadable for part in parts)
        return cls(status, unreadable, total_tally, sum(seconds))

    def show(self) -> None:
        """Print the closing line, and exit with the status if it is not 0."""
        if self.tally is not None:
            Tally(self.tally, self.seconds).show(self.unreadable)
        elif self.unreadable:
            print_note(
                f"{self.unreadable:,} boards could not be read; their parts have reported them"
            )
        if self.status:
            sys.exit(self.status)


def _check_fields(
    parts: Sequence[Ending], tallies: Sequence[Mapping[str, int]], seconds: Sequence[float]
) -> None:
    """Raise a ValueError unless all numbers are valid, and all tallies have the same names."""
    numbers = [number for tally in tallies for number in tally.values()]
    for part in parts:
        numbers += [part.status, part.unreadable]
    if not all(is_integer(number) and 0 <= number < 1 << 63 for number in numbers):
        raise ValueError
    if len({tuple(sorted(tally)) for tally in tallies}) > 1:
        raise ValueError
    if not all(isfinite(time) and time >= 0 for time in seconds):
        raise ValueError


def show_plan(plan: Plan | FinishedPlan, board: Board, engine: Engine) -> None:
    """Print the estimates before a count."""
    estimates = plan.estimates
    lines = {"method": plan.method}
    if estimates.search_seconds is not None:
        lines["search estimate"] = f"{duration(estimates.search_seconds)} on one core"
        reason = estimates.no_contraction or "not estimated: the search is short"
        lines["contraction est."] = reason
    # The estimate of a contraction replaces the reason.
    if estimates.contraction_seconds is not None:
        lines["contraction est."] = f"{duration(estimates.contraction_seconds)} on one core"
    if engine.device == "auto":
        cpu_time = duration(plan.seconds / engine.threads)
        gpu_seconds = engine.gpu_seconds(plan.seconds, plan.method, board.geometry)
        if gpu_seconds == inf:
            gpu_time = "cannot do this"
        else:
            gpu_time = f"{duration(gpu_seconds)}, with its start"
        lines["device estimate"] = f"cpu {cpu_time}; cuda {gpu_time}"
    _show(lines)


def show_stats(results: Iterable[Count]) -> None:
    """Print the statistics of counts, one value a line; ``show_plan`` prints the methods."""
    for result in results:
        stats = result.stats
        _show({"device": _workers(result.device, result.jobs)})
        if isinstance(stats, SearchStats):
            show_search(result.board, stats)
        else:
            _show_contraction(result.board, stats)
        if result.exact and stats.seconds > 0:
            _show({"solutions/second": power_of_ten(round(result.count / stats.seconds))})


class Totals:
    """Adds up the statistics of a batch.

    Blocks run at the same time: the sum of their seconds may exceed the elapsed time.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._boards = Counter[str]()
        """The number of boards of each method."""
        self._searches: dict[str, float] = defaultdict(int)
        """Sums of statistics of searches, by name."""
        self._contractions: dict[str, float] = defaultdict(int)
        """Sums of statistics of contractions, by name."""
        self._listed = 0
        """Boards that were listed by number."""
        self._listing_seconds = 0.0
        self._deepest_stack = 0
        self._gpu = ""
        """The name of the GPU that was used; empty if none was."""

    def add_listed(self, seconds: float) -> None:
        """Add a board that was listed by number."""
        self._listed += 1
        self._listing_seconds += seconds

    def add(self, boards: int, stats: Stats, *, continued: bool = False) -> None:
        """Add boards; if ``continued``, their statistics were added with an earlier block."""
        self._boards[stats.method] += boards
        if continued:
            return
        self._gpu = stats.gpu or self._gpu
        if isinstance(stats, SearchStats):
            for name in ("frontier_boards", "boards_explored", "nodes", "launches"):
                self._searches[name] += getattr(stats, name)
            self._searches["seconds"] += stats.seconds
            self._searches["expansion_seconds"] += stats.expansion_seconds
            self._deepest_stack = max(self._deepest_stack, stats.deepest)
        else:
            self._contractions["products"] += stats.products
            self._contractions["on_gpu"] += boards * stats.on_gpu
            self._contractions["seconds"] += stats.seconds

    def show(self) -> None:
        """Print the totals of all boards, of the searches, and of the contractions on stderr."""
        boards = self._boards.total() + self._listed
        device = _workers(self._engine.kind, self._engine.workers)
        _show({"device": device, "boards": f"{boards:,}"})
        if self._boards["search"]:
            sums = self._searches
            _show(
                {
                    "searched": several(self._boards["search"], "board"),
                    "frontier boards": f"{sums['frontier_boards']:,}",
                    "boards explored": f"{sums['boards_explored']:,}",
                    "nodes": f"{sums['nodes']:,}",
                    "deepest stack": f"{self._deepest_stack}",
                    **_searched_by(self._gpu, int(sums["launches"])),
                    "seconds of blocks": f"{sums['seconds']:.6f} "
                    f"(expansion {sums['expansion_seconds']:.6f})",
                }
            )
        if self._boards["contraction"]:
            sums = self._contractions
            _show(
                {
                    "contracted": several(self._boards["contraction"], "board"),
                    "products": f"{sums['products']:,}",
                    **self._summed_by(int(sums["on_gpu"])),
                    "seconds of blocks": f"{sums['seconds']:.6f}",
                }
            )
        if self._listed:
            _show(
                {
                    "listed by number": several(self._listed, "board"),
                    "seconds": f"{self._listing_seconds:.6f}",
                }
            )

    def _summed_by(self, on_gpu: int) -> dict[str, str]:
        """Describe which contractions the GPU and the CPU summed; empty without a GPU."""
        if on_gpu == 0 and not self._engine.has_gpu:
            return {}
        gpu = f"the GPU ({self._gpu}) for {several(on_gpu, 'board')}, else " if on_gpu else ""
        return {"summed by": f"{gpu}the CPU"}


def _workers(device: str, number: int) -> str:
    """Name the workers of a device, such as ``cpu, 8 threads``."""
    return f"{device}, {several(number, 'GPU' if device == 'cuda' else 'thread')}"


def _size(board: Board) -> dict[str, str]:
    """Describe the size of the problem."""
    return {
        "empty cells": f"{board.empty_cells}",
        "filling factor": f"{board.filling_factor:.2%}",
        "search space": power_of_ten(board.search_space),
    }


def _utilisation(stats: Stats) -> str:
    """List the utilisation of every worker."""
    return " ".join(f"{share:.1%}" for share in stats.utilisation)


def _show(lines: dict[str, str]) -> None:
    """Print lines with a label each, aligned at the colon."""
    for label, text in lines.items():
        print_info(f"{label:>18}: {text}")


def _searched_by(gpu: str, launches: int, threads: str = "") -> dict[str, str]:
    """Describe the work of the GPU and the CPU in searches; empty if the GPU did none."""
    if not launches:
        return {}
    text = f"the GPU ({gpu}), {launches:,} launches{threads}; the CPU made the frontier"
    return {"searched by": text}


def show_search(board: Board, stats: SearchStats) -> None:
    """Print the statistics of the search of a board, one value a line."""
    cutoff = f"{stats.frontier_width} boards" if stats.cutoff is None else f"{stats.cutoff:g}"
    if stats.cutoff is not None and stats.cutoff_by == "empty":
        cutoff += " empty cells"
    if not stats.cutoff_reached:
        cutoff += " (not reached: the frontier has its maximum size)"
    threads = f" of {stats.gpu_threads:,} threads, busy {stats.gpu_busy:.0%} of the time"
    _show(
        {
            **_size(board),
            "strategy": stats.strategy,
            "propagate": stats.propagate,
            "cutoff": cutoff,
            "frontier boards": f"{stats.frontier_boards:,}",
            "boards explored": f"{stats.boards_explored:,}",
            "nodes": f"{stats.nodes:,}",
            "deepest stack": f"{stats.deepest}",
            **_searched_by(stats.gpu, stats.launches, threads),
            "seconds": f"{stats.seconds:.6f} (expansion {stats.expansion_seconds:.6f})",
            "utilisation": _utilisation(stats),
        }
    )


def show_listing(board: Board, order: str, seconds: float) -> None:
    """Print the statistics of a board that was listed by number, one value a line."""
    _show({**_size(board), "listed by number": f"{order} order", "seconds": f"{seconds:.6f}"})


def _show_contraction(board: Board, stats: ContractionStats) -> None:
    """Print the statistics of the contraction of a board, one value a line."""
    summed_by = {}
    if stats.gpu:
        summed_by["summed by"] = f"the GPU ({stats.gpu}); the CPU made its tensors"
    _show(
        {
            **_size(board),
            "products": f"{stats.products:,}",
            **summed_by,
            "seconds": f"{stats.seconds:.6f}",
            "utilisation": _utilisation(stats),
        }
    )


def power_of_ten(number: int) -> str:
    """Write a number: ``6.67e21`` if it is large, all digits if it is small."""
    if number < 10**7:
        return str(number)
    # Unlike a float, a Decimal takes any integer.
    return f"{Decimal(number):.2e}".replace("e+", "e")
