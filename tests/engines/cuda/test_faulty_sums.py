"""Whatever fails on a GPU while a contraction is summed: the count is the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpusudoku.contraction.nine.sum import Nine
from gpusudoku.engines.cuda.device import SIMULATED, Multiprocessor
from gpusudoku.engines.cuda.engine import CudaEngine
from gpusudoku.errors import DeviceError
from tests.boards import puzzle
from tests.contraction.nine.counted import candidates_of, summed
from tests.engines.cuda.faulty import LOST, SHORT, Faulty
from tests.engines.cuda.simulator import ON_SIMULATOR

pytestmark = [mark for mark in ON_SIMULATOR if mark.name != "usefixtures"]

BOARD = puzzle("3x3", 26, 3)
COUNT = 2683


@pytest.fixture(scope="module")
def nine() -> Nine:
    """A board of which a GPU takes some of the pairs at a time."""
    nine = Nine(candidates_of(BOARD))
    nine.prepare(1)
    assert nine.tasks > 6
    return nine


def engine_of(*gpus: Faulty) -> tuple[CudaEngine, list[str]]:
    warnings: list[str] = []
    engine = CudaEngine(on_loss=lambda error: warnings.append(str(error)))
    engine.gpus = [*gpus]
    for gpu in gpus:
        gpu.multiprocessor = Multiprocessor(threads=32, blocks=1)
        gpu.tuning = replace(SIMULATED, sum_tasks_per_multiprocessor=4)
    return engine, warnings


def calls_of(nine: Nine) -> range:
    """The numbers of all calls of a GPU while nothing fails."""
    engine, _ = engine_of(gpu := Faulty())
    assert summed(nine, engine)[0] == COUNT
    assert gpu.calls > 15
    return range(1, gpu.calls + 1)


def test_memory_runs_out_at_any_moment(nine: Nine) -> None:
    """What did not fit is tried again in halves, on the GPU."""
    for call in calls_of(nine)[::2]:
        engine, warnings = engine_of(Faulty(0, call, SHORT, lasts=False))
        assert summed(nine, engine)[0] == COUNT, call
        assert warnings == []


def test_a_gpu_is_lost_at_any_moment(nine: Nine) -> None:
    """The CPU goes on, once something was summed; before, the GPU cannot be used."""
    outcomes: set[object] = set()
    for call in calls_of(nine)[::2]:
        engine, warnings = engine_of(Faulty(0, call))
        try:
            outcomes.add(summed(nine, engine)[0])
        except DeviceError as error:
            outcomes.add(str(error))
        else:
            assert warnings == [f"GPU 0 cannot be used: {LOST}; the CPU goes on"]
            assert engine.gpus == []
    assert outcomes == {COUNT, f"GPU 0 cannot be used: {LOST}"}


def test_one_of_two_is_lost(nine: Nine) -> None:
    for call in calls_of(nine)[::4]:
        gpus = Faulty(0), Faulty(1)
        engine, warnings = engine_of(*gpus)
        assert summed(nine, engine)[0] == COUNT  # both have worked
        lost = call // 4 % 2
        gpus[lost].at = gpus[lost].calls + call
        assert summed(nine, engine)[0] == COUNT, call
        if warnings:
            assert warnings == [f"GPU {lost} cannot be used: {LOST}; GPU {1 - lost} goes on"]


def test_too_little_memory_for_sums(nine: Nine) -> None:
    """The CPU sums, and says why, once; searches still have the GPU."""
    engine, warnings = engine_of(gpu := Faulty(0, 2, SHORT))
    for _ in range(2):
        assert summed(nine, engine)[0] == COUNT
    assert warnings == [f"GPU 0 cannot be used: {SHORT}; the CPU goes on"]
    assert engine.gpus == [gpu]
