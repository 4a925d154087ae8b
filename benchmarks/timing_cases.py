"""What ``timings.py`` times: topics, and for each the cases that are its table.

A topic is a generator of cases, registered by ``topic``. What a case needs is prepared before the
first one is timed: files are written, puzzles are made. Commands are timed whole, start-up
included. Calls are made in this process, by one thread unless a case says otherwise.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from generated import NINE, random_boards, rearranged
from numpy.typing import NDArray

import gpusudoku
from gpusudoku import Board, collection, formats
from gpusudoku.bench.suite import thread_numbers
from gpusudoku.board.batch import Batch
from gpusudoku.engines.make import make_engine
from gpusudoku.errors import GpusudokuError
from gpusudoku.formats.coerce import batches_of

PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
"""An easy puzzle."""
PROPER = ["1a", "2a", "a1", "b1", "techniques-9x9", "decomposition-9x9", "decomposition-matrix-9x9"]
"""Boards of the collection with 9x9 cells and one solution."""
PATTERN = "....x..x..xxx.....x....x..xx....x.x..xx...xx..x.x....xx..x....x.....xxx..x..x...."
"""The cells with clues in a symmetric puzzle of 26."""
LINE = 82
"""Bytes of a line of 9x9 cells."""
MAX_CHECKED = 1000
"""The maximum number of puzzles of an answer that are checked."""


class Case(NamedTuple):
    """Something to time."""

    label: str
    """Its row in the table of its topic."""
    variant: str
    """Its column."""
    items: int
    """How many items it processes."""
    run: Callable[[], Any]
    """What is timed; it returns an answer."""
    count_right: Callable[[Any], int]
    """Returns how many items of an answer are right: all of them have to be."""


class Setting(NamedTuple):
    """What a topic needs to make its cases."""

    folder: Path
    """For files, which are deleted at the end."""
    quick: bool = False
    """Whether a hundredth of the items, and small boards, are enough."""

    def number(self, full: int) -> int:
        """Return the number of items to process."""
        return max(1, full // 100) if self.quick else full

    def write(self, name: str, lines: Iterable[str]) -> str:
        """Write a file of lines; returns its path."""
        path = self.folder / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)

    def command(self, *words: str) -> Callable[[], Path]:
        """Return a call of ``gpusudoku`` that returns the path of what the command printed."""

        def run() -> Path:
            path = self.folder / "output"
            with path.open("wb") as file:
                run_command(words, file)
            return path

        return run


MakeCases = Callable[[Setting], Iterator[Case]]


class Topic(NamedTuple):
    """A table of cases."""

    name: str
    rows: str
    """The heading of the first column."""
    item: str
    """What the cases process."""
    rates: bool
    """Whether the table has items a second; otherwise it has the time that an item takes."""
    make_cases: MakeCases


TOPICS: dict[str, Topic] = {}


def topic(rows: str, item: str, rates: bool = True) -> Callable[[MakeCases], MakeCases]:
    """Register a function that makes the cases of a topic, under its own name."""

    def register(make_cases: MakeCases) -> MakeCases:
        name = make_cases.__name__
        TOPICS[name] = Topic(name, rows, item, rates, make_cases)
        return make_cases

    return register


def run_command(words: Sequence[str], output: Any) -> None:
    """Run ``gpusudoku`` on the CPU.

    Raises
    ------
    GpusudokuError
        If it fails: the last line that it wrote to stderr.
    """
    process = subprocess.run(
        [sys.executable, "-m", "gpusudoku", *words],
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, "GPUSUDOKU_DEVICE": "cpu"},
    )
    if process.returncode:
        raise GpusudokuError(f"{words[0]}: {process.stderr.strip().rpartition(chr(10))[2]}")


def own_puzzles(number: int) -> list[str]:
    """Return puzzles made from the collection: digits, rows and columns exchanged."""
    rng = np.random.default_rng(1)
    distinct = min(number, 10_000)
    grids = [collection.load(name).grid for name in PROPER]
    puzzles = [rearranged(grids[k % len(grids)], rng).ravel() for k in range(distinct)]
    lines = formats.write_lines(np.stack(puzzles)).decode().splitlines()
    return [lines[k % distinct] for k in range(number)]


def lines_of(path: Path) -> list[str]:
    """Read the lines of a file."""
    return path.read_text().splitlines()


def count_unique(path: Path) -> int:
    """Return how many lines that ``count`` wrote say that a puzzle has one solution."""
    return sum(line.endswith(":1") for line in lines_of(path))


def count_proper(answer: Path | Sequence[Any] | NDArray[np.uint8]) -> int:
    """Return how many puzzles have one solution; only the first MAX_CHECKED are checked.

    The answer has the puzzles, or is the path of a file of them.
    """
    puzzles = lines_of(answer) if isinstance(answer, Path) else answer
    results = gpusudoku.count_many(list(puzzles[:MAX_CHECKED]), limit=2, device="cpu")
    return len(puzzles) - sum(result.count != 1 for result in results)


def count_minimal(answer: Path | Sequence[Any] | NDArray[np.uint8]) -> int:
    """Do the same as ``count_proper``; puzzles with a redundant clue do not count."""
    puzzles = lines_of(answer) if isinstance(answer, Path) else answer
    proper = count_proper(puzzles)
    if proper < len(puzzles):
        return proper
    results = gpusudoku.minimise_many(list(puzzles[:MAX_CHECKED]), seed=1)
    return len(puzzles) - sum(len(result.removed) > 0 for result in results)


@topic("command", "puzzle")
def batches(setting: Setting) -> Iterator[Case]:
    """Commands on a file of puzzles, from the file to the printed lines."""
    number = setting.number(300_000)
    file = setting.write("puzzles", own_puzzles(number))
    commands: dict[str, Callable[[Path], int]] = {
        "count --limit 2": count_unique,
        "count --only unique": count_proper,
        "solve": count_proper,  # the grids themselves are boards with one solution
    }
    for words, count_right in commands.items():
        for threads in thread_numbers():
            run = setting.command(*words.split(), file, "-j", str(threads))
            yield Case(f"`{words}`", f"-j {threads}", number, run, count_right)


@topic("input", "board")
def reading(setting: Setting) -> Iterator[Case]:
    """Boards from files and from Python's containers, without a search."""
    puzzles = own_puzzles(setting.number(100_000))
    solution = "123456789" * 9
    answer = {"box": "3x3", "count": "1", "exact": True, "unique": True, "method": "search"}
    objects = ({"id": k, "puzzle": puzzle} for k, puzzle in enumerate(puzzles))
    answers = ({"board": puzzle, **answer, "line": k} for k, puzzle in enumerate(puzzles, 1))
    files: dict[str, Iterable[str]] = {
        "a file of plain lines": puzzles,
        "CSV: puzzle, solution": ["puzzle,solution", *(f"{line},{solution}" for line in puzzles)],
        "JSON lines": map(json.dumps, objects),
        "the output of `count --json`": map(json.dumps, answers),
    }
    containers = {
        "a list of strings": puzzles,
        "a NumPy array of integers": np.array(
            [list(puzzle.replace(".", "0")) for puzzle in puzzles]
        ).astype(np.int8),
    }

    def count_boards(read: Callable[[], Iterable[Any]]) -> int:
        return sum(len(batch) for batch in read() if isinstance(batch, Batch))

    for label, lines in files.items():
        read = partial(formats.read_batches, setting.write(label, lines))
        yield Case(label, "", len(puzzles), partial(count_boards, read), int)
    for label, boards in containers.items():
        read = partial(batches_of, boards)
        yield Case(label, "", len(puzzles), partial(count_boards, read), int)


