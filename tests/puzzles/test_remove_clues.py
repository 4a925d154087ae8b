"""Clues removed by the kernel, unit by unit, compared to a slow implementation that counts."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import gpusudoku
from gpusudoku import Board, Cancelled, CancelToken, Geometry, InputError
from gpusudoku.board.batch import Batch
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.puzzles.clue_patterns import symmetric_units
from gpusudoku.puzzles.remove_clues import order_seeds, remove_redundant_clues
from tests.boards import full_grid

SHAPES = {"2x2": 80, "1x4": 40, "2x3": 70, "3x3": 60, "2x5": 20}
"""Boxes, and how many grids lose clues together: more than there are lanes."""
WORD = (1 << 64) - 1


def grids(shape: str, number: int) -> Batch:
    geometry = Geometry.parse(shape)
    return Batch.of([Board(full_grid(geometry, seed), geometry) for seed in range(number)])


def split_mix(state: int) -> int:
    """Return the number of SplitMix64 for a state."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ state >> shift) * factor & WORD
    return state ^ state >> 31


def order_of(seed: int, units: int) -> list[int]:
    """Return a shuffle of units: each place in turn gets one of the remaining units."""
    order = [*range(units)]
    for i in range(units - 1):
        seed = seed + 0x9E3779B97F4A7C15 & WORD
        j = i + ((split_mix(seed) >> 32) * (units - i) >> 32)
        order[i], order[j] = order[j], order[i]
    return order


def reduce_slowly(
    puzzles: Batch,
    seeds: NDArray[np.uint64],
    units: NDArray[np.int64] | None = None,
    min_clues: int = 0,
) -> NDArray[np.uint8]:
    """Remove unit after unit of every puzzle, if a count shows that one solution remains."""
    geometry = puzzles.geometry
    cells = puzzles.cells.copy()
    units = np.arange(geometry.cells)[:, None] if units is None else units
    orders = [order_of(seed, len(units)) for seed in seeds.tolist()]
    masks = puzzles.candidates
    if masks is not None:
        masks = np.where(puzzles.cells > 0, geometry.all_digits, masks)
    for step in range(len(units)):
        trial = cells.copy()
        for row, order in zip(trial, orders, strict=True):
            unit = units[order[step]]
            row[unit[unit >= 0]] = 0
        clue_counts = np.count_nonzero(trial, axis=1)
        is_tried = (clue_counts < np.count_nonzero(cells, axis=1)) & (clue_counts >= min_clues)
        boards = Batch(geometry, trial[is_tried], None if masks is None else masks[is_tried])
        numbers = gpusudoku.count_many(list(boards), limit=2, engine=CpuEngine(1)).numbers()
        is_tried[is_tried] = numbers == 1
        cells[is_tried] = trial[is_tried]
    return cells


def some_units(geometry: Geometry, seed: int) -> NDArray[np.int64]:
    """Return units of one to three cells; cells in no unit remain."""
    rng = np.random.default_rng(seed)
    cells = rng.permutation(geometry.cells)[:-3]
    units = []
    while len(cells):
        size = rng.integers(1, 4)
        units.append(np.resize(np.append(cells[:size], [-1] * 3), 3))
        cells = cells[size:]
    return np.array(units)


@pytest.mark.parametrize("shape", SHAPES)
def test_single_cells_as_by_counting(shape: str) -> None:
    batch = grids(shape, SHAPES[shape])
    seeds = order_seeds(batch.cells, 3)
    actual = remove_redundant_clues(batch, batch.cells, seeds)
    assert (actual == reduce_slowly(batch, seeds)).all()
    assert (actual == remove_redundant_clues(batch, batch.cells, seeds)).all()
    with_other_seed = remove_redundant_clues(batch, batch.cells, order_seeds(batch.cells, 4))
    assert (actual != with_other_seed).any(axis=1).mean() > 0.9


@pytest.mark.parametrize("shape", ["2x2", "2x3", "3x3"])
def test_units_of_several_cells_as_by_counting(shape: str) -> None:
    batch = grids(shape, 40)
    seeds = order_seeds(batch.cells, 1 << 127)
    geometry = batch.geometry
    for units in (
        symmetric_units(geometry, "rotational"),
        symmetric_units(geometry, "all"),
        some_units(geometry, 1),
    ):
        actual = remove_redundant_clues(batch, batch.cells, seeds, units=units)
        assert (actual == reduce_slowly(batch, seeds, units)).all()


@pytest.mark.parametrize(
    ("shape", "min_count"), [("2x2", 6), ("2x3", 12), ("3x3", 27), ("3x3", 60)]
)
def test_with_a_least_number_of_clues(shape: str, min_count: int) -> None:
    batch = grids(shape, 30)
    seeds = order_seeds(batch.cells, 5)
    for units in (None, some_units(batch.geometry, 2)):
        actual = remove_redundant_clues(batch, batch.cells, seeds, units=units, min_clues=min_count)
        assert (actual == reduce_slowly(batch, seeds, units, min_count)).all()
        assert (np.count_nonzero(actual, axis=1) >= min_count).all()
    assert (
        remove_redundant_clues(batch, batch.cells, seeds, min_clues=batch.geometry.cells)
        == batch.cells
    ).all()


