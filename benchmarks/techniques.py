"""Repeat the tables of "Solving Sudoku Puzzles" (n1balgo/sudoku, 2014), its figures beside ours.

The tables show how much techniques solve, and how much they leave, without any guess, and how long
a solution takes if they are applied at every node. The document's lists are those of Peter Norvig's
essay "Solving Every Sudoku Puzzle" (easy50, top95 and hardest), which do not come with this
project; give files that hold them.

    python benchmarks/techniques.py --easy easy50.txt --hard top95.txt --hardest hardest.txt
    python benchmarks/techniques.py --show       the tables of what was recorded before

The document's sets: 1 is naked and hidden singles, 2a hidden pairs, 2b naked pairs; all is 1, 2a
and 2b, without the locked candidates that ``simplify`` has by default. As in its program, a cell
left with one hint is fixed whatever the set, so that "brute force" there is ``naked-single`` here;
``none`` leaves such cells to the guessing. Hints are what the document calls the candidates of
cells without a digit. For the input it counts 9 for each of them, whatever the clues rule out.

Three figures differ by more than rounding. Two are hints, those that 2a leaves of the easy list and
1+2a of the hard one: the document's program skips a hidden pair whose cells have only two hints
each, and so does not clear their other unit, unless 2b does it. If its rules are followed that
closely, 125.8 and 184.0 hints are left, as printed, and nothing else in the tables changes. The
third is the share that 2b solves of the hardest list: 317 of 891 cells by its rules, too, which is
35.6 % and was cut to 35.

The board "that Peter mentions taking most time" is that of 1439 seconds in the essay, which has no
solution: the program that the document links to holds it under the name p9_imp. Hidden singles
and hidden pairs together refute it without a guess; neither do alone, nor do singles and 2b.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median

import click
from machine import gigahertz, record, recorded
from script import Run, check, script, table, turns

import gpusudoku
from gpusudoku import Board, formats
from gpusudoku.engines.engine import Engine
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import InputError, MismatchError
from gpusudoku.formats import parse
from gpusudoku.options import Options
from gpusudoku.planning.search import SearchPlan
from gpusudoku.search.frontier import Frontier

SETS = {
    "none": "none",
    "naked-single": "naked-single",
    "1": "naked-single,hidden-single",
    "2a": "naked-single,hidden-pair",
    "2b": "naked-single,naked-pair",
    "2": "naked-single,naked-pair,hidden-pair",
    "1+2a": "naked-single,hidden-single,hidden-pair",
    "1+2b": "naked-single,hidden-single,naked-pair",
    "all": "naked-single,hidden-single,naked-pair,hidden-pair",
}

LEFT = "Candidates left (the document's hints; of the input, 9 for every empty cell)"

Printed = dict[str, dict[str, float]]
"""The document's figures by list and set."""


def printed(heads: str, **rows: str) -> Printed:
    """A table, as printed."""
    return {
        name: dict(zip(heads.split(), map(float, row.split()), strict=True))
        for name, row in rows.items()
    }


SOLVED = printed(
    "input 1 2a 2b 2 1+2a 1+2b all",
    easy="35 89 54 68 70 96 94 96",
    hard="25 31 26 26 26 41 31 41",
    hardest="30 45 35 35 36 50 45 50",
)
HINTS = printed(
    "input 1 2a 2b 2 1+2a 1+2b all",
    easy="474 29 126 89 82 10 16 10",
    hard="544 230 252 260 250 184 228 181",
    hardest="508 161 191 193 189 141 158 141",
)
MILLISECONDS = printed(
    "none naked-single 1 1+2a 1+2b all",
    easy="0.14 0.14 0.04 0.03 0.03 0.03",
    hard="21 21 1.16 0.44 0.55 0.42",
    hardest="0.61 0.61 0.17 0.20 0.19 0.22",
)
SLOWEST = printed("1 all", impossible="6134 10")

IMPOSSIBLE = ".....5.8....6.1.43..........1.5........1.6...3.......553.....61........4........."

WAYS = ("in one batch", "one by one")
"""How a list is searched: whether its puzzles share a frontier."""


def simplified(name: str, boards: Sequence[Board], sets: Sequence[str]) -> list[Run]:
    """The share of a list that every set solves, and the hints it leaves, without any guess."""
    cells = sum(board.geometry.cells for board in boards)
    clues = sum(board.clues for board in boards)
    hints = mean(board.n * board.empty_cells for board in boards)
    rows: list[Run] = [{"list": name, "boards": len(boards), "set": "input",
                        "solved": clues / cells, "hints": hints}]  # fmt: skip
    for key in sets:
        if key == "none":
            continue
        results = [gpusudoku.simplify(board, SETS[key]) for board in boards]
        if any(result.contradictory for result in results):
            raise InputError(f"{name}: a board has no solution")
        solved = sum(result.board.clues for result in results) / cells
        hints = mean(result.candidates_left for result in results)
        rows.append({"list": name, "set": key, "solved": solved, "hints": hints})
    return rows


