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

# This check must precede `NUMBA_ENABLE_CUDASIM`, which must be set before the first import of
# Numba: Numba reads the variable only once.
NO_GPU = "the CUDA simulator is on" if availability.simulated() else availability.unusable_because()
if NO_GPU is not None:
    os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    # The simulator polls its threads in a busy loop, which would keep them from running.
    sys.setswitchinterval(1e-4)

# The user's settings of the program must not influence the tests.
for name in [name for name in os.environ if name.startswith("GPUSUDOKU_")]:
    if name != "GPUSUDOKU_CACHE_DIR":
        del os.environ[name]

# Compiling creates millions of long-lived objects: collecting garbage less often saves a tenth of
# the time.
gc.set_threshold(100_000, 50, 100)

# A process that a shell starts in the background ignores Ctrl-C and other signals, and so would
# all processes that the tests start. Tests of interrupts need the default handlers.
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("SIGHUP", "SIGQUIT"):
    if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_IGN:
        signal.signal(getattr(signal, name), signal.SIG_DFL)

# Without a deadline and a check for slow tests: a busy machine must not make a test fail.
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
    """Return the number of usable cores; xdist would count all cores of the machine."""
    return usable_cores()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the tests marked slow, too")
    update_help = "update the expected output in the files of tests/sessions"
    parser.addoption("--update-sessions", action="store_true", help=update_help)


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
    """Exclude all objects from pytest's last garbage collections: xdist would not wait for them."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def compiling_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let only one of the test processes compile each kernel; the others load it."""
    from gpusudoku.kernels import compile_many
    from gpusudoku.kernels.kernel import Kernel

    shared.set_folder(tmp_path_factory)
    compile_now = Kernel.compile

    def compile_once(kernel: Kernel) -> None:
        with shared.locked(f"kernel {kernel.name}"):
            if not kernel.load_from_cache():
                compile_now(kernel)

    with (
        patch.object(Kernel, "compile", compile_once),
        patch.object(compile_many, "MAX_PROCESSES", 1),  # the test processes use all cores already
    ):
        yield


@pytest.fixture(scope="session", autouse=True)
def one_shared_array_a_block() -> Iterator[None]:
    """Let threads of the simulator share one array even if two of them request it at once."""
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
    """Run every search on uncompiled kernels: they are slow, but need not be compiled."""
    from tests.boards import run_uncompiled

    run_uncompiled(monkeypatch)


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a contraction in parts have many parts, even for small boards."""
    from gpusudoku.contraction.general import parts

    monkeypatch.setattr(parts, "PART_MAPS", 10)
    monkeypatch.setattr(parts, "TASK_LISTINGS", 1)


@pytest.fixture
def without_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no GPU be available, not even the simulated one."""
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
