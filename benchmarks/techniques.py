"""Repeat the tables of "Solving Sudoku Puzzles" (n1balgo/sudoku, 2014), its figures beside ours.

The tables show how much techniques solve, and how much they leave, without any guess, and how long
a solution takes if they are applied at every node. The document's lists are those of Peter Norvig's
essay "Solving Every Sudoku Puzzle": sudoku-easy50.txt, sudoku-top95.txt and sudoku-hardest.txt in
the folder py of https://github.com/norvig/pytudes.

    python benchmarks/techniques.py --easy EASY50 --hard TOP95 --hardest HARDEST

The document's sets: 1 is naked and hidden singles, 2a hidden pairs, 2b naked pairs; all is 1, 2a
and 2b, without the locked candidates that ``simplify`` has by default. As in its program, a cell
left with one hint is fixed whatever the set, so that "brute force" there is ``naked-single`` here.
Hints are the candidates of cells without a digit; in the input, 9 for each, whatever the clues.

It says that sets of three and more are of marginal benefit, and gives no figures. Here plain Python
removes candidates by naked and hidden subsets of up to 3 and up to 4 cells. With up to 2, it must
leave the candidates that ``simplify`` leaves with all.

Three figures differ by more than rounding. Two are hints, those that 2a leaves of the easy list and
1+2a of the hard one: the document's program skips a hidden pair whose cells have only two hints
each, and does not clear their other unit unless 2b does. By its rules 125.8 and 184.0 hints are
left, as printed, and nothing else changes. The third is the share that 2b solves of the hardest
list: 317 of 891 cells by its rules, too, which is 35.6 % and was cut to 35.

The board "that Peter mentions taking most time" is that of 1439 seconds in the essay, p9_imp in the
program that the document links to. Hidden singles and hidden pairs together show without a guess
that it has no solution; neither do alone, nor do singles and 2b.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import click
import numpy as np
from machine import gigahertz, record, recorded
from script import Run, check, grouped, script, table, turns

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
"""The most cells of the subsets that plain Python finds; up to 2 is what all finds."""

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
    "naked-single 1 1+2a 1+2b all",
    easy="0.14 0.04 0.03 0.03 0.03",
    hard="21 1.16 0.44 0.55 0.42",
    hardest="0.61 0.17 0.20 0.19 0.22",
) | printed("1 all", impossible="6134 10")

TABLES = [
    ("Cells solved, in percent", "cells", 100, ".1f", SOLVED),
    ("Candidates left (the document's hints; of the input, 9 for every empty cell)",
     "hints", 1, ".1f", HINTS),
    ("Puzzles solved without a guess", "puzzles", 1, ".0f", {}),
    ("Nodes that are searched until every puzzle has a solution", "nodes", 1, ",.0f", {}),
    ("Milliseconds of plain Python for the subsets of a puzzle", "python_seconds", 1e3, ".0f", {}),
]  # fmt: skip
IMPOSSIBLE = ".....5.8....6.1.43..........1.5........1.6...3.......553.....61........4........."


def remaining_candidates(board: Board, max_size: int) -> list[int]:
    """Remove candidates by subsets of cells of a unit until nothing changes; return them as bits.

    If n cells have n candidates in all (a naked subset), no other cell of the unit has these. If n
    digits have n places in all (a hidden subset), these cells have no other candidates.
    """
    digits = range(1, board.n + 1)
    candidates = [{clue} if clue else set(digits) for clue in board.cells.tolist()]
    number_before = 0
    while (number := sum(map(len, candidates))) != number_before:
        number_before = number
        for unit in board.geometry.units.tolist():
            for size in range(1, max_size + 1):
                for cells in combinations(unit, size):
                    naked = set[int]().union(*(candidates[cell] for cell in cells))
                    if len(naked) == size:
                        for cell in set(unit).difference(cells):
                            candidates[cell] -= naked
                for hidden in map(set, combinations(digits, size)):
                    places = [cell for cell in unit if candidates[cell] & hidden]
                    if len(places) == size:
                        for cell in places:
                            candidates[cell] &= hidden
    return [sum(1 << digit - 1 for digit in cell) for cell in candidates]


def simplified(name: str, boards: Sequence[Board]) -> list[Run]:
    """What every set solves of a list, and the hints it leaves, without any guess."""
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
    if remaining.pop("up to 2") != remaining["all"]:
        raise MismatchError(f"{name}: subsets of up to 2 do not leave what all leaves")
    for key, masks in remaining.items():
        numbers = np.array([[mask.bit_count() for mask in board] for board in masks])
        solved = numbers == 1
        runs.append({"list": name, "set": key, "cells": float(solved.mean()),
                     "hints": float(numbers[~solved].sum() / len(boards)),
                     "puzzles": int(solved.all(axis=1).sum())})  # fmt: skip
    return runs


def timed(lists: dict[str, list[Board]], repeats: int) -> list[Run]:
    """Every run that looks for one solution of each board of a list, on one thread."""
    engine = make_engine(device="cpu", jobs=1)
    impossible = parse(IMPOSSIBLE)
    contracted = gpusudoku.count(impossible, engine=engine, device="cpu", method="contraction")
    check("the impossible board, by contraction", contracted.count, 0)
    lists = lists | {"impossible": [impossible]}
    cases = [(key, name) for key in SETS for name in lists if key in MILLISECONDS[name]]
    runs = []
    for (key, name), kept in turns(cases, repeats, " ".join):
        options = Options(device="cpu", jobs=1, method="search", propagate=SETS[key], limit=1)
        counts, stats, _ = SearchPlan(Frontier.of(lists[name]), options).run(engine)
        solved = sum(count > 0 for count in counts)
        check(f"{name}, {key}", solved, 0 if name == "impossible" else len(counts))
        if kept:
            runs.append({"list": name, "set": key, "nodes": stats.nodes,
                         "milliseconds": 1e3 * stats.seconds / len(counts)})  # fmt: skip
    return runs


def show(path: Path) -> None:
    """Print the tables of a recorded file."""
    runs = recorded(path)["runs"]
    print("In parentheses: what the document prints.\n")
    for title, field, scale, form, figures in TABLES:
        ours = {(run["list"], run["set"]): scale * run[field] for run in runs if field in run}
        both = [(ours[n, key], figures[n][key]) for n, key in ours if key in figures.get(n, ())]
        agreeing = sum(abs(value - figure) <= 0.5 for value, figure in both)
        agree = f"; {agreeing} of {len(both)} printed figures agree to the rounding" if both else ""
        print(f"{title}{agree}:\n")
        print_table(ours, figures, form)
    cases = grouped([run for run in runs if "nodes" in run], "list", "set")
    times = {case: min(run["milliseconds"] for run in cases[case]) for case in cases}
    print("Milliseconds per puzzle until a solution is found: engine time on one thread, the")
    print("quickest run, all puzzles of a list in one batch. The document measures one by one.\n")
    print_table(times, MILLISECONDS, ".3g")
    print("impossible: the board without a solution that took Norvig's program longest, 1439 s.")


def print_table(ours: dict[tuple[str, str], float], figures: Printed, form: str) -> None:
    """Lists down, sets across; every figure of ours beside the document's, if it prints one."""
    heads = list(dict.fromkeys(key for _, key in ours))
    rows = []
    for name in dict.fromkeys(name for name, _ in ours):
        cells = [f"{ours[name, key]:{form}}" if (name, key) in ours else "" for key in heads]
        for column, key in enumerate(heads):
            if cells[column] and key in figures.get(name, ()):
                cells[column] += f" ({figures[name][key]:g})"
        rows.append([name, *cells])
    table(["list", *heads], rows)
    print()


@script("techniques", show)
@click.option("--easy", type=click.Path(exists=True, dir_okay=False), help="File of puzzles.")
@click.option("--hard", type=click.Path(exists=True, dir_okay=False), help="Another.")
@click.option("--hardest", type=click.Path(exists=True, dir_okay=False), help="Another.")
@click.option("--repeats", default=25, show_default=True, help="Runs of every timing.")
def main(path: Path, repeats: int, **files: str | None) -> None:
    """Simplify and solve the lists of the document with its sets of techniques."""
    lists = {
        name: list(formats.read_text(Path(file).read_text(), source=file))
        for name, file in files.items()
        if file is not None
    }
    if not lists:
        raise InputError("no list is given: see --easy, --hard and --hardest")
    before = gigahertz(1)
    runs = [run for name, boards in lists.items() for run in simplified(name, boards)]
    runs += timed(lists, repeats)
    record(path, runs, gigahertz=[before, gigahertz(1)])


if __name__ == "__main__":
    main()