def test_puzzles_that_have_empty_cells_and_given_candidates() -> None:
    """A cell whose clue is removed may have any digit; other empty cells keep their candidates."""
    batch = grids("2x3", 60)
    rng = np.random.default_rng(1)
    solutions = batch.cells
    cells = batch.cells.copy()
    masks = rng.integers(0, 64, cells.shape, np.uint64) | gpusudoku.board.board.digit_masks(
        solutions
    )
    cells[rng.random(cells.shape) < 0.4] = 0
    puzzles = Batch(batch.geometry, cells, masks)
    unique = gpusudoku.count_many(list(puzzles), limit=2, engine=CpuEngine(1)).numbers() == 1
    puzzles = puzzles.select(unique)
    solutions = solutions[unique]
    assert len(puzzles) > 20
    seeds = order_seeds(puzzles.cells, 6)
    actual = remove_redundant_clues(puzzles, solutions, seeds)
    assert (actual == reduce_slowly(puzzles, seeds)).all()
    without_candidates = Batch(batch.geometry, puzzles.cells)
    numbers = gpusudoku.count_many(list(without_candidates), limit=2, engine=CpuEngine(1)).numbers()
    assert (numbers == 2).any()  # the candidates are needed


@pytest.mark.parametrize("max_guess_count", [-1, 0, 2])
@pytest.mark.parametrize("shape", ["2x2", "3x3", "4x4"])
def test_results_do_not_depend_on_the_grouping_of_puzzles(
    shape: str, max_guess_count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Puzzles may be processed one by one, where lanes share guesses, or together."""
    batch = grids(shape, 3 if shape == "4x4" else 300)
    seeds = order_seeds(batch.cells, 7)
    whole = remove_redundant_clues(batch, batch.cells, seeds, max_guesses=max_guess_count)
    chunks = [range(i, i + 1) for i in range(min(25, len(batch)))]
    chunks += [range(0, 3), range(3, 36), range(200, 233)] if shape != "4x4" else []
    for chunk in chunks:
        part = batch.part(chunk.start, chunk.stop)
        actual = remove_redundant_clues(
            part, part.cells, seeds[chunk.start : chunk.stop], max_guesses=max_guess_count
        )
        assert (actual == whole[chunk.start : chunk.stop]).all()
    turned = remove_redundant_clues(
        batch.select(np.arange(len(batch))[::-1]),
        batch.cells[::-1].copy(),
        seeds[::-1].copy(),
        max_guesses=max_guess_count,
    )
    assert (turned[::-1] == whole).all()
    monkeypatch.setattr("gpusudoku.puzzles.remove_clues.CALL_SECONDS", 0.0)
    part = batch.part(0, 40)
    assert (
        remove_redundant_clues(part, part.cells, seeds[:40], max_guesses=max_guess_count)
        == whole[:40]
    ).all()


def test_with_few_guesses_for_a_unit_more_clues_stay() -> None:
    batch = grids("3x3", 100)
    seeds = order_seeds(batch.cells, 8)
    results = [
        remove_redundant_clues(batch, batch.cells, seeds, max_guesses=max_guess_count)
        for max_guess_count in (0, 1, 1000, -1)
    ]
    clues = [np.count_nonzero(result, axis=1).mean() for result in results]
    assert clues[0] > clues[1] > clues[2]
    assert (results[2] == results[3]).all()
    for result in results:
        boards = list(Batch(batch.geometry, result))
        assert (gpusudoku.count_many(boards, limit=2, engine=CpuEngine(1)).numbers() == 1).all()


def test_compiled_and_plain_code_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.boards import run_uncompiled

    geometry = Geometry.parse("2x3")
    ways = [
        ("1x1", 3, {}), ("2x2", 40, {}),
        ("2x3", 5, {"min_clues": 12}), ("2x3", 5, {"max_guesses": 0}),
        ("2x3", 5, {"units": some_units(geometry, 3)}), ("3x3", 1, {}),
    ]  # fmt: skip
    boards = [grids(shape, number) for shape, number, _ in ways]

    def reduce_all() -> list[NDArray[np.uint8]]:
        return [
            remove_redundant_clues(batch, batch.cells, order_seeds(batch.cells, 9), **way)  # type: ignore[arg-type]
            for batch, (_, _, way) in zip(boards, ways, strict=True)
        ]

    compiled_results = reduce_all()
    run_uncompiled(monkeypatch)
    for expected, actual in zip(compiled_results, reduce_all(), strict=True):
        assert (expected == actual).all()


def test_orders_depend_on_puzzle_and_seed_alone() -> None:
    batch = grids("3x3", 200)
    seeds = order_seeds(batch.cells, 1)
    assert len({*seeds.tolist()}) == 200
    assert (order_seeds(batch.cells[50:60], 1) == seeds[50:60]).all()
    for seed in (0, 2, 1 << 64, (1 << 128) - 1):
        assert not (order_seeds(batch.cells, seed) == seeds).any()
    for wrong in (-1, 1 << 128, "7", True):
        with pytest.raises(InputError, match=r"^seed .*: expected an integer from 0 to"):
            order_seeds(batch.cells, wrong)  # type: ignore[arg-type]
    nothing = batch.part(0, 0)
    assert remove_redundant_clues(nothing, nothing.cells, seeds[:0]).shape == (0, 81)


def test_a_unit_is_removed_as_often_as_another() -> None:
    """The units tried first are a random sample."""
    firsts = [order_of(seed, 9)[0] for seed in order_seeds(grids("3x3", 900).cells, 2).tolist()]
    counts = np.bincount(firsts, minlength=9)
    assert ((counts - 100) ** 2 / 100).sum() < 26.1  # chi squared, one in a thousand


def test_a_token_stops_it() -> None:
    batch = grids("5x5", 1)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled), token:
        remove_redundant_clues(batch, batch.cells, order_seeds(batch.cells, 1))
