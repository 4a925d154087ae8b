"""The calls that ``cancelling.py`` cancels: every kind of call of Python that may take long."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any, NamedTuple

import numpy as np
from generated import full_grid, random_boards

import gpusudoku
from gpusudoku import Board, CancelToken, Geometry

SEED = 16
BATCH = 200_000
"""Boards of a batch; those that take long are FEWER."""
FEWER = 1000
SAMPLES = 1_000_000


class Case(NamedTuple):
    """A kind of call, and the board that is given."""

    what: str
    board: str
    call: Callable[[CancelToken], object]
    """Makes the call, with a token."""


@cache
def board(shape: str, clues: int) -> Board:
    """Random cells of a random grid, so many of them; the same each time."""
    geometry = Geometry(*map(int, shape.split("x")))
    rng = np.random.default_rng([SEED, clues])
    cells = full_grid(rng, geometry).ravel()
    cells[rng.permutation(geometry.cells)[clues:]] = 0
    return Board(cells, geometry)


@cache
def solutions(shape: str, clues: int) -> gpusudoku.Solutions:
    """Those of a board, of which what was asked before is known."""
    return gpusudoku.solutions(board(shape, clues), device="cpu")


@cache
def lines(clues: int, number: int) -> list[str]:
    """Boards of 9x9 cells as text, with as many repetitions as it takes."""
    return [f"{each}" for each in random_boards(clues, 100)] * (number // 100)


@cache
def array(clues: int, number: int) -> Any:
    """The same as an array of texts."""
    return np.array(lines(clues, number))


def cases() -> list[Case]:
    """All kinds of calls."""
    return [*counts(), *asked(), *others(), *batches()]


def counts() -> list[Case]:
    """Counts of one board."""

    def count(shape: str, clues: int, method: str, what: str = "") -> Case:
        def call(token: CancelToken) -> object:
            given = board(shape, clues)
            return gpusudoku.count(given, device="cpu", method=method, cancel=token)

        return Case(what or f"`count`, {method}", named(shape, clues), call)

    def part(token: CancelToken) -> object:
        return gpusudoku.count_part(board("3x3", 5), 1, 3, device="cpu", cancel=token)

    def check(token: CancelToken) -> object:
        result = gpusudoku.count(board("3x3", 4), device="cpu", cancel=token)
        return gpusudoku.cross_check(result, device="cpu", cancel=token)

    return [
        count("3x3", 17, "search"),
        count("4x4", 0, "search"),
        count("5x5", 200, "search"),
        count("3x3", 0, "contraction"),
        count("3x3", 5, "contraction"),
        count("2x4", 0, "contraction"),
        count("3x4", 40, "contraction"),
        count("4x4", 110, "contraction", "`count`, in parts"),
        count("3x3", 8, "auto"),
        count("3x4", 40, "auto"),
        *(count("4x4", clues, "auto", "`count`, choosing") for clues in (0, 60, 90)),
        *(count("5x5", clues, "auto", "`count`, choosing") for clues in (0, 200, 300)),
        Case("`count_part`", named("3x3", 5), part),
        Case("`count` and `cross_check`", named("3x3", 4), check),
    ]


def asked() -> list[Case]:
    """What is asked of the solutions of a board."""
    rng = Random(SEED)

    def case(what: str, shape: str, clues: int, ask: Callable[[Any], object]) -> Case:
        def call(token: CancelToken) -> object:
            given = board(shape, clues)
            return ask(gpusudoku.solutions(given, device="cpu", cancel=token))

        return Case(what, named(shape, clues), call)

    def further(shape: str, clues: int, ask: Callable[[Any, int], object]) -> Callable[..., object]:
        def call(token: CancelToken) -> object:
            found = solutions(shape, clues)
            found.cancel = token
            try:
                return ask(found, rng.randrange(found.count))
            finally:
                found.cancel = None

        return call

    def rank(found: Any) -> object:
        return found.rank(full_grid(np.random.default_rng(SEED)))

    def nth(found: Any, number: int) -> object:
        return found[number]

    return [
        *(case("`shares`", "3x3", clues, lambda found: found.shares()) for clues in (0, 5, 12)),
        case("`shares`", "3x4", 44, lambda found: found.shares()),
        case("`sample`", "3x3", 0, lambda found: found.sample(SAMPLES, SEED)),
        case("`sample`", "3x3", 5, lambda found: found.sample(SAMPLES, SEED)),
        case("`sample`, distinct", "3x3", 0, lambda f: f.sample(SAMPLES, SEED, distinct=True)),
        case("`sample`", "3x4", 44, lambda found: found.sample(SAMPLES, SEED)),
        case("first k", "3x3", 0, lambda found: found[10**21]),
        case("first k", "3x3", 5, lambda found: found[10**9]),
        case("first k", "4x4", 60, lambda found: found[10**9]),
        Case("further k", named("3x3", 0), further("3x3", 0, nth)),
        Case("further k", named("3x3", 8), further("3x3", 8, nth)),
        case("first `rank`", "3x3", 0, rank),
        case("list, ascending", "3x3", 5, lambda found: sum(map(len, found[: 10**7].blocks()))),
        case("list, quick order", "3x3", 5, lambda found: sum(map(len, found.lines(0, 10**8)))),
        case("list, ascending", "4x4", 0, lambda found: sum(map(len, found[: 10**7].blocks()))),
    ]  # fmt: skip


def others() -> list[Case]:
    """What is done with one board besides."""

    def minimise(shape: str) -> Case:
        clues = Geometry(*map(int, shape.split("x"))).cells

        def call(token: CancelToken) -> object:
            return gpusudoku.minimise(board(shape, clues), seed=SEED, cancel=token)

        return Case("`minimise`", named(shape, clues), call)

    def explain(token: CancelToken) -> object:
        return gpusudoku.explain(board("8x8", 3300), cancel=token)

    def simplify(token: CancelToken) -> object:
        with token:
            return gpusudoku.simplify(board("8x8", 3300))

    def solve(shape: str, clues: int) -> Case:
        def call(token: CancelToken) -> object:
            return gpusudoku.solve(board(shape, clues), device="cpu", cancel=token)

        return Case("`solve`", named(shape, clues), call)

    return [
        *map(minimise, ("3x3", "4x4", "5x5")),
        Case("`explain`", named("8x8", 3300), explain),
        Case("`simplify`", named("8x8", 3300), simplify),
        solve("5x5", 180),
        solve("8x8", 0),
    ]


def batches() -> list[Case]:
    """What is done with many boards."""

    def case(what: str, clues: int, number: int, **options: Any) -> Case:
        def call(token: CancelToken) -> object:
            given = lines(clues, number)
            return gpusudoku.count_many(given, device="cpu", cancel=token, **options).numbers()

        return Case(what, f"{number:,} of {clues} clues", call)

    def solved(token: CancelToken) -> object:
        blocks = gpusudoku.solve_many(lines(24, BATCH), device="cpu", cancel=token).blocks()
        return sum(len(each.numbers) for each in blocks)

    def read(token: CancelToken) -> object:
        results = gpusudoku.count_many(array(30, BATCH), device="cpu", limit=2, cancel=token)
        return sum(result.count for result in results)

    return [
        case("`count_many`", 24, BATCH),
        case("`count_many`", 10, FEWER),
        case("`count_many`, contraction", 20, BATCH, method="contraction"),
        Case("`count_many`, an array, one by one", f"{BATCH:,} of 30 clues", read),
        Case("`solve_many`", f"{BATCH:,} of 24 clues", solved),
    ]


def named(shape: str, clues: int) -> str:
    """What a board is called in the table."""
    n = Geometry(*map(int, shape.split("x"))).n
    boxes = "" if shape in ("3x3", "4x4", "5x5", "8x8") else f", boxes {shape}"
    return f"{n}x{n}{boxes}, {clues or 'no'} clues"
