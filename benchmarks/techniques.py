"""Repeat the tables of "Solving Sudoku Puzzles" (n1balgo/sudoku, 2014), and show its figures, too.

The tables show how much techniques solve without any guess, how many candidates remain, and how
long a solution takes if the techniques are applied at every node. The document's lists are those of
Peter Norvig's essay "Solving Every Sudoku Puzzle": sudoku-easy50.txt, sudoku-top95.txt and
sudoku-hardest.txt in the folder py of https://github.com/norvig/pytudes.

    python benchmarks/techniques.py --easy EASY50 --hard TOP95 --hardest HARDEST

The document's sets of techniques: 1 is naked and hidden singles, 2a hidden pairs, 2b naked pairs;
all is 1, 2a and 2b, without the locked candidates that ``simplify`` has by default. Its program
fixes a cell with one remaining hint under any set, so its "brute force" is ``naked-single`` here.
Hints are the candidates of cells without a digit; in the input, there are 9 for each, whatever the
clues.

The document says that sets of three and more cells are of marginal benefit, and gives no figures.
Here plain Python removes candidates by naked and hidden subsets of up to 3 and up to 4 cells. With
up to 2, it must leave the candidates that ``simplify`` leaves with all.

Three figures differ by more than rounding. Two are numbers of hints: of 2a on the easy list, and of
1+2a on the hard list. The document's program skips a hidden pair whose cells have only two hints
each, and therefore does not clear the other unit of these cells unless 2b does. With that rule
125.8 and 184.0 hints remain, as printed, and no other figure changes. The third is the share that
2b solves of the hardest list: 317 of 891 cells, also by its rules. This is 35.6 %, cut to 35.

The board "that Peter mentions taking most time" is the one of 1439 seconds in the essay. The
program that the document links to calls it p9_imp. Hidden singles and hidden pairs together show
without a guess that it has no solution. Neither of them alone does, nor do singles and 2b.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import click
import numpy as np
from machine import measure_gigahertz, read_results, record
from script import Run, check_count, group_runs, print_table, script, take_turns

import gpusudoku
from gpusudoku import Board, formats
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import InputError, MismatchError
from gpusudoku.formats import parse
from gpusudoku.options import Options
from gpusudoku.planning.search import SearchPlan
from gpusudoku.search.frontier import Frontier

SETS = {
    "naked-single": "naked-single",
    "1": "naked-single,hidden-single",
    "2a": "naked-single,hidden-pair",
    "2b": "naked-single,naked-pair",
    "2": "naked-single,naked-pair,hidden-pair",
    "1+2a": "naked-single,hidden-single,hidden-pair",
    "1+2b": "naked-single,hidden-single,naked-pair",
    "all": "naked-single,hidden-single,naked-pair,hidden-pair",
    "all, locked": "all",
}
SUBSETS = {"up to 2": 2, "up to 3": 3, "up to 4": 4}
"""The maximum number of cells of the subsets that plain Python finds; up to 2 is the set all."""

Printed = dict[str, dict[str, float]]
"""The document's figures by list and set."""


def parse_table(heads: str, **rows: str) -> Printed:
    """Read a table of the document: sets of techniques as heads, a row for each list."""
    table: Printed = {}
    for name, row in rows.items():
        figures = map(float, row.split())
        table[name] = dict(zip(heads.split(), figures, strict=True))
    return table


SOLVED = parse_table(
    "input 1 2a 2b 2 1+2a 1+2b all",
    easy="35 89 54 68 70 96 94 96",
    hard="25 31 26 26 26 41 31 41",
    hardest="30 45 35 35 36 50 45 50",
)
HINTS = parse_table(
    "input 1 2a 2b 2 1+2a 1+2b all",
    easy="474 29 126 89 82 10 16 10",
    hard="544 230 252 260 250 184 228 181",
    hardest="508 161 191 193 189 141 158 141",
)
MILLISECONDS = parse_table(
    "naked-single 1 1+2a 1+2b all",
    easy="0.14 0.04 0.03 0.03 0.03",
    hard="21 1.16 0.44 0.55 0.42",
    hardest="0.61 0.17 0.20 0.19 0.22",
) | parse_table("1 all", impossible="6134 10")

