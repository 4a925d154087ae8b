"""What was done and by whom, for stderr."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import click

from gpusudoku.cli.output import announce_compiling
from gpusudoku.engines import driver
from gpusudoku.errors import DeviceError
from gpusudoku.options import Options
from gpusudoku.results import Count, Stats

if TYPE_CHECKING:
    from gpusudoku.engines import Engine


DECADES = 1e9
"""Seconds from which on an estimate says no more than that."""


def start_engine(settings: Options) -> Engine:
    """Make the engine, and say what could surprise: that it compiles, and which device it is."""
    from gpusudoku.counting import make_engine

    announce_compiling()
    engine = make_engine(settings, _warn_fallback)
    _describe_engine(engine, settings.device)
    return engine


def _describe_engine(engine: Engine, asked: str) -> None:
    """Say which device ``auto`` took, where that could surprise."""
    if asked != "auto":
        return
    if engine.name == "cuda":
        names = "the simulator" if driver.simulated() else ", ".join(driver.gpu_names())
        click.echo(f"gpusudoku: device cuda ({names})", err=True)
    else:
        threads = "1 thread" if engine.workers == 1 else f"{engine.workers} threads"
        click.echo(f"gpusudoku: device cpu, {threads}", err=True)


def _warn_fallback(error: DeviceError) -> None:
    """Say why ``auto`` did not take the GPU that is there."""
    click.echo(f"gpusudoku: {error}", err=True)


def show_stats(result: Count) -> None:
    """The statistics of one count, a line each."""
    stats, lines = result.stats, {"method": result.method}
    if stats.search_estimate is not None:
        lines["search"] = _estimate(stats.search_estimate)
    if stats.contraction_estimate is not None:
        lines["contraction"] = _estimate(stats.contraction_estimate)
    elif stats.no_contraction:
        lines["contraction"] = stats.no_contraction
    elif stats.search_estimate is not None:
        lines["contraction"] = "not looked at: the search is short"
    unit = "GPUs" if result.device == "cuda" else "threads"
    lines["device"] = f"{result.device}, {result.jobs} {unit}"
    _show(lines)
    if result.method == "search":
        show_search(stats)
    else:
        _show(_size(stats))
        _show(
            {
                "products": f"{stats.products:,}",
                "seconds": f"{stats.seconds:.6f}",
                "utilisation": _utilisation(stats),
            }
        )
    if result.exact and stats.seconds > 0:
        _show({"solutions/second": power_of_ten(round(result.count / stats.seconds))})


def _estimate(seconds: float) -> str:
    amount = "decades" if seconds > DECADES else f"about {seconds:.2g} s"
    return f"{amount} on one core, estimated"


def _size(stats: Stats) -> dict[str, str]:
    return {
        "empty cells": f"{stats.empty_cells}",
        "filling factor": f"{stats.filling_factor:.2%}",
        "search space": power_of_ten(stats.search_space),
    }


def _utilisation(stats: Stats) -> str:
    return " ".join(f"{share:.1%}" for share in stats.utilisation)


def _show(lines: dict[str, str]) -> None:
    for label, text in lines.items():
        click.echo(f"{label:>18}: {text}", err=True)


def show_search(stats: Stats) -> None:
    """The statistics of a search, a line each."""
    cutoff = f"{stats.frontier_width} boards" if stats.cutoff is None else f"{stats.cutoff:g}"
    if not stats.cutoff_reached:
        cutoff += " (not reached: the frontier is as large as it may be)"
    _show(
        {
            **_size(stats),
            "strategy": stats.strategy,
            "propagate": stats.propagate,
            "cutoff": cutoff,
            "frontier boards": f"{stats.frontier_boards:,}",
            "boards explored": f"{stats.boards_explored:,}",
            "nodes": f"{stats.nodes:,}",
            "deepest stack": f"{stats.deepest}",
            "seconds": f"{stats.seconds:.6f} (widening {stats.widening_seconds:.6f})",
            "utilisation": _utilisation(stats),
        }
    )


def power_of_ten(number: int) -> str:
    """``6.67e21`` for large numbers, all digits for small ones."""
    if number < 10**7:
        return str(number)
    return f"{Decimal(number):.2e}".replace("e+", "e")
