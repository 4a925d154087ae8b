"""What was done and by whom, for stderr."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from gpusudoku.board.board import Board
from gpusudoku.cli.messages import note, tell
from gpusudoku.errors import DeviceError
from gpusudoku.jobs.watch import duration
from gpusudoku.options import Options
from gpusudoku.results import ContractionStats, Count, SearchStats, Stats

if TYPE_CHECKING:
    from gpusudoku.engines.cuda.engine import CudaEngine
    from gpusudoku.engines.engine import Engine
    from gpusudoku.planning.plan import Plan


def start_engine(options: Options) -> Engine:
    """Make the engine, and say which device it is, where that could surprise."""
    from gpusudoku.engines.make import engine_for

    engine = engine_for(options, fallback=warn_of_device)
    _describe_engine(engine, options.device)
    return engine


def _describe_engine(engine: Engine, asked: str) -> None:
    """Say which device ``auto`` took, where that could surprise."""
    if asked != "auto":
        return
    if engine.name == "cuda":
        gpus = cast("CudaEngine", engine).gpus
        note(f"device cuda ({', '.join(gpu.name for gpu in gpus)})")
    else:
        threads = "1 thread" if engine.workers == 1 else f"{engine.workers} threads"
        note(f"device cpu, {threads}")


def warn_of_device(error: DeviceError) -> None:
    """Say why ``auto`` did not take a GPU that is there, or that one was lost, and who goes on."""
    note(str(error))


def show_plan(plan: Plan) -> None:
    """Before the count: the estimates."""
    estimates = plan.estimates
    lines = {"method": plan.method}
    if estimates.search_seconds is not None:
        lines["search estimate"] = f"{duration(estimates.search_seconds)} on one core"
        reason = estimates.no_contraction or "not looked at: the search is short"
        lines["contraction est."] = reason
    if estimates.contraction_seconds is not None:
        lines["contraction est."] = f"{duration(estimates.contraction_seconds)} on one core"
    _show(lines)


def show_stats(results: Iterable[Count]) -> None:
    """The statistics of counts, a line each; their methods stand in those of their plans."""
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
    """The statistics of a batch, added up: so are the seconds of blocks done side by side."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._boards = Counter[str]()
        self._searches: dict[str, float] = defaultdict(int)
        self._contractions: dict[str, float] = defaultdict(int)
        self._listings: list[float] = []
        """The seconds of boards that were listed by number."""
        self._deepest = 0

    def add_search(self, stats: SearchStats) -> None:
        """Take in a board that was searched alone."""
        self.add(1, stats)

    def add_listed(self, seconds: float) -> None:
        """Take in a board that was listed by number."""
        self._listings.append(seconds)

    def add(self, boards: int, stats: Stats, *, continued: bool = False) -> None:
        """Take in boards; those that were ``continued`` have the statistics of others."""
        self._boards[stats.method] += boards
        if continued:
            return
        if isinstance(stats, SearchStats):
            for name in ("frontier_boards", "boards_explored", "nodes"):
                self._searches[name] += getattr(stats, name)
            self._searches["seconds"] += stats.seconds
            self._searches["expansion_seconds"] += stats.expansion_seconds
            self._deepest = max(self._deepest, stats.deepest)
        else:
            self._contractions["products"] += stats.products
            self._contractions["seconds"] += stats.seconds

    def show(self) -> None:
        """Print a line for each on stderr: of all boards, of the searches, of the contractions."""
        boards = self._boards.total() + len(self._listings)
        device = _workers(self._engine.name, self._engine.workers)
        _show({"device": device, "boards": f"{boards:,}"})
        if self._boards["search"]:
            sums = self._searches
            _show(
                {
                    "searched": f"{self._boards['search']:,} boards",
                    "frontier boards": f"{sums['frontier_boards']:,}",
                    "boards explored": f"{sums['boards_explored']:,}",
                    "nodes": f"{sums['nodes']:,}",
                    "deepest stack": f"{self._deepest}",
                    "seconds of blocks": f"{sums['seconds']:.6f} "
                    f"(expansion {sums['expansion_seconds']:.6f})",
                }
            )
        if self._boards["contraction"]:
            sums = self._contractions
            _show(
                {
                    "contracted": f"{self._boards['contraction']:,} boards",
                    "products": f"{sums['products']:,}",
                    "seconds of blocks": f"{sums['seconds']:.6f}",
                }
            )
        if self._listings:
            _show(
                {
                    "listed by number": f"{len(self._listings):,} boards",
                    "seconds": f"{sum(self._listings):.6f}",
                }
            )


def _workers(device: str, number: int) -> str:
    return f"{device}, {number} {'GPUs' if device == 'cuda' else 'threads'}"


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


def show_search(board: Board, stats: SearchStats) -> None:
    """The statistics of the search of a board, a line each."""
    cutoff = f"{stats.frontier_width} boards" if stats.cutoff is None else f"{stats.cutoff:g}"
    if stats.cutoff is not None and stats.cutoff_by == "empty":
        cutoff += " empty cells"
    if not stats.cutoff_reached:
        cutoff += " (not reached: the frontier is as large as it may be)"
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
            "seconds": f"{stats.seconds:.6f} (expansion {stats.expansion_seconds:.6f})",
            "utilisation": _utilisation(stats),
        }
    )


def show_listing(board: Board, order: str, seconds: float) -> None:
    """The statistics of solutions that were found by their numbers, a line each."""
    _show({**_size(board), "listed by number": f"{order} order", "seconds": f"{seconds:.6f}"})


def _show_contraction(board: Board, stats: ContractionStats) -> None:
    _show(
        {
            **_size(board),
            "products": f"{stats.products:,}",
            "seconds": f"{stats.seconds:.6f}",
            "utilisation": _utilisation(stats),
        }
    )


def power_of_ten(number: int) -> str:
    """``6.67e21`` for large numbers, all digits for small ones."""
    if number < 10**7:
        return str(number)
    return f"{Decimal(number):.2e}".replace("e+", "e")
