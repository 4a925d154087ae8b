"""Set up before any test: the CUDA simulator where there is no GPU, and Hypothesis."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, settings

from gpusudoku.engines.cuda import availability
from gpusudoku.jobs.threads import usable_cores
from tests import session, shared

# Asked before the simulator is switched on, and before anything brings in Numba, which looks at
# the variable only once.
NO_GPU = "the CUDA simulator is on" if availability.simulated() else availability.unusable_because()
if NO_GPU is not None:
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    # The simulator polls its threads without a pause, and would keep them from running.
    sys.setswitchinterval(1e-4)

# What the user has set for the program is not meant for the tests.
for name in [name for name in os.environ if name.startswith("GPUSUDOKU_")]:
    if name != "GPUSUDOKU_CACHE_DIR":
        del os.environ[name]

# Compiling makes millions of objects that stay: looking for garbage less often saves a tenth.
gc.set_threshold(100_000, 50, 100)

# A shell that runs the tests in the background has Ctrl-C and more ignored, by all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("SIGHUP", "SIGQUIT"):
    if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, name), signal.SIG_DFL)

# Nothing that only a busy machine does is a failure.
settings.register_profile(
    "gpusudoku",
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("gpusudoku")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Start a process for each core that may be used; xdist would count those of the machine."""
    return usable_cores()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")
    update = "write into the files of tests/sessions what their commands print now"
    parser.addoption("--update-sessions", action="store_true", help=update)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    skips = {}
    if NO_GPU is not None:
        skips["gpu"] = pytest.mark.skip(reason=NO_GPU)
    if not config.getoption("--slow"):
        skips["slow"] = pytest.mark.skip(reason="slow: give --slow to run it")
    for item in items:
        for name, skip in skips.items():
            if item.get_closest_marker(name):
                item.add_marker(skip)


def pytest_sessionfinish() -> None:
    """Leave all out of pytest's last looks for garbage, which take longer than xdist waits."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def compiling_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let each kernel be compiled by one of the processes that share the tests."""
    from gpusudoku.kernels import compile_many
    from gpusudoku.kernels.kernel import Kernel

    shared.keep_in(tmp_path_factory)
    compile_now = Kernel.compile

    def compile_once(kernel: Kernel) -> None:
        with shared.locked(f"kernel {kernel.name}"):
            if not kernel.fetch():
                compile_now(kernel)

    with (
        patch.object(Kernel, "compile", compile_once),
        patch.object(compile_many, "MAX_PROCESSES", 1),  # the processes of the run are enough
    ):
        yield


@pytest.fixture(scope="session", autouse=True)
def one_shared_array_a_block() -> Iterator[None]:
    """Let threads of the simulator share memory: two that ask at once would get an array each."""
    if NO_GPU is None:
        yield
        return
    import numpy as np
    from numba.cuda.simulator.kernelapi import FakeCUDAShared
    from numba.np.numpy_support import as_dtype

    lock = threading.Lock()

    def array(self: Any, shape: int, dtype: Any) -> Any:
        caller = sys._getframe(1)
        place = caller.f_code.co_filename, caller.f_lineno
        with lock:
            if place not in self._allocations:
                self._allocations[place] = np.empty(shape, as_dtype(dtype))
        return self._allocations[place]

    with patch.object(FakeCUDAShared, "array", array):
        yield


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every search run on kernels that are not compiled: slow, but at once."""
    from tests.boards import run_uncompiled

    run_uncompiled(monkeypatch)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Boards in parts have many of them, however small the boards are."""
    from gpusudoku.contraction.general import parts

    monkeypatch.setattr(parts, "PART_MAPS", 10)
    monkeypatch.setattr(parts, "TASK_LISTINGS", 1)


@pytest.fixture
def without_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no GPU be there, not even the simulator's."""
    monkeypatch.setattr(availability, "unusable_because", lambda: "there is none")


@pytest.fixture
def run(monkeypatch, capsys):
    """Run ``gpusudoku`` with arguments in this process; returns (exit status, stdout, stderr)."""
    monkeypatch.setenv("GPUSUDOKU_DEVICE", "cpu")

    def call(*arguments):
        status = session.status_of(map(str, arguments))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call