# Title, field of the runs, scale, format, and the figures of the document.
TABLES = [
    ("Cells solved, in percent", "cells", 100, ".1f", SOLVED),
    ("Remaining candidates (the document's hints; of the input, 9 for every empty cell)",
     "hints", 1, ".1f", HINTS),
    ("Puzzles solved without a guess", "puzzles", 1, ".0f", {}),
    ("Nodes of a search until it finds a solution of every puzzle", "nodes", 1, ",.0f", {}),
    ("Milliseconds of plain Python for the subsets of a puzzle", "python_seconds", 1e3, ".0f", {}),
]  # fmt: skip
IMPOSSIBLE = ".....5.8....6.1.43..........1.5........1.6...3.......553.....61........4........."


def remaining_candidates(board: Board, max_size: int) -> list[int]:
    """Remove candidates by subsets of up to ``max_size`` cells of a unit until nothing changes.

    If n cells of a unit have n candidates together (a naked subset), no other cell of the unit has
    these candidates. If n digits have n cells of a unit together (a hidden subset), these cells
    have no other candidates.

    Returns
    -------
    For each cell the remaining candidates; digit d is bit d - 1.
    """
    digits = range(1, board.n + 1)
    # A clue is the only candidate of its cell.
    candidates = [{clue} if clue else set(digits) for clue in board.cells.tolist()]
    previous_count = 0
    while (count := sum(map(len, candidates))) != previous_count:
        previous_count = count
        for unit in board.geometry.units.tolist():
            for size in range(1, max_size + 1):
                for cells in combinations(unit, size):
                    # A naked subset: as many candidates as cells.
                    naked = set[int]().union(*(candidates[cell] for cell in cells))
                    if len(naked) == size:
                        for cell in set(unit).difference(cells):
                            candidates[cell] -= naked
                # A hidden subset: as many cells as digits.
                for hidden in map(set, combinations(digits, size)):
                    places = [cell for cell in unit if candidates[cell] & hidden]
                    if len(places) == size:
                        for cell in places:
                            candidates[cell] &= hidden
    return [sum(1 << digit - 1 for digit in cell) for cell in candidates]


def simplify_list(name: str, boards: Sequence[Board]) -> list[Run]:
    """Return what every set solves of a list without any guess, and the remaining hints."""
    remaining = {"input": [remaining_candidates(board, 0) for board in boards]}
    for key, techniques in SETS.items():
        results = [gpusudoku.simplify(board, techniques) for board in boards]
        if any(result.contradictory for result in results):
            raise InputError(f"{name}: a board has no solution")
        remaining[key] = [result.candidates.tolist() for result in results]
    runs: list[Run] = []
    for key, size in SUBSETS.items():
        start = time.process_time()
        remaining[key] = [remaining_candidates(board, size) for board in boards]
        seconds = (time.process_time() - start) / len(boards)
        runs.append({"list": name, "set": key, "python_seconds": seconds})
    # Plain Python and the kernels have to agree on subsets of up to 2 cells.
    if remaining.pop("up to 2") != remaining["all"]:
        raise MismatchError(f"{name}: subsets of up to 2 do not leave what all leaves")
    for key, masks_of_boards in remaining.items():
        candidate_counts = np.array(
            [[mask.bit_count() for mask in masks] for masks in masks_of_boards]
        )
        is_solved = candidate_counts == 1
        runs.append({"list": name, "set": key, "cells": float(is_solved.mean()),
                     "hints": float(candidate_counts[~is_solved].sum() / len(boards)),
                     "puzzles": int(is_solved.all(axis=1).sum())})  # fmt: skip
    return runs


