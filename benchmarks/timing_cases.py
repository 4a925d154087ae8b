"""The topics that ``timings.py`` times; the cases of a topic are the cells of its table.

A topic is a generator of cases that the decorator ``topic`` registers. All its input, such as files
and puzzles, is prepared before the first case is timed. Commands are timed as a whole, with their
start-up. Calls are made in this process, on one thread unless a case says otherwise.
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
PROPER_BOARDS = [
    "1a",
    "2a",
    "a1",
    "b1",
    "techniques-9x9",
    "decomposition-9x9",
    "decomposition-matrix-9x9",
]
"""Boards of the collection with 9x9 cells and one solution."""
PATTERN = "....x..x..xxx.....x....x..xx....x.x..xx...xx..x.x....xx..x....x.....xxx..x..x...."
"""The cells with clues in a symmetric puzzle of 26."""
LINE_BYTES = 82
"""Bytes of a line with a 9x9 board: 81 cells and the line end."""
MAX_CHECKED = 1000
"""At most this many puzzles of an answer are checked."""


class Case(NamedTuple):
    """A call or command to time."""

    label: str
    """The row of the topic's table."""
    variant: str
    """The column of the table; empty if there is only one."""
    items: int
    """The number of items that it processes."""
    run: Callable[[], Any]
    """The timed function; it returns an answer."""
    count_right: Callable[[Any], int]
    """Returns how many items of an answer are right. All of them have to be."""


class Setting(NamedTuple):
    """The folder and the size of a topic's cases."""

    folder: Path
    """A folder for files, which is deleted at the end."""
    quick: bool = False
    """Whether a trial with a hundredth of the items, and with small boards, is enough."""

    def number(self, full: int) -> int:
        """Return the number of items to process; ``full`` is the number of a real measurement."""
        return max(1, full // 100) if self.quick else full

    def write(self, name: str, lines: Iterable[str]) -> str:
        """Write a file of lines and return its path."""
        path = self.folder / name
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)

    def command(self, *words: str) -> Callable[[], Path]:
        """Return a function that runs ``gpusudoku`` and returns the path of its output."""

        def run() -> Path:
            path = self.folder / "output"
            with path.open("wb") as file:
                run_command(words, file)
            return path

        return run


MakeCases = Callable[[Setting], Iterator[Case]]


class Topic(NamedTuple):
    """A group of cases that share a table."""

    name: str
    rows: str
    """The heading of the first column."""
    item: str
    """What the cases process."""
    has_rates: bool
    """Whether the table has items per second; otherwise it has the time per item."""
    make_cases: MakeCases


TOPICS: dict[str, Topic] = {}


def topic(rows: str, item: str, has_rates: bool = True) -> Callable[[MakeCases], MakeCases]:
    """Register a function that makes the cases of a topic with the name of the function."""

    def register(make_cases: MakeCases) -> MakeCases:
        name = make_cases.__name__
        TOPICS[name] = Topic(name, rows, item, has_rates, make_cases)
        return make_cases

    return register


def run_command(words: Sequence[str], output: Any) -> None:
    """Run ``gpusudoku`` on the CPU.

    Raises
    ------
    GpusudokuError
        If the command fails; the message is the last line that it wrote to stderr.
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
        _, _, last_line = process.stderr.strip().rpartition("\n")
        raise GpusudokuError(f"{words[0]}: {last_line}")


def own_puzzles(number: int) -> list[str]:
    """Return puzzles made of the collection's by exchanging digits, rows and columns."""
    rng = np.random.default_rng(1)
    # Making a puzzle takes longer than counting it, so they are repeated.
    distinct = min(number, 10_000)
    grids = [collection.load(name).grid for name in PROPER_BOARDS]
    puzzles = [rearranged(grids[k % len(grids)], rng).ravel() for k in range(distinct)]
    lines = formats.write_lines(np.stack(puzzles)).decode().splitlines()
    return [lines[k % distinct] for k in range(number)]


def lines_of(path: Path) -> list[str]:
    """Read the lines of a file."""
    return path.read_text().splitlines()


def count_unique(path: Path) -> int:
    """Return in how many lines ``gpusudoku count`` reports exactly one solution."""
    return sum(line.endswith(":1") for line in lines_of(path))


def count_proper(answer: Path | Sequence[Any] | NDArray[np.uint8]) -> int:
    """Return how many puzzles have one solution; those after MAX_CHECKED are assumed to.

    The answer is a sequence of puzzles, or the path of a file of puzzles.
    """
    puzzles = lines_of(answer) if isinstance(answer, Path) else answer
    results = gpusudoku.count_many(list(puzzles[:MAX_CHECKED]), limit=2, device="cpu")
    wrong = sum(result.count != 1 for result in results)
    return len(puzzles) - wrong


