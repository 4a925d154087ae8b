"""A count in parts that know nothing of each other, and the count that they add up to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any, Unpack

from gpusudoku.board.geometry import Geometry
from gpusudoku.engines.engine import Engine, WorkCounters
from gpusudoku.engines.make import engine_for
from gpusudoku.errors import InputError, described
from gpusudoku.formats.coerce import BoardLike, board_of
from gpusudoku.jobs.cancel import CancelToken, cancelling
from gpusudoku.jobs.watch import Progress, reporting
from gpusudoku.options import MOST_PARTS, OptionFields, Options, is_integer, takes_options
from gpusudoku.results import ContractionStats, Count, Estimates, SearchStats, Stats
from gpusudoku.runs.counting import Counted, How, count_in_tasks
from gpusudoku.runs.identity import board_of_identity
from gpusudoku.runs.parts.records import PartRecord, in_order

_STATS: dict[str, type[Stats]] = {"search": SearchStats, "contraction": ContractionStats}


@takes_options
def count_part(
    board: BoardLike,
    number: int,
    parts: int,
    *,
    box: Geometry | str | None = None,
    engine: Engine | None = None,
    cancel: CancelToken | None = None,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[OptionFields],
) -> PartRecord:
    """Count a part of all solutions of a board, for ``merge`` to add up with the others.

    All parts are of about the same size, and the same ones on every machine, whatever its device
    and its number of threads. ``str`` of what is returned is a record of it, a line of JSON.

    Parameters
    ----------
    board, box, engine, progress
        As for ``count``.
    number
        Which part, from 1 to ``parts``.
    parts
        How many there are, at most 65536.
    cancel
        Ends the count early, from another thread.
    **options
        The fields of ``Options``, without a limit.

    Raises
    ------
    InputError
        If there is no such part, there is a limit, or as in ``count``.
    DeviceError, TooExpensive
        As ``count`` does.
    Interrupted
        After Ctrl-C or a cancellation; its ``count`` is a lower bound of what the part has.
    """
    found, chosen = board_of(board, box), Options(**options)
    if not (is_integer(number) and is_integer(parts) and 1 <= number <= parts <= MOST_PARTS):
        raise InputError(
            f"part {described(number)} of {described(parts)}: expected one from 1 to the second,"
            f" of at most {MOST_PARTS}"
        )
    engine, how = engine_for(chosen, engine), How(part=(int(number), int(parts)))
    with cancelling(cancel), reporting(progress):
        counted = count_in_tasks(found, chosen, engine, how)
    return part_of_count(counted, int(number))


def merge(parts: Iterable[PartRecord | str]) -> Count:
    """Add up all parts of a count, given in any order.

    Parameters
    ----------
    parts
        What ``count_part`` gave, or the records of it, as texts.

    Raises
    ------
    InputError
        If one is missing, two overlap, one is of another board, option or version, or a record is
        damaged.
    """
    if isinstance(parts, str | bytes | PartRecord) or not isinstance(parts, Iterable):
        raise InputError(f"{described(parts)}: expected all parts of a count, such as a list")
    found = [each if isinstance(each, PartRecord) else PartRecord.parse(each) for each in parts]
    ordered = in_order((f"part {part.number}", part) for part in found)
    return merged([part for _, part in ordered])


def part_of_count(counted: Counted, number: int) -> PartRecord:
    """Make the record of a count that is part ``number``, from 1 on, of a whole."""
    count = counted.count
    stats = {
        "plan": asdict(counted.plan_stats),
        "done": asdict(counted.tally),
        "seconds": counted.seconds,
        "device": count.device,
        "jobs": count.jobs,
        "estimates": asdict(count.estimates or Estimates()),
    }
    return PartRecord(counted.identity, number, counted.portion.tasks, count.count, stats)


def merged(parts: Iterable[PartRecord]) -> Count:
    """Add up all parts of a count, in their order; refuse records of anything else."""
    found = list(parts)
    first = found[0]
    if first.identity.command != "count" or not all(isinstance(p.found, int) for p in found):
        raise InputError("a damaged record of a part: no count of a board")
    try:
        return Count(
            board=board_of_identity(first.identity.boards),
            count=sum(part.found for part in found),  # type: ignore[misc]
            exact=True,
            device=" and ".join(sorted({str(part.stats["device"]) for part in found})),
            jobs=sum(int(part.stats["jobs"]) for part in found),
            stats=_added(first.identity.options["method"], [part.stats for part in found]),
            estimates=Estimates(**first.stats["estimates"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("a damaged record of a part: its statistics are none") from None


def _added(method: str, each: list[Mapping[str, Any]]) -> Stats:
    """Add up the statistics of parts, each given as its plan's before any work, and its work."""
    done = WorkCounters()
    for stats in each:
        done.add(WorkCounters(**{name: int(number) for name, number in stats["done"].items()}))
    facts = {**each[0]["plan"], "utilisation": ()}
    facts["seconds"] = sum(float(stats["plan"]["seconds"] + stats["seconds"]) for stats in each)
    if method == "search":
        facts["boards_explored"] += done.guesses
        facts["nodes"] += done.nodes
        facts["deepest"] = max(facts["deepest"], done.deepest)
    else:
        facts["products"] += done.products
    return _STATS[method](**facts)