@topic("board", "solution")
def listing(setting: Setting) -> Iterator[Case]:
    """All solutions of a board by `enumerate`, on all cores, into a file (in memory on Linux)."""
    for name in ["1b"] if setting.quick else ["1e", "1f"]:
        solutions = collection.entry(name).count
        label = f"{name}, {solutions:,} solutions"
        command = setting.command("enumerate", f"@{name}")
        yield Case(label, "", solutions, command, lambda path: path.stat().st_size // LINE)


@topic("clues", "count, sample or solution", rates=False)
def by_number(setting: Setting) -> Iterator[Case]:
    """Samples, the k-th solution, and lists in both orders, of random 9x9 boards."""
    samples = setting.number(100_000)
    for clues in [24] if setting.quick else [0, 8, 17, 24]:
        [board] = random_boards(clues, 1)
        yield from cases_by_number(str(clues), board, samples)


def cases_by_number(label: str, board: Board, samples: int) -> Iterator[Case]:
    """Make the cases of one board, on one thread."""
    engine = make_engine(device="cpu", jobs=1)
    # An object without anything computed, and one that has found a solution.
    make_fresh = partial(gpusudoku.solutions, board, engine=engine, device="cpu", jobs=1)
    known = make_fresh()
    count = known.rank(known[-1]) + 1
    listed = min(samples, count)
    rng = random.Random(1)

    def random_numbers(amount: int) -> list[int]:
        """Return numbers of solutions, other ones in every run."""
        return [rng.randrange(count) for _ in range(amount)]

    def find(solutions: gpusudoku.Solutions, amount: int) -> list[tuple[int, Board]]:
        return [(k, solutions[k]) for k in random_numbers(amount)]

    def count_ranked(answer: list[tuple[int, Board]]) -> int:
        return sum(known.rank(solution) == k for k, solution in answer)

    def find_quickly(amount: int) -> list[NDArray[np.uint8]]:
        return [next(known.blocks(k, k + 1)) for k in random_numbers(amount)]

    def count_found(blocks: list[NDArray[np.uint8]]) -> int:
        rows = np.concatenate(blocks)
        keep_clues = ((board.cells == 0) | (rows == board.cells)).all(axis=1)
        return min(int(keep_clues.sum()), count_proper(rows))

    def list_lines(solutions: Any, *bounds: int) -> int:
        return sum(map(len, solutions.lines(*bounds))) // LINE

    yield Case(label, "count", 1, lambda: make_fresh().count, lambda answer: answer == count)
    yield Case(label, "sample", samples, lambda: [*known.sample_blocks(samples, 1)], count_found)
    yield Case(label, "first k, ascending", 1, lambda: find(make_fresh(), 1), count_ranked)
    yield Case(label, "next k, ascending", 1, lambda: find(known, 1), count_ranked)
    yield Case(label, "next k, contraction order", 20, lambda: find_quickly(20), count_found)
    yield Case(label, "list, ascending", listed, lambda: list_lines(make_fresh()[:listed]), int)
    yield Case(
        label, "list, contraction order", listed, lambda: list_lines(make_fresh(), 0, listed), int
    )


@topic("clues", "board", rates=False)
def shares(setting: Setting) -> Iterator[Case]:
    """The shares of all candidates of random 9x9 boards, beside their counts."""
    options: dict[str, Any] = {"engine": make_engine(device="cpu", jobs=1), "jobs": 1}

    def count_each(boards: list[Board]) -> list[int]:
        return [gpusudoku.count(board, device="cpu", **options).count for board in boards]

    def share_each(boards: list[Board]) -> list[int]:
        """Return the sums of the shares in the first cell, which are the numbers of solutions."""
        all_solutions = (gpusudoku.solutions(board, device="cpu", **options) for board in boards)
        return [int(solutions.shares()[0].sum()) for solutions in all_solutions]

    numbers = {0: 1, 8: 2, 12: 5, 17: 20, 20: 200, 30: 200}
    for clues, number in {30: 200}.items() if setting.quick else numbers.items():
        boards = random_boards(clues, setting.number(number))
        results = gpusudoku.count_many(boards, device="cpu", method="contraction")
        check = partial(count_equal, [result.count for result in results])
        for label, run in (("`count(board)`", count_each), ("`shares()`", share_each)):
            yield Case(str(clues), label, len(boards), partial(run, boards), check)
        if clues >= 20:  # with few boards most of the time would be start-up
            file = setting.write(f"shares-{clues}", map(str, boards))
            command = setting.command("shares", file, "--json", "-j", "1")
            yield Case(str(clues), "`shares FILE`", len(boards), command, check)


def count_equal(counts: list[int], answer: list[int] | Path) -> int:
    """Return how many counts are right, in an answer or in a file of JSON lines."""
    if isinstance(answer, Path):
        answer = [int(json.loads(line)["count"]) for line in lines_of(answer)]
    return sum(map(int.__eq__, answer, counts))


@topic("puzzles", "puzzle")
def making(setting: Setting) -> Iterator[Case]:
    """Puzzles at random, and out of full grids, by one thread."""

    def generate(number: int, **wishes: Any) -> NDArray[np.uint8]:
        blocks = gpusudoku.generate(number, seed=1, jobs=1, **wishes).blocks()
        return np.concatenate([block.puzzles for block in blocks])

    def minimise(grids: NDArray[np.uint8]) -> list[Any]:
        return [result.board for result in gpusudoku.minimise_many(grids, seed=1, jobs=1)]

    number = setting.number(50_000)
    grids = full_grids(number)
    file = setting.write("grids", formats.write_lines(grids).decode().splitlines())
    call = partial(generate, number, minimal=True)
    command = setting.command("generate", "-n", str(number), "--seed", "1", "-j", "1", "-q")
    yield Case("minimal (`generate`)", "Python", number, call, count_minimal)
    yield Case("minimal (`generate`)", "command", number, command, count_minimal)
    call = partial(minimise, grids)
    command = setting.command("minimise", file, "--seed", "1", "-j", "1", "-q")
    yield Case("minimal, of full grids (`minimise`)", "Python", number, call, count_minimal)
    yield Case("minimal, of full grids (`minimise`)", "command", number, command, count_minimal)
    wishes: dict[str, tuple[int, dict[str, Any]]] = {
        "rotational symmetry": (20_000, {"symmetry": "rotational"}),
        "rotational symmetry, 26 clues": (2000, {"symmetry": "rotational", "clues": 26}),
        "a pattern of 26 clues": (50, {"pattern": PATTERN}),
        "easy": (5000, {"difficulty": "easy"}),
        "weighted (`--unbiased`)": (1000, {"unbiased": True}),
        "minimal, 16x16": (100, {"minimal": True, "box": "4x4"}),
    }
    for label, (full_number, wish) in wishes.items():
        number = setting.number(full_number)
        yield Case(label, "Python", number, partial(generate, number, **wish), count_proper)


def full_grids(number: int) -> NDArray[np.uint8]:
    """Return random solutions of the empty board, all of which are equally likely."""
    return gpusudoku.solutions(Board.empty(NINE), device="cpu").sample(number, 1)


@topic("what", "item")
def knowing(setting: Setting) -> Iterator[Case]:
    """Canonical forms, neighbours and a data set, by one thread."""
    number = setting.number(25_000)
    blocks = gpusudoku.generate(number, seed=1, clues=24).blocks()
    puzzles = np.concatenate([block.puzzles for block in blocks])
    rng = np.random.default_rng(1)

    def find_forms(boards: NDArray[np.uint8]) -> list[Any]:
        return [result.board for result in gpusudoku.canonical_many(boards, jobs=1)]

    def count_same(answer: list[Any] | Path) -> int:
        """Return how many boards have the form of their twins, which are in the second half."""
        forms = lines_of(answer) if isinstance(answer, Path) else answer
        half = len(forms) // 2
        return 2 * sum(form == twin for form, twin in zip(forms[:half], forms[half:], strict=True))

    for what, boards in {"full grids": full_grids(number), "puzzles of 24 clues": puzzles}.items():
        twins = [rearranged(cells.reshape(9, 9), rng).ravel() for cells in boards]
        call = partial(find_forms, np.concatenate([boards, twins]))
        # So many boards that start-up is a small part of the time.
        many = np.concatenate([*[boards] * 10, *[twins] * 10])
        file = setting.write(what, formats.write_lines(many).decode().splitlines())
        command = setting.command("canonical", file, "-j", "1", "-q")
        yield Case(f"canonical forms of {what}", "Python", 2 * number, call, count_same)
        yield Case(f"canonical forms of {what}", "command", len(many), command, count_same)

    few = setting.number(1000)
    file = setting.write("few", formats.write_lines(puzzles[:few]).decode().splitlines())

    command = setting.command("neighbours", file, "-j", "1", "-q")

    def count_listed(path: Path) -> int:
        return few if few < count_proper(path) == len(lines_of(path)) else 0

    yield Case("puzzles whose neighbours are listed", "command", few, command, count_listed)
    rows = setting.number(30_000)
    command = setting.command("dataset", "-n", str(rows), "-j", "1", "-q")
    yield Case("rows of a data set", "command", rows, command, lambda path: len(lines_of(path)) - 1)


@topic("call or command", "call", rates=False)
def waits(setting: Setting) -> Iterator[Case]:
    """Single calls in a process that has made some, and single commands."""
    board = gpusudoku.parse(PUZZLE)
    many = str(collection.load("1b"))
    count = partial(gpusudoku.count, device="cpu")
    count_many = partial(gpusudoku.count_many, device="cpu")
    calls: dict[str, Callable[[], bool]] = {
        "`count(line)`, an easy 9x9 puzzle": lambda: count(PUZZLE).count == 1,
        "`count(board)`, a `Board`": lambda: count(board).count == 1,
        "`solve(line)`": lambda: gpusudoku.solve(PUZZLE, device="cpu").solvable,
        "`count(line)` of 1b, 4,715 solutions": lambda: count(many).count == 4715,
        "`simplify(line)`": lambda: not gpusudoku.simplify(PUZZLE).contradictory,
        "`minimise(line)`": lambda: len(gpusudoku.minimise(PUZZLE, seed=1).removed) > 0,
        "`list(count_many([line]))`": lambda: (
            [result.count for result in count_many([PUZZLE])] == [1]
        ),
    }
    number = setting.number(500)

    def repeat(call: Callable[[], bool]) -> int:
        return sum(call() for _ in range(number))

    for label, call in calls.items():
        yield Case(label, "", number, partial(repeat, call), int)
    commands: dict[str, Callable[[Path], bool]] = {
        "count PUZZLE": lambda path: path.read_text() == "1\n",
        "solve PUZZLE": lambda path: "5 3 4 | 6 7 8 | 9 1 2" in path.read_text(),
        "simplify PUZZLE": lambda path: "after:" in path.read_text(),
        "count @1f": lambda path: path.read_text() == "16269895\n",
        "sample @empty -n 5": lambda path: count_proper(path) == 5,
        "shares @1b": lambda path: "4715 solutions" in path.read_text(),
    }
    for words, is_right in commands.items():
        command = setting.command(*words.replace("PUZZLE", PUZZLE).split())
        yield Case(f"the command `{words}`", "", 1, command, is_right)


LARGE = ["16x16-unique", "16x16-solutions", "25x25-newspaper", "36x36-unique"]
RULES = ["min, singles", "min, locked", "min, naked-single", "first, singles", "min, none"]
"""Strategies and propagations."""
LARGE_RULES = ["min, singles", "min, locked", "min, all"]
"""The rules for large boards, which may take hours with weaker propagation."""


@topic("board", "count", rates=False)
def speed(setting: Setting) -> Iterator[Case]:
    """The search by board, strategy and propagation, on one thread."""
    for name in ["1b"] if setting.quick else ["1c", "1e", "2c", "2d", *LARGE]:
        times = 1 if collection.entry(name).count > 1 else 5
        for rules in LARGE_RULES if name in LARGE else RULES:
            strategy, propagate = rules.split(", ")
            yield search_case(name, times, strategy, propagate)


def search_case(name: str, times: int, strategy: str, propagate: str) -> Case:
    """Return a case that searches a board of the collection some times."""
    board = collection.load(name)
    solutions = collection.entry(name).count
    engine = make_engine(device="cpu", jobs=1)
    search = partial(gpusudoku.count, board, engine=engine, device="cpu", jobs=1, method="search",
                     strategy=strategy, propagate=propagate)  # fmt: skip

    def count_each() -> list[int]:
        return [search().count for _ in range(times)]

    label = f"{name}, {solutions:,} solution{'s' * (solutions > 1)}"
    variant = f"{strategy}, {propagate}"
    return Case(label, variant, times, count_each, lambda counts: counts.count(solutions))
