"""Random full grids: valid, uniform, each determined by its number and attempt."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusudoku import Cancelled, CancelToken, Geometry, InputError, solutions
from gpusudoku.kernels.shuffling import shuffle, shuffle_latin
from gpusudoku.puzzles.random_grids import Grids
from tests.enumeration.chances import assert_uniform

COUNTED = ["1x1", "1x2", "2x1", "1x3", "2x2", "2x3", "3x2", "3x3"]
WALKED = ["1x7", "7x1", "2x5", "5x2", "3x4", "4x3", "2x13", "13x2", "4x4", "5x5", "1x25", "25x1"]
LARGE = ["8x8", "2x32", "32x2", "1x64"]
CHECK_SUMS = {"2x2": 3973848371, "3x3": 2935067671, "1x7": 3771209669, "2x5": 2264407803,
              "4x4": 3844944199, "5x5": 1010607780}  # fmt: skip


def make_grids(shape: str, seed: int, start: int, end: int, attempt: int = 0) -> NDArray[np.uint8]:
    numbers = np.arange(start, end)
    return Grids(Geometry.parse(shape), seed).at(numbers, np.full(len(numbers), attempt))


def ranks(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Number the different rows in ascending order."""
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


def short_cycles(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Count in each 9x9 grid the digits that two rows of a band have in the same two columns."""
    cells = rows.reshape(-1, 9, 9).astype(np.int64)
    cycle_counts = np.zeros(len(rows), np.int64)
    for row, other_row in [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (6, 7), (6, 8), (7, 8)]:
        partner = np.empty((len(rows), 10), np.int64)
        np.put_along_axis(partner, cells[:, row], cells[:, other_row], axis=1)
        partner_of_partner = np.take_along_axis(partner, partner[:, 1:], axis=1)
        cycle_counts += (partner_of_partner == np.arange(1, 10)).sum(axis=1)
    return cycle_counts


@pytest.mark.parametrize("shape", [*COUNTED, *WALKED, *LARGE])
def test_grids_of_any_shape_are_full_and_valid(shape: str) -> None:
    geometry = Geometry.parse(shape)
    rows = np.concatenate([make_grids(shape, 7, 0, 5), make_grids(shape, 7, 0, 5, attempt=1)])
    assert (rows.shape, rows.dtype) == ((10, geometry.cells), np.uint8)
    for unit in geometry.units:
        assert (np.sort(rows[:, unit], axis=1) == np.arange(1, geometry.n + 1)).all()
    assert Grids(geometry, 7).uniform == (shape in COUNTED)
    if geometry.n > 6:
        assert len(np.unique(rows, axis=0)) == 10


@pytest.mark.parametrize("shape", ["1x4", "2x2", "2x3", "3x3", "1x7", "4x4"])
def test_a_grid_depends_on_nothing_but_its_number_and_attempt(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Grids(Geometry.parse(shape), 2**128 - 1)
    rng = np.random.default_rng(3)
    numbers = np.repeat(np.arange(300), 2)
    attempts = np.tile([0, 3], 300)
    numbers[-2:] = 2**62
    whole = source.at(numbers, attempts)
    assert (source.at(numbers[::2], attempts[::2]) == whole[::2]).all()
    assert not (whole[::2] == whole[1::2]).all()
    order = rng.permutation(600)
    monkeypatch.setattr(source, "_call_grids", 7)
    assert (source.at(numbers[order], attempts[order]) == whole[order]).all()
    for i in 0, 333:
        assert (source.at(numbers[i : i + 1], attempts[i : i + 1]) == whole[i]).all()
    assert source.at(numbers[:0], attempts[:0]).shape == (0, source.geometry.cells)
    same_source = Grids(source.geometry, source.seed)
    with ThreadPoolExecutor(3) as pool:  # all at once, from the first on
        futures = [pool.submit(same_source.at, numbers[i::6], attempts[i::6]) for i in range(6)]
        assert all((future.result() == whole[i::6]).all() for i, future in enumerate(futures))
    assert not (Grids(source.geometry, 0).at(numbers, attempts) == whole).all()


@pytest.mark.parametrize("shape", ["2x2", "2x3", "3x3"])
def test_first_attempts_are_the_sample_of_the_empty_board(shape: str) -> None:
    geometry = Geometry.parse(shape)
    all_of_them = solutions("." * geometry.cells, box=geometry, device="cpu")
    assert (make_grids(shape, 11, 0, 500) == all_of_them.sample(500, seed=11)).all()


@pytest.mark.parametrize("shape", CHECK_SUMS)
def test_grids_do_not_change(shape: str) -> None:
    """A seed gives the same grids in later versions."""
    rows = np.concatenate([make_grids(shape, 5, 0, 40), make_grids(shape, 5, 10, 20, attempt=2)])
    assert crc32(rows.tobytes()) == CHECK_SUMS[shape]


@pytest.mark.parametrize("walked", [False, True])
@pytest.mark.parametrize(("shape", "number"), [("2x2", 288), ("1x4", 576)])
def test_all_grids_have_the_same_chance(
    shape: str, number: int, walked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both grids drawn by number and grids reached by walks have it."""
    if walked:
        monkeypatch.setattr("gpusudoku.puzzles.random_grids.COUNTED", {})
    for attempt in (0, 1):
        assert_uniform(ranks(make_grids(shape, 2024, 0, 30_000, attempt)), number)


def test_walks_lead_to_grids_as_those_of_the_exact_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exact = short_cycles(make_grids("3x3", 1, 0, 20_000))
    monkeypatch.setattr("gpusudoku.puzzles.random_grids.COUNTED", {})
    walked = short_cycles(make_grids("3x3", 2, 0, 10_000))
    error = (exact.var() / len(exact) + walked.var() / len(walked)) ** 0.5
    assert abs(exact.mean() - walked.mean()) < 4 * error
    assert walked.var() == pytest.approx(exact.var(), rel=0.1)


@pytest.mark.parametrize("shape", ["2x3", "1x3"])
def test_compiled_and_plain_walks_agree(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpusudoku.puzzles.random_grids.COUNTED", {})
    expected = make_grids(shape, 1, 0, 3)
    monkeypatch.setattr("gpusudoku.puzzles.random_grids.shuffle", shuffle.python)
    monkeypatch.setattr("gpusudoku.puzzles.random_grids.shuffle_latin", shuffle_latin.python)
    monkeypatch.setattr("gpusudoku.puzzles.random_grids.load_kernels", lambda kernels: None)
    with np.errstate(over="ignore"):
        assert (make_grids(shape, 1, 0, 3) == expected).all()


def test_a_seed_out_of_range_is_an_error_for_every_shape() -> None:
    for shape in ("2x2", "4x4"):
        for seed in (-1, 1 << 128):
            with pytest.raises(InputError, match=r"^seed .*expected an integer from 0"):
                Grids(Geometry.parse(shape), seed)


@pytest.mark.parametrize("shape", ["2x2", "4x4"])
def test_a_token_stops_it(shape: str) -> None:
    source = Grids(Geometry.parse(shape), 1)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled), token:
        source.at(np.arange(10**4), np.zeros(10**4, np.int64))
