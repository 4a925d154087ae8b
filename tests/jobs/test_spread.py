"""Ranges cut into pieces, calls on several threads, sizes of blocks, and usable cores."""

from __future__ import annotations

import _thread
import os
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gpusudoku.errors import Cancelled, Interrupted
from gpusudoku.jobs import threads as threads_module
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.jobs.job import ChunkSize, call_on_threads, part_of, run_on_threads, split_range
from gpusudoku.jobs.threads import usable_cores
from tests.waiting import until


@pytest.mark.parametrize("threads", [1, 5])
def test_results_are_in_the_order_of_the_items(threads: int) -> None:
    scratch_lists: list[list[int]] = [[] for _ in range(threads)]

    def work(item: int, scratch: list[int], stop: Any) -> int:
        assert threading.current_thread() is not threading.main_thread()
        assert stop[0] == 0
        scratch.append(item)
        return item * item

    assert run_on_threads(work, range(100), scratch_lists) == [item * item for item in range(100)]
    assert sorted(item for scratch_list in scratch_lists for item in scratch_list) == [*range(100)]
    assert run_on_threads(work, [], scratch_lists) == []


@pytest.mark.parametrize(
    ("error", "threads"), [(ValueError, 2), (Interrupted, 1), (Interrupted, 3)]
)
def test_an_error_or_an_interrupt_stops_all(error: type, threads: int) -> None:
    stopped = []

    def work(item: int, scratch: None, stop: Any) -> None:
        if item == 0 and error is ValueError:
            raise ValueError
        if item == 0:
            _thread.interrupt_main()
        until(lambda: stop[0] != 0)
        stopped.append(item)

    with pytest.raises(error):
        run_on_threads(work, range(9), [None] * threads)
    assert len(stopped) <= threads


@pytest.mark.parametrize("number", [0, 1, 2, 50])
def test_calls_are_made_on_threads_until_they_are_cancelled(number: int) -> None:
    token = CancelToken()
    called_places = []
    calls = [lambda place=place: called_places.append(place) or place for place in range(number)]
    assert call_on_threads(calls, 3) == sorted(called_places) == [*range(number)]
    token.cancel()
    with token, pytest.raises(Cancelled):
        call_on_threads(calls, 3)
    assert len(called_places) == number


@given(some.integers(0, 10**30), some.integers(-1, 70) | some.integers(0, 10**25),
       some.integers(0, 100))  # fmt: skip
def test_pieces_cover_the_range(start: int, size: int, max_pieces: int) -> None:
    """They are in order, not empty, of nearly equal sizes, even for numbers beyond floats."""
    ranges = split_range(range(start, start + size), max_pieces)
    assert len(ranges) == min(max(0, size), max(1, max_pieces))
    if ranges:
        are_even(ranges, start, start + size)
        assert min(piece.stop - piece.start for piece in ranges) > 0


@given(some.integers(0, 10**30) | some.integers(0, 200), some.integers(1, 100))
def test_parts_are_the_whole(whole: int, parts: int) -> None:
    are_even([part_of(whole, number, parts) for number in range(1, parts + 1)], 0, whole)


def are_even(ranges: list[range], start: int, stop: int) -> None:
    """Check that ranges follow each other, and that their sizes differ by one at most."""
    assert (ranges[0].start, ranges[-1].stop) == (start, stop)
    assert all(current.stop == following.start for current, following in pairwise(ranges))
    sizes = [piece.stop - piece.start for piece in ranges]
    assert max(sizes) - min(sizes) <= 1


def test_quick_work_grows_and_slow_work_halves() -> None:
    for chunk_size, times, sizes in [
        (ChunkSize(8, 1.0), [0.26, 0.0, 3.0, 3.0, 3.0], [24, 192, 96, 48, 24]),
        (ChunkSize(8, 1.0), [0.5, 2.0, 0.499, 2.001], [8, 8, 16, 8]),
        (ChunkSize(3, 1.0), [9.0, 9.0, 9.0, 0.1], [1, 1, 1, 8]),
        (ChunkSize(30, 1.0, 100), [0.4, 0.1, 0.1, 9.0], [60, 100, 100, 50]),
        (ChunkSize(30, 1.0, 20), [1.0], [20]),
    ]:
        for seconds, size in zip(times, sizes, strict=True):
            chunk_size.adapt(seconds, full=True)
            assert chunk_size.size == size
        chunk_size.adapt(0.0, full=False)  # which says nothing of more
        assert chunk_size.size == sizes[-1]


CGROUP = "/sys/fs/cgroup"
OLD = f"{CGROUP}/cpu/cpu.cfs_"


def test_cores_are_those_of_the_affinity_and_of_the_tightest_quota(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files: dict[str, str] = {}

    def read(path: Path, *_: object) -> str:
        if str(path) not in files:
            raise FileNotFoundError(path)
        return files[str(path)]

    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setattr(os, "process_cpu_count", lambda: 64, raising=False)
    for quotas, cores in [
        ({}, 64),
        ({f"{CGROUP}/a/b/cpu.max": "max 100000"}, 64),
        ({f"{CGROUP}/a/b/cpu.max": "350000 100000"}, 3),
        ({f"{CGROUP}/a/b/cpu.max": "35 10", f"{CGROUP}/a/cpu.max": "20 10"}, 2),
        ({f"{CGROUP}/cpu.max": "50000 100000"}, 1),
        ({f"{CGROUP}/cpu.max": "what is this"}, 64),
        ({f"{OLD}period_us": "100000\n", f"{OLD}quota_us": "400000\n"}, 4),
        ({f"{OLD}period_us": "100000\n", f"{OLD}quota_us": "-1\n"}, 64),
    ]:
        files = {"/proc/self/cgroup": "1:name=systemd:/x\n0::/a/b\n", **quotas}
        threads_module._cgroup_cores.cache_clear()
        assert usable_cores() == cores
    threads_module._cgroup_cores.cache_clear()


def test_cores_of_another_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "process_cpu_count", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3}, raising=False)
    assert usable_cores() == 1