def timed(lists: dict[str, list[Board]], sets: Sequence[str], repeats: int) -> list[Run]:
    """Every run that looks for one solution of each board, on one thread."""
    engine = make_engine(device="cpu", jobs=1)
    impossible = [parse(IMPOSSIBLE)]
    contracted = gpusudoku.count(*impossible, engine=engine, device="cpu", method="contraction")
    runs: list[Run] = [{"list": "impossible", "solutions": str(contracted.count)}]
    check("the impossible board", contracted.count, 0)
    cases = []
    for key in sets:
        if key in MILLISECONDS["easy"]:
            cases += [(key, name, way) for name in lists for way in WAYS]
        if key in SLOWEST["impossible"]:
            cases.append((key, "impossible", WAYS[1]))
    for (key, name, way), kept in turns(cases, repeats, " ".join):
        boards = lists.get(name, impossible)
        blocks = [boards] if way == WAYS[0] else [[board] for board in boards]
        run = searched(blocks, engine, key)
        right = len(boards) if name in lists else 0
        if run.pop("solved") != right:
            raise MismatchError(f"{name}, {way}, {key}: expected {right} boards with a solution")
        if kept:
            runs.append({"list": name, "way": way, "boards": len(boards), **run})
    return runs


def searched(blocks: Sequence[Sequence[Board]], engine: Engine, key: str) -> Run:
    """Search every block of boards for one solution of each; engine time of all together."""
    options = Options(device="cpu", jobs=1, method="search", propagate=SETS[key], limit=1)
    solved, nodes, seconds = 0, 0, 0.0
    for block in blocks:
        counts, stats, _ = SearchPlan(Frontier.of(block), options).run(engine)
        solved += sum(count > 0 for count in counts)
        nodes += stats.nodes
        seconds += stats.seconds
    return {"set": key, "solved": solved, "nodes": nodes, "seconds": seconds}


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    results = recorded(path)
    runs = results["runs"]
    print("In parentheses: what the document prints.\n")
    tables = ("Cells solved, in percent", "solved", 100, SOLVED), (LEFT, "hints", 1, HINTS)
    for title, field, scale, figures in tables:
        ours = {(r["list"], r["set"]): scale * r[field] for r in runs if field in r}
        both = [(ours[n, key], figures[n][key]) for n, key in ours if key in figures[n]]
        agreeing = sum(abs(value - figure) <= 0.5 for value, figure in both)
        print(f"{title}; {agreeing} of {len(both)} printed figures agree to the rounding:\n")
        print_table(ours, figures, ".1f")
    show_times(runs)
    solutions = next(run["solutions"] for run in runs if "solutions" in run)
    print("impossible: the board that took Norvig's program longest, 1439 seconds. Its solutions,")
    print(f"by contraction and by search: {solutions}.")


def show_times(runs: list[Run]) -> None:
    """Print the times beside the document's."""
    times: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        if "seconds" in run:
            name = run["list"] if run["boards"] == 1 else f"{run['list']}, {run['way']}"
            times.setdefault((name, run["set"]), []).append(1e3 * run["seconds"] / run["boards"])
    figures = {f"{n}, {way}": MILLISECONDS[n] for n in MILLISECONDS for way in WAYS} | SLOWEST
    print(
        "Milliseconds per puzzle until a solution is found, engine time on one thread. The"
        " document\nmeasures one by one; most of our time is then spent setting up a search. Its"
        " brute force\nstands beside none and naked-single:\n"
    )
    print_table({case: median(of) for case, of in times.items()}, figures, ".3g")


def print_table(ours: dict[tuple[str, str], float], figures: Printed, form: str) -> None:
    """Lists down, sets across; every figure of ours beside the document's, if it prints one."""
    heads = list(dict.fromkeys(key for _, key in ours))
    rows = []
    for name in dict.fromkeys(name for name, _ in ours):
        cells = [f"{ours[name, key]:{form}}" if (name, key) in ours else "" for key in heads]
        for column, key in enumerate(heads):
            if cells[column] and key in figures[name]:
                cells[column] += f" ({figures[name][key]:g})"
        rows.append([name, *cells])
    table(["list", *heads], rows)
    print()


@script("techniques", show)
@click.option("--easy", type=click.Path(exists=True, dir_okay=False), help="File of puzzles.")
@click.option("--hard", type=click.Path(exists=True, dir_okay=False), help="Another.")
@click.option("--hardest", type=click.Path(exists=True, dir_okay=False), help="Another.")
@click.option("--sets", default=",".join(SETS), show_default=True, help="Sets of techniques.")
@click.option("--repeats", default=9, show_default=True, help="Runs of every timing.")
def main(path: Path, sets: str, repeats: int, **files: str | None) -> None:
    """Simplify and solve the lists of the document with its sets of techniques."""
    names = sets.split(",")
    if unknown := [name for name in names if name not in SETS]:
        raise InputError(f"no set {unknown[0]!r}, expected some of {', '.join(SETS)}")
    lists = {
        name: list(formats.read_text(Path(file).read_text(), source=file))
        for name, file in files.items()
        if file is not None
    }
    before = gigahertz(1)
    runs = [run for name, boards in lists.items() for run in simplified(name, boards, names)]
    runs += timed(lists, names, repeats)
    record(path, runs, gigahertz=[before, gigahertz(1)])


if __name__ == "__main__":
    main()