def count_minimal(answer: Path | Sequence[Any] | NDArray[np.uint8]) -> int:
    """Return how many puzzles have one solution and no redundant clue, as ``count_proper`` does."""
    puzzles = lines_of(answer) if isinstance(answer, Path) else answer
    proper = count_proper(puzzles)
    if proper < len(puzzles):  # a puzzle with several solutions cannot be minimised
        return proper
    results = gpusudoku.minimise_many(list(puzzles[:MAX_CHECKED]), seed=1)
    not_minimal = sum(len(result.removed) > 0 for result in results)
    return len(puzzles) - not_minimal


@topic("command", "puzzle")
def batches(setting: Setting) -> Iterator[Case]:
    """Commands on a file of puzzles, from the file to the printed lines."""
    number = setting.number(300_000)
    file = setting.write("puzzles", own_puzzles(number))
    commands: dict[str, Callable[[Path], int]] = {
        "count --limit 2": count_unique,
        "count --only unique": count_proper,
        "solve": count_proper,  # the printed grids are boards with one solution
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
    objects = ({"id": k, "puzzle": puzzle} for k, puzzle in enumerate(puzzles))
    fields = {"box": "3x3", "count": "1", "exact": True, "unique": True, "method": "search"}
    records = ({"board": puzzle, **fields, "line": k} for k, puzzle in enumerate(puzzles, 1))
    files: dict[str, Iterable[str]] = {
        "a file of plain lines": puzzles,
        "CSV: puzzle, solution": ["puzzle,solution", *(f"{line},{solution}" for line in puzzles)],
        "JSON lines": map(json.dumps, objects),
        "the output of `count --json`": map(json.dumps, records),
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
        yield Case(label, "", solutions, command, lambda path: path.stat().st_size // LINE_BYTES)


@topic("clues", "count, sample or solution", has_rates=False)
def by_number(setting: Setting) -> Iterator[Case]:
    """Samples, the k-th solution, and lists in both orders, of random 9x9 boards."""
    samples = setting.number(100_000)
    for clues in [24] if setting.quick else [0, 8, 17, 24]:
        [board] = random_boards(clues, 1)
        yield from cases_by_number(str(clues), board, samples)


def cases_by_number(label: str, board: Board, samples: int) -> Iterator[Case]:
    """Make the cases of one board, on one thread."""
    engine = make_engine(device="cpu", jobs=1)
    # A fresh object has computed nothing yet. A warm one has found a solution before.
    make_fresh = partial(gpusudoku.solutions, board, engine=engine, device="cpu", jobs=1)
    warm = make_fresh()
    count = warm.rank(warm[-1]) + 1
    list_length = min(samples, count)
    rng = random.Random(1)  # the same in all runs of the script

    def random_ranks(amount: int) -> list[int]:
        """Return random numbers of solutions, different ones in every run."""
        return [rng.randrange(count) for _ in range(amount)]

    def find(solutions: gpusudoku.Solutions, amount: int) -> list[tuple[int, Board]]:
        return [(k, solutions[k]) for k in random_ranks(amount)]

    def count_ranked(answer: list[tuple[int, Board]]) -> int:
        return sum(warm.rank(solution) == k for k, solution in answer)

    def find_in_contraction_order(amount: int) -> list[NDArray[np.uint8]]:
        return [next(warm.blocks(k, k + 1)) for k in random_ranks(amount)]

    def count_solutions(blocks: list[NDArray[np.uint8]]) -> int:
        """Return how many rows of blocks are solutions of the board."""
        # A row is a solution if it keeps the clues and is a full grid without contradictions.
        rows = np.concatenate(blocks)
        keeps_clues = ((board.cells == 0) | (rows == board.cells)).all(axis=1)
        return min(int(keeps_clues.sum()), count_proper(rows))

    def list_lines(solutions: Any, *bounds: int) -> int:
        return sum(map(len, solutions.lines(*bounds))) // LINE_BYTES

    make_case = partial(Case, label)

    yield make_case("count", 1, lambda: make_fresh().count, lambda answer: answer == count)
    yield make_case("sample", samples, lambda: [*warm.sample_blocks(samples, 1)], count_solutions)
    yield make_case("first k, ascending", 1, lambda: find(make_fresh(), 1), count_ranked)
    yield make_case("next k, ascending", 1, lambda: find(warm, 1), count_ranked)
    find_20 = partial(find_in_contraction_order, 20)
    yield make_case("next k, contraction order", 20, find_20, count_solutions)

    def list_ascending() -> int:
        return list_lines(make_fresh()[:list_length])

    def list_in_contraction_order() -> int:
        return list_lines(make_fresh(), 0, list_length)

    yield make_case("list, ascending", list_length, list_ascending, int)
    yield make_case("list, contraction order", list_length, list_in_contraction_order, int)


@topic("clues", "board", has_rates=False)
def shares(setting: Setting) -> Iterator[Case]:
    """The shares of all candidates of random 9x9 boards, and their counts for comparison."""
    options: dict[str, Any] = {"engine": make_engine(device="cpu", jobs=1), "jobs": 1}

    def count_each(boards: list[Board]) -> list[int]:
        return [gpusudoku.count(board, device="cpu", **options).count for board in boards]

    def share_each(boards: list[Board]) -> list[int]:
        """Return the sum of the shares in the first cell, which is the number of solutions."""
        all_solutions = (gpusudoku.solutions(board, device="cpu", **options) for board in boards)
        return [int(solutions.shares()[0].sum()) for solutions in all_solutions]

    numbers_of_boards = {0: 1, 8: 2, 12: 5, 17: 20, 20: 200, 30: 200}  # by number of clues
    if setting.quick:
        numbers_of_boards = {30: 200}
    for clues, number in numbers_of_boards.items():
        boards = random_boards(clues, setting.number(number))
        results = gpusudoku.count_many(boards, device="cpu", method="contraction")
        count_right = partial(count_equal, [result.count for result in results])
        for label, run in (("`count(board)`", count_each), ("`shares()`", share_each)):
            yield Case(str(clues), label, len(boards), partial(run, boards), count_right)
        if clues >= 20:  # with few boards most of the time is start-up
            file = setting.write(f"shares-{clues}", map(str, boards))
            command = setting.command("shares", file, "--json", "-j", "1")
            yield Case(str(clues), "`shares FILE`", len(boards), command, count_right)


def count_equal(counts: list[int], answer: list[int] | Path) -> int:
    """Return how many counts of an answer, or of a file of JSON lines, are the expected ones."""
    if isinstance(answer, Path):
        answer = [int(json.loads(line)["count"]) for line in lines_of(answer)]
    return sum(map(int.__eq__, answer, counts))


@topic("puzzles", "puzzle")
def making(setting: Setting) -> Iterator[Case]:
    """Random puzzles, and minimal puzzles of full grids, on one thread."""

    def generate(number: int, **options: Any) -> NDArray[np.uint8]:
        blocks = gpusudoku.generate(number, seed=1, jobs=1, **options).blocks()
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
    # Label, number of puzzles, and options of ``generate``.
    kinds: dict[str, tuple[int, dict[str, Any]]] = {
        "rotational symmetry": (20_000, {"symmetry": "rotational"}),
        "rotational symmetry, 26 clues": (2000, {"symmetry": "rotational", "clues": 26}),
        "a pattern of 26 clues": (50, {"pattern": PATTERN}),
        "easy": (5000, {"difficulty": "easy"}),
        "weighted (`--unbiased`)": (1000, {"unbiased": True}),
        "minimal, 16x16": (100, {"minimal": True, "box": "4x4"}),
    }
    for label, (full_number, options) in kinds.items():
        number = setting.number(full_number)
        yield Case(label, "Python", number, partial(generate, number, **options), count_proper)


def full_grids(number: int) -> NDArray[np.uint8]:
    """Return random solutions of the empty board, all of which are equally likely."""
    return gpusudoku.solutions(Board.empty(NINE), device="cpu").sample(number, 1)


@topic("what", "item")
def knowing(setting: Setting) -> Iterator[Case]:
    """Canonical forms, neighbours and a data set, on one thread."""
    number = setting.number(25_000)
    # Rearranged boards have the same canonical form as the boards: these twins check the forms.
    blocks = gpusudoku.generate(number, seed=1, clues=24).blocks()
    puzzles = np.concatenate([block.puzzles for block in blocks])
    rng = np.random.default_rng(1)

    def find_forms(boards: NDArray[np.uint8]) -> list[Any]:
        return [result.board for result in gpusudoku.canonical_many(boards, jobs=1)]

    def count_same(answer: list[Any] | Path) -> int:
        """Return how many boards have the form of their twin, which is in the second half."""
        forms = lines_of(answer) if isinstance(answer, Path) else answer
        half = len(forms) // 2
        return 2 * sum(form == twin for form, twin in zip(forms[:half], forms[half:], strict=True))

    kinds = {"full grids": full_grids(number), "puzzles of 24 clues": puzzles}
    for kind, boards in kinds.items():
        twins = [rearranged(cells.reshape(9, 9), rng).ravel() for cells in boards]
        call = partial(find_forms, np.concatenate([boards, twins]))
        # The command gets ten times as many boards, so that start-up is a small part of the time.
        repeated = np.concatenate([*[boards] * 10, *[twins] * 10])
        file = setting.write(kind, formats.write_lines(repeated).decode().splitlines())
        command = setting.command("canonical", file, "-j", "1", "-q")
        yield Case(f"canonical forms of {kind}", "Python", 2 * number, call, count_same)
        yield Case(f"canonical forms of {kind}", "command", len(repeated), command, count_same)

    puzzle_count = setting.number(1000)
    lines = formats.write_lines(puzzles[:puzzle_count]).decode().splitlines()
    file = setting.write("neighbours", lines)
    command = setting.command("neighbours", file, "-j", "1", "-q")

    def count_listed(path: Path) -> int:
        """Return all puzzles if the output has only proper ones, and more than the input."""
        listed = len(lines_of(path))
        return puzzle_count if puzzle_count < count_proper(path) == listed else 0

    label = "puzzles whose neighbours are listed"
    yield Case(label, "command", puzzle_count, command, count_listed)

    rows = setting.number(30_000)
    command = setting.command("dataset", "-n", str(rows), "-j", "1", "-q")

    def count_rows(path: Path) -> int:
        return len(lines_of(path)) - 1  # the first line has the heads

    yield Case("rows of a data set", "command", rows, command, count_rows)


@topic("call or command", "call", has_rates=False)
def waits(setting: Setting) -> Iterator[Case]:
    """Single calls in a process that has made the same calls before, and single commands."""
    board = gpusudoku.parse(PUZZLE)
    board_1b = str(collection.load("1b"))
    count = partial(gpusudoku.count, device="cpu")
    count_many = partial(gpusudoku.count_many, device="cpu")
    calls: dict[str, Callable[[], bool]] = {
        "`count(line)`, an easy 9x9 puzzle": lambda: count(PUZZLE).count == 1,
        "`count(board)`, a `Board`": lambda: count(board).count == 1,
        "`solve(line)`": lambda: gpusudoku.solve(PUZZLE, device="cpu").solvable,
        "`count(line)` of 1b, 4,715 solutions": lambda: count(board_1b).count == 4715,
        "`simplify(line)`": lambda: not gpusudoku.simplify(PUZZLE).contradictory,
        "`minimise(line)`": lambda: len(gpusudoku.minimise(PUZZLE, seed=1).removed) > 0,
        "`list(count_many([line]))`": lambda: (
            [result.count for result in count_many([PUZZLE])] == [1]
        ),
    }
    # A single call is too short for the clock.
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
        # A command is timed once in a run, with its start-up.
        yield Case(f"the command `{words}`", "", 1, command, is_right)


LARGE_BOARDS = ["16x16-unique", "16x16-solutions", "25x25-newspaper", "36x36-unique"]
RULES = ["min, singles", "min, locked", "min, naked-single", "first, singles", "min, none"]
"""Strategies and propagations."""
LARGE_RULES = ["min, singles", "min, locked", "min, all"]
"""The rules for large boards, which may take hours with weaker propagation."""


@topic("board", "count", has_rates=False)
def speed(setting: Setting) -> Iterator[Case]:
    """The search by board, strategy and propagation, on one thread."""
    for name in ["1b"] if setting.quick else ["1c", "1e", "2c", "2d", *LARGE_BOARDS]:
        # A search for one solution is short.
        repeats = 1 if collection.entry(name).count > 1 else 5
        for rules in LARGE_RULES if name in LARGE_BOARDS else RULES:
            strategy, propagate = rules.split(", ")
            yield search_case(name, repeats, strategy, propagate)


def search_case(name: str, repeats: int, strategy: str, propagate: str) -> Case:
    """Return a case that searches a board of the collection ``repeats`` times."""
    board = collection.load(name)
    solutions = collection.entry(name).count
    engine = make_engine(device="cpu", jobs=1)
    search = partial(gpusudoku.count, board, engine=engine, device="cpu", jobs=1, method="search",
                     strategy=strategy, propagate=propagate)  # fmt: skip

    def search_repeatedly() -> list[int]:
        return [search().count for _ in range(repeats)]

    label = f"{name}, {solutions:,} solution{'s' * (solutions > 1)}"
    variant = f"{strategy}, {propagate}"
    return Case(label, variant, repeats, search_repeatedly, lambda counts: counts.count(solutions))
