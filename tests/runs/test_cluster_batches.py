"""Batches on a cluster that is made up: what is sent when, what comes back, and in which order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest.mock import Mock

import pytest

import gpusudoku
from gpusudoku.board.batch import Batch
from gpusudoku.engines.cpu import CpuEngine
from gpusudoku.errors import Cancelled, InputError, TooExpensive
from gpusudoku.given import batches_of
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.options import Options
from gpusudoku.planning import batch
from gpusudoku.planning.batch import count_block
from gpusudoku.runs.cluster import batches, worker
from gpusudoku.runs.cluster.batches import AHEAD, count_batches_on
from gpusudoku.runs.cluster.worker import CountedBlock, count_some
from tests.boards import LINE_4X4, puzzle

SLOW = "...." * 4
BOARDS = [str(puzzle("2x2", clues, clues)) for clues in range(2, 12)] * 10
MANY = [*BOARDS, *(str(puzzle("2x3", 12, seed)) for seed in range(20)), *BOARDS]
OPTIONS = Options(device="cpu")


class Made:
    """A cluster whose workers count when they are asked what came of it, the last one first."""

    key = "made up"

    def __init__(self, workers=3, slow=(), lost=(), held=()):
        self.workers, self.slow, self.held = workers, slow, held
        self._lost = set(lost)
        """The numbers of blocks that are lost once."""
        self._sent = {}
        self.sizes, self.counted, self.dismissed = [], Counter(), 0

    def dealer(self):
        return self

    def worked_on(self, devices):
        assert set(devices) <= {"cpu"}

    @property
    def busy(self):
        return len(self._sent)

    @property
    def idle(self):
        return [worker for worker in range(self.workers) if worker not in self._sent]

    def look(self):
        gone = [each for each, (block, *_) in self._sent.items() if block.number in self._lost]
        blocks = [self._sent.pop(each)[0] for each in gone]
        self._lost -= {block.number for block in blocks}
        return blocks

    def send(self, worker, block, work, key, options, boards, seconds):
        assert worker in self.idle
        assert (work, key, boards.places) == (count_some, self.key, None)
        assert len(boards) == len(block.boards)
        self.sizes.append(len(boards))
        self._sent[worker] = block, boards, options

    def take(self):
        for each in reversed(list(self._sent)):
            block, boards, options = self._sent[each]
            if block.number not in (*self._lost, *self.held):
                del self._sent[each]
                yield each, block, CountedBlock(self._counts(boards, options), 0.1)

    def _counts(self, boards, options):
        """Of all before the first that is slow."""
        texts = [str(board) for board in boards]
        quick = min((texts.index(slow) for slow in self.slow if slow in texts), default=len(texts))
        self.counted.update(texts[:quick])
        if not quick:
            return []
        found = count_block(boards.part(0, quick), options, CpuEngine(1))
        return [replace(some, boards=boards.part(0, 0)) for some in found]

    def dismiss(self):
        self.dismissed += 1


def counted(made, boards, options=OPTIONS, **more):
    found = count_batches_on(batches_of(boards), options, made, **more)
    return [(str(count.board), str(count)) for counts in found for count in counts]


def here(boards, **options):
    results = gpusudoku.count_many(boards, device="cpu", **options)
    return [(str(count.board), str(count)) for count in results]


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("limit", [None, 2])
def test_counts_come_in_order_and_no_board_is_counted_twice(workers, limit):
    made = Made(workers)
    assert counted(made, MANY, replace(OPTIONS, limit=limit)) == here(MANY, limit=limit)
    assert made.counted == Counter(MANY)
    assert made.dismissed == 1
    assert max(made.sizes) > made.sizes[0]


def test_blocks_of_lost_workers_go_to_others():
    made = Made(lost=(0, 2, 3))
    assert counted(made, MANY) == here(MANY)
    assert made.counted == Counter(MANY)
    assert sum(made.sizes) > len(MANY)


def test_a_board_that_takes_long_is_counted_by_all_when_nothing_else_is_under_way():
    """Both at the beginning of a block and in the middle; what is after it comes after it."""
    boards, made, alone = [SLOW, *BOARDS[:20], SLOW, *BOARDS], Made(slow=[SLOW]), []

    def one(board, options):
        assert made.busy == 0
        alone.append(str(board[0]))
        return gpusudoku.count(board[0], device="cpu")

    assert counted(made, boards, one=one) == here(boards)
    assert alone == [SLOW, SLOW]
    assert made.counted == Counter(boards) - Counter(alone)


def test_a_board_that_nobody_can_count_is_an_error_after_all_before():
    boards, answered = [*BOARDS[:40], SLOW, *BOARDS], []
    one = Mock(side_effect=TooExpensive("too expensive"))
    results = count_batches_on(batches_of(boards), OPTIONS, Made(slow=[SLOW]), one, then=len)
    with pytest.raises(TooExpensive):
        answered.extend(results)
    assert sum(answered) == 40


def test_no_more_is_read_than_a_few_blocks_for_each_worker(monkeypatch):
    """As long as the first is not counted; what others count is kept until then."""
    made, read, looks = Made(workers=2, held=[0]), [], []

    def given():
        for board in MANY:
            read.append(board)
            yield Batch.of([gpusudoku.parse(board)])

    take = made.take

    def taking():
        looks.append(len(read))
        if len(looks) == 50:
            made.held = ()
        yield from take()

    monkeypatch.setattr(made, "take", taking)
    found = list(count_batches_on(given(), OPTIONS, made))
    assert sum(map(len, found)) == len(MANY)
    assert looks[20:50] == [looks[20]] * 30
    assert looks[20] <= AHEAD * 2 * 16 + 1


def test_nobody_waits_for_boards_that_come_slowly(monkeypatch):
    monkeypatch.setattr(batches, "QUICK_SECONDS", -1.0)
    made, read, answered = Made(), [], 0

    def given():
        for start in range(0, 96, 16):
            read.append(start)
            yield Batch.of([gpusudoku.parse(board) for board in BOARDS[start : start + 16]])

    for counts in count_batches_on(given(), OPTIONS, made):
        answered += len(counts)
        assert answered == 16 * len(read)
    assert answered == 96


def test_an_error_of_reading_comes_after_all_boards_before():
    def given():
        yield from batches_of(BOARDS[:50])
        raise InputError("no board")

    made, numbers = Made(), []
    with pytest.raises(InputError, match="no board"):
        numbers.extend(count_batches_on(given(), OPTIONS, made, then=len))
    assert sum(numbers) == 50
    assert sum(made.counted.values()) == 50
    assert made.dismissed == 1


def test_it_can_be_stopped():
    made, token = Made(), CancelToken()
    results = count_batches_on(batches_of(MANY), OPTIONS, made)
    next(results)
    token.cancel()
    with token, pytest.raises(Cancelled):
        next(results)
    assert made.dismissed == 1
    results = count_batches_on(batches_of(MANY), OPTIONS, made)
    next(results)
    results.close()
    assert made.dismissed == 2


@pytest.fixture
def clock(monkeypatch):
    """A clock that runs out when it is told to; it knows for how long it was set."""

    class Clock:
        def __init__(self, seconds, ring):
            Clock.seconds, Clock.ring = seconds, ring

        def start(self):
            pass

        cancel = start

    monkeypatch.setattr(worker.threading, "Timer", Clock)
    return Clock


def test_a_worker_ends_before_a_board_that_takes_longer(clock, monkeypatch):
    def out_of_time(board, options, engine):
        clock.ring()
        return gpusudoku.count(board, device="cpu", method="search")

    monkeypatch.setattr(batch, "count_board", out_of_time)
    boards = Batch.of([gpusudoku.parse(board) for board in [LINE_4X4] * 3 + [SLOW, LINE_4X4]])
    found = count_some("some", OPTIONS, boards, 7.0, 1)
    assert [some.counts for some in found.counts] == [[6, 6, 6]]
    assert [len(some.boards) for some in found.counts] == [0]
    assert clock.seconds == 7.0


def test_a_worker_ends_before_a_board_that_is_too_expensive(clock, monkeypatch):
    monkeypatch.setattr(batch, "count_board", Mock(side_effect=TooExpensive("too expensive")))
    boards = Batch.of([gpusudoku.parse(SLOW)])
    options = Options(method="contraction", device="cpu")
    assert list(count_some("expensive", options, boards, 7.0, 1).counts) == []


def test_a_worker_that_is_dismissed_tells_nothing(clock):
    worker.dismiss("dismissed")
    boards = Batch.of([gpusudoku.parse(LINE_4X4)])
    with pytest.raises(Cancelled):
        count_some("dismissed", OPTIONS, boards, 7.0, 1)


def test_a_worker_forgets_old_runs(monkeypatch):
    monkeypatch.setattr(worker, "MOST_TOKENS", 3)
    kept = worker._token("kept")
    for run in range(5):
        worker.dismiss(str(run))
        assert worker._token("kept") is kept
    assert len(worker._tokens) == 3
    assert worker._token("4").cancelled
    assert not worker._token("0").cancelled
