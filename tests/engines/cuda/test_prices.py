"""Time estimates for GPUs, and the choice between GPU and CPU."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from gpusudoku import collection
from gpusudoku.board.geometry import NINE, Geometry
from gpusudoku.counting import count_many
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.engines.cuda import availability
from gpusudoku.engines.cuda.availability import Card
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.engines.cuda.prices import MEASURED, Prices, prices_of, prices_of_all, save_prices
from gpusudoku.engines.make import AutoEngine
from gpusudoku.options import Options
from gpusudoku.planning.choose import choose
from tests.engines.cuda.simulator import ON_SIMULATOR

pytestmark = ON_SIMULATOR[:1]

LARGE = Geometry(4, 4)


class Work(NamedTuple):
    seconds: float
    method: str


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of records."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "gpusudoku"


def test_by_size_or_by_record(folder: Path) -> None:
    half = Card("half of it", MEASURED.multiprocessors // 2, MEASURED.hertz, (9, 0))
    assert prices_of(MEASURED) == Prices()
    assert prices_of(half).nine == Prices().nine / 2
    recorded = Prices(nine=200.0, larger=50.0, sums=5.0)
    assert save_prices(half, recorded) == folder / "gpus.json"
    save_prices(MEASURED, Prices(nine=1.0))
    assert prices_of(half) == recorded
    assert prices_of_all([half, half]).nine == 400.0
    for text in ("{", "[]", '{"half of it": {"nine": 1}}', '{"half of it": {"nine": -1}}'):
        (folder / "gpus.json").write_text(text)
        assert prices_of(half).nine == Prices().nine / 2, text


def test_seconds_of_work() -> None:
    """The estimate is the seconds of one core over the cores a GPU equals, plus the start."""
    prices = Prices(nine=100.0, larger=10.0, sums=2.0)
    begin = prices.seconds(0.0, "search", NINE)
    assert 0 < begin < 0.1
    assert prices.seconds(100.0, "search", NINE) == pytest.approx(1 + begin)
    assert prices.seconds(100.0, "search", LARGE) == pytest.approx(10 + begin)
    assert prices.seconds(100.0, "contraction", NINE) > 50


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> CudaEngine:
    """Return an engine on the simulator whose GPU is the measured card."""
    engine = CudaEngine()
    engine.gpus[0].card = MEASURED
    monkeypatch.setattr(availability, "cards", lambda: (MEASURED,))
    return engine


@pytest.mark.parametrize(
    ("name", "on_cpu", "on_gpu"),
    [
        ("2f", "contraction", "search"),
        ("1f", "contraction", "search"),
        ("1d", "contraction", "search"),
        ("top-band-cyclic", "contraction", "contraction"),
        ("empty", "contraction", "contraction"),
        ("1a", "search", "search"),
    ],
)
def test_a_gpu_that_is_asked_for_searches(
    name: str, on_cpu: str, on_gpu: str, measured: CudaEngine
) -> None:
    """A contraction is chosen only if it is much quicker; without an engine nothing changes."""
    board = collection.load(name)
    for engine, method in (None, on_cpu), (CpuEngine(2), on_cpu), (measured, on_gpu):
        assert choose(board, Options(), engine=engine).method == method, engine


def test_auto_takes_what_is_quicker(measured: CudaEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    engines = iter([measured])  # only once
    monkeypatch.setattr("gpusudoku.engines.cuda.engine.CudaEngine", lambda on_loss: next(engines))
    engine = AutoEngine(4)
    for seconds, method, geometry in [
        (1.0, "search", NINE),  # a GPU is not started for that
        (5.0, "search", LARGE),
        (1e6, "contraction", LARGE),  # which GPUs cannot do
    ]:
        assert engine.best(Work(seconds, method), geometry) is engine
        assert engine.seconds(seconds, method, geometry) == seconds / 4
    assert engine.best(Work(60.0, "search"), LARGE) is measured
    for geometry in NINE, LARGE:  # the GPU is there now
        assert engine.best(Work(1.0, "search"), geometry) is measured
        assert engine.best(Work(1e-3, "search"), geometry) is engine


@pytest.mark.parametrize(("cores", "seconds"), [(4, 8.0), (16, 40.0), (64, 1200.0)])
def test_the_gpu_is_started_for_long_searches_of_16x16_boards(
    cores: int, seconds: float, measured: CudaEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpusudoku.engines.cuda.engine.CudaEngine", lambda on_loss: measured)
    engine = AutoEngine(cores)
    assert engine.best(Work(seconds / 2, "search"), LARGE) is engine
    assert engine.best(Work(seconds, "search"), LARGE) is measured


@pytest.mark.usefixtures("uncompiled")
def test_the_gpu_counts_a_batch() -> None:
    """Boards have up to 10,000 solutions; the statistics name the device."""
    boards = ["1....2....3.....", "................", "11.............."]
    for result in count_many(boards, device="cuda"):
        assert (result.device, result.method) == ("cuda", "search")
        assert result.stats.launches > 0
