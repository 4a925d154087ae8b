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
from gpusudoku.pipeline.messages import note, several, tell
from gpusudoku.results import ContractionStats, Count, ResultBlock, SearchStats, Stats

if TYPE_CHECKING:
    from gpusudoku.engines.engine import Engine
    from gpusudoku.planning.plan import FinishedPlan, Plan

SEVERAL, NONE = 3, 4
"""Exit statuses of --exit-code for boards that are no puzzles; of a batch the largest."""


class Tally:
    """Counts boards with one solution, several, or none.

    It continues a saved tally: ``before`` are its notes, ``seconds`` its time.
    """

    def __init__(self, before: Mapping[str, int] | None = None, seconds: float = 0.0) -> None:
        counts = before or {}
        self.boards = counts.get("boards", 0)
        """All boards."""
        self._one, self._several = counts.get("one", 0), counts.get("several", 0)
        self._none = counts.get("none", 0)
        self._undecided = counts.get("undecided", 0)
        self._hidden = bool(counts.get("hidden"))
        """True if a second solution was not looked for."""
        self._start = time.perf_counter() - seconds

    def add(self, results: ResultBlock) -> None:
        """Add boards that were worked on together."""
        self.boards += len(results)
        counts = results.numbers
        if results.is_undecided:
            self._undecided += len(results)
            counts = counts[:0]
        self._one += int((counts == 1).sum())
        self._several += int((counts > 1).sum())
        self._none += int((counts == 0).sum())
        self._hidden = results.limit == 1

    @property
    def notes(self) -> dict[str, int]:
        """The numbers, for a tally that goes on later."""
        some = {"one": self._one, "several": self._several, "none": self._none}
        some |= {"undecided": self._undecided, "hidden": int(self._hidden)}
        return {"boards": self.boards, **some}

    @property
    def seconds(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._start

    @property
    def status(self) -> int:
        """The exit status of --exit-code."""
        return NONE if self._none else SEVERAL if self._several else int(self._undecided > 0)

    def show(self, unreadable: int) -> None:
        """Print the closing line on stderr; ``unreadable`` boards were bad."""
        seconds = self.seconds
        some = (
            f"{self._one:,} solvable"
            if self._hidden
            else f"{self._one:,} unique, {self._several:,} several"
        )
        unknown = f"{self._undecided:,} unknown, " if self._undecided else ""
        note(
            f"{several(self.boards + unreadable, 'board')}: {some}, {self._none:,} none, "
            f"{unknown}{unreadable:,} unreadable; {seconds:,.2f} s, "
            f"{self.boards / seconds:,.0f} boards a second"
        )


@dataclass(frozen=True)
class Ending:
    """The end of a command, or of a part of it."""

    status: int
    """The exit status."""
    unreadable: int
    """Bad boards."""
    tally: Mapping[str, int] | None = None
    """The ``notes`` of its ``Tally``; None of a command without a closing line."""
    seconds: float = 0.0
    """Seconds of work."""

    @classmethod
    def of_parts(cls, stats: Sequence[Mapping[str, Any]]) -> Ending:
        """Join the fields of the ends of all parts of a command."""
        try:
            parts = [cls(**fields) for fields in stats]
            tallies = [part.tally for part in parts if part.tally is not None]
            numbers = [number for tally in tallies for number in tally.values()]
            numbers += [number for part in parts for number in (part.status, part.unreadable)]
            times = [float(part.seconds) for part in parts]
            if (
                not all(is_integer(number) and 0 <= number < 1 << 63 for number in numbers)
                or len({tuple(sorted(tally)) for tally in tallies}) > 1
                or not all(isfinite(time) and time >= 0 for time in times)
            ):
                raise ValueError
        except (TypeError, ValueError, OverflowError, AttributeError):
            raise InputError("a damaged record of a part: its statistics are none") from None
        statuses = [part.status for part in parts]
        wrong = [status for status in (2, 1) if status in statuses]
        names = tallies[0] if tallies else ()
        tally = {name: sum(each[name] for each in tallies) for name in names}
        unreadable = sum(part.unreadable for part in parts)
        status = wrong[0] if wrong else max(statuses)
        return cls(status, unreadable, tally if tallies else None, sum(times))

    def show(self) -> None:
        """Print the closing line, and exit with the status if it is not 0."""
        if self.tally is not None:
            Tally(self.tally, self.seconds).show(self.unreadable)
        elif self.unreadable:
            note(f"{self.unreadable:,} boards could not be read, as their parts have told")
        if self.status:
            sys.exit(self.status)


def show_plan(plan: Plan | FinishedPlan, board: Board, engine: Engine) -> None:
    """Show the estimates, before the count."""
    estimates = plan.estimates
    lines = {"method": plan.method}
    if estimates.search_seconds is not None:
        lines["search estimate"] = f"{duration(estimates.search_seconds)} on one core"
        reason = estimates.no_contraction or "not looked at: the search is short"
        lines["contraction est."] = reason
    if estimates.contraction_seconds is not None:
        lines["contraction est."] = f"{duration(estimates.contraction_seconds)} on one core"
    if engine.device == "auto":
        there = engine.gpu_seconds(plan.seconds, plan.method, board.geometry)
        said = "cannot do this" if there == inf else f"{duration(there)}, with its start"
        lines["device estimate"] = f"cpu {duration(plan.seconds / engine.threads)}; cuda {said}"
    _show(lines)


def show_stats(results: Iterable[Count]) -> None:
    """Show the statistics of counts, a line each; their methods stand in their plans."""
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
    """Adds up the statistics of a batch, also the seconds of blocks that run side by side."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._boards = Counter[str]()
        self._searches: dict[str, float] = defaultdict(int)
        self._contractions: dict[str, float] = defaultdict(int)
        self._listed, self._listing_seconds = 0, 0.0
        """Boards that were listed by number."""
        self._deepest = 0
        self._gpu = ""
        """The name of the GPU that did some of it."""

    def add_listed(self, seconds: float) -> None:
        """Add a board that was listed by number."""
        self._listed += 1
        self._listing_seconds += seconds

    def add(self, boards: int, stats: Stats, *, continued: bool = False) -> None:
        """Add boards; if ``continued``, the statistics are counted already."""
        self._boards[stats.method] += boards
        if continued:
            return
        self._gpu = stats.gpu or self._gpu
        if isinstance(stats, SearchStats):
            for name in ("frontier_boards", "boards_explored", "nodes", "launches"):
                self._searches[name] += getattr(stats, name)
            self._searches["seconds"] += stats.seconds
            self._searches["expansion_seconds"] += stats.expansion_seconds
            self._deepest = max(self._deepest, stats.deepest)
        else:
            self._contractions["products"] += stats.products
            self._contractions["on_gpu"] += boards * stats.on_gpu
            self._contractions["seconds"] += stats.seconds

    def show(self) -> None:
        """Print a line for each on stderr: of all boards, of the searches, of the contractions."""
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
                    "deepest stack": f"{self._deepest}",
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
        """Tell what the GPU and the CPU did of the contractions, if there was a GPU."""
        if on_gpu == 0 and not self._engine.has_gpu:
            return {}
        gpu = f"the GPU ({self._gpu}) for {several(on_gpu, 'board')}, else " if on_gpu else ""
        return {"summed by": f"{gpu}the CPU"}


def _workers(device: str, number: int) -> str:
    return f"{device}, {several(number, 'GPU' if device == 'cuda' else 'thread')}"


def _size(board: Board) -> dict[str, str]:
    return {
        "empty cells": f"{board.empty_cells}",
        "filling factor": f"{board.filling_factor:.2%}",
        "search space": power_of_ten(board.search_space),
    }


def _utilisation(stats: Stats) -> str:
    return " ".join(f"{share:.1%}" for share in stats.utilisation)


def _show(lines: dict[str, str]) -> None:
    for label, text in lines.items():
        tell(f"{label:>18}: {text}")


def _searched_by(gpu: str, launches: int, threads: str = "") -> dict[str, str]:
    """Tell what the GPU of this name and the CPU did of searches; nothing if the CPU did all."""
    if not launches:
        return {}
    text = f"the GPU ({gpu}), {launches:,} launches{threads}; the CPU made the frontier"
    return {"searched by": text}


def show_search(board: Board, stats: SearchStats) -> None:
    """Show the statistics of the search of a board, a line each."""
    cutoff = f"{stats.frontier_width} boards" if stats.cutoff is None else f"{stats.cutoff:g}"
    if stats.cutoff is not None and stats.cutoff_by == "empty":
        cutoff += " empty cells"
    if not stats.cutoff_reached:
        cutoff += " (not reached: the frontier is as large as it may be)"
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
    """Show the statistics of a board that was listed by number, a line each."""
    _show({**_size(board), "listed by number": f"{order} order", "seconds": f"{seconds:.6f}"})


def _show_contraction(board: Board, stats: ContractionStats) -> None:
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
    return f"{Decimal(number):.2e}".replace("e+", "e")