def time_lists(lists: dict[str, list[Board]], repeats: int) -> list[Run]:
    """Search one solution of every board of each list, on one thread, and return the runs."""
    engine = make_engine(device="cpu", jobs=1)
    impossible = parse(IMPOSSIBLE)
    contraction = gpusudoku.count(impossible, engine=engine, device="cpu", method="contraction")
    check_count("the impossible board, by contraction", contraction.count, 0)
    lists = lists | {"impossible": [impossible]}
    # Only sets for which the document prints a time are timed.
    cases = [(key, name) for key in SETS for name in lists if key in MILLISECONDS[name]]
    runs = []
    for (key, name), is_recorded in take_turns(cases, repeats, " ".join):
        options = Options(device="cpu", jobs=1, method="search", propagate=SETS[key], limit=1)
        counts, stats, _ = SearchPlan(Frontier.of(lists[name]), options).run(engine)
        solved_boards = sum(count > 0 for count in counts)
        check_count(f"{name}, {key}", solved_boards, 0 if name == "impossible" else len(counts))
        if is_recorded:
            runs.append({"list": name, "set": key, "nodes": stats.nodes,
                         "milliseconds": 1e3 * stats.seconds / len(counts)})  # fmt: skip
    return runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    runs = read_results(path)["runs"]
    print("In parentheses: what the document prints.\n")
    for title, field, scale, form, printed in TABLES:
        measured = {(run["list"], run["set"]): scale * run[field] for run in runs if field in run}
        print(f"{title}{describe_agreement(measured, printed)}:\n")
        print_figures(measured, printed, form)

    cases = group_runs([run for run in runs if "nodes" in run], "list", "set")
    times = {case: min(run["milliseconds"] for run in cases[case]) for case in cases}
    print("Milliseconds per puzzle until a solution is found: engine time on one thread, the")
    print("quickest run, all puzzles of a list in one batch. The document measures one by one.\n")
    print_figures(times, MILLISECONDS, ".3g")
    print("impossible: the board without a solution that took Norvig's program longest, 1439 s.")


Figures = dict[tuple[str, str], float]
"""Measured figures by list and set."""


def describe_agreement(measured: Figures, printed: Printed) -> str:
    """Return how many printed figures agree with the measured ones; empty if there are none."""
    differences = [
        abs(figure - printed[name][key])
        for (name, key), figure in measured.items()
        if key in printed.get(name, ())
    ]
    if not differences:
        return ""
    agreeing = sum(difference <= 0.5 for difference in differences)
    return f"; {agreeing} of {len(differences)} printed figures agree to the rounding"


def print_figures(measured: Figures, printed: Printed, form: str) -> None:
    """Print a table with a row for each list and a column for each set.

    A figure that the document prints is in parentheses after the measured one.
    """
    names = list(dict.fromkeys(name for name, _ in measured))
    keys = list(dict.fromkeys(key for _, key in measured))
    rows = []
    for name in names:
        cells = []
        for key in keys:
            cell = f"{measured[name, key]:{form}}" if (name, key) in measured else ""
            if cell and key in printed.get(name, ()):
                cell += f" ({printed[name][key]:g})"
            cells.append(cell)
        rows.append([name, *cells])
    print_table(["list", *keys], rows)
    print()


@script("techniques", show)
@click.option("--easy", type=click.Path(exists=True, dir_okay=False), help="File of puzzles.")
@click.option("--hard", type=click.Path(exists=True, dir_okay=False), help="Another file.")
@click.option("--hardest", type=click.Path(exists=True, dir_okay=False), help="Another file.")
@click.option("--repeats", default=25, show_default=True, help="Runs of every timing.")
def main(path: Path, repeats: int, **files: str | None) -> None:
    """Simplify and solve the lists of the document with its sets of techniques."""
    lists = {
        name: list(formats.read_text(Path(file).read_text(), source=file))
        for name, file in files.items()
        if file is not None
    }
    if not lists:
        raise InputError("expected a list of puzzles: see --easy, --hard and --hardest")
    gigahertz_before = measure_gigahertz(1)
    runs = []
    for name, boards in lists.items():
        runs += simplify_list(name, boards)
    runs += time_lists(lists, repeats)
    record(path, runs, gigahertz=[gigahertz_before, measure_gigahertz(1)])


if __name__ == "__main__":
    main()
