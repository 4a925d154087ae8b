"""Workers of a cluster that is made up: who is fit for a run; and what is kept of it."""

import numpy as np
import pytest

from gpusudoku.errors import ClusterError
from gpusudoku.planning.portion import Found, Portion, Step
from gpusudoku.runs.cluster import crew, worker
from gpusudoku.runs.keeper import InMemory


class Told:
    """A client that knows workers by what they tell of themselves."""

    status = "running"

    def __init__(self, workers):
        self.workers = workers
        self.status_of = {}

    def scheduler_info(self, n_workers):
        return {
            "workers": {
                worker: {"nthreads": 2, "status": self.status_of.get(worker, "running")}
                for worker in self.workers
            }
        }

    def run(self, function, *args, workers, on_error):
        return {worker: self.workers[worker] for worker in workers}


OTHERS = {
    "has gpusudoku 0.1, not": {**worker.versions(), "gpusudoku": "0.1"},
    "has Python 3.1, not 3": {**worker.versions(), "Python": "3.1"},
    "has NumPy 1, not ": {**worker.versions(), "NumPy": "1"},
    "has no gpusudoku": ModuleNotFoundError(name="gpusudoku"),
    "has another gpusudoku, not": AttributeError(),
}


@pytest.mark.parametrize("why", OTHERS)
def test_a_worker_of_another_version_is_refused(why):
    with pytest.raises(ClusterError, match=f"worker a {why}"):
        crew.Crew(Told({"a": OTHERS[why]}), print).look()


@pytest.mark.parametrize("why", OTHERS)
def test_a_worker_of_another_version_that_comes_later_gets_no_work(why, monkeypatch):
    monkeypatch.setattr(crew, "LOOK_SECONDS", 0.0)
    notes: list[str] = []
    client = Told({"a": worker.versions()})
    all_of_them = crew.Crew(client, notes.append)
    all_of_them.look()
    client.workers |= {"b": OTHERS[why], "c": OSError(), "d": worker.versions()}
    all_of_them.look()
    all_of_them.look()
    assert all_of_them.ready == {"a": 2, "d": 2}
    assert len(notes) == 1
    assert notes[0].startswith(f"worker b {why}")


def test_what_is_kept_in_memory():
    keeper = InMemory(Portion.of([range(10)]))
    first, second = keeper.deal(2).items()
    assert keeper.done == 0
    keeper.save(first[0], Step((Found(range(5), 3),), Portion.of([]), seconds=2))
    assert (keeper.count, keeper.done, keeper.seconds) == (3, pytest.approx(0.5), 2)
    begun = Portion((), np.zeros((4, 1), np.uint64), np.array([6, 6, 8, 8]))
    keeper.save(second[0], Step((), begun))
    assert keeper.done == pytest.approx(0.8)
    [(number, left)] = keeper.deal(1, [second[0]]).items()
    assert left.task_of.tolist() == [6, 6, 8, 8]
    keeper.save(number, Step((Found(range(5, 10), 4),), Portion.of([])))
    assert (keeper.count, keeper.done, keeper.deal()) == (7, 1, {})


def test_a_worker_that_pauses_or_leaves_gets_no_work(monkeypatch):
    monkeypatch.setattr(crew, "LOOK_SECONDS", 0.0)
    client = Told({"a": worker.versions(), "b": worker.versions()})
    client.status_of["b"] = "paused"
    all_of_them = crew.Crew(client, print)
    all_of_them.look()
    assert all_of_them.ready == {"a": 2}
    assert all_of_them.is_here("b")
    del client.workers["b"]
    all_of_them.look()
    assert not all_of_them.is_here("b")


def test_a_scheduler_that_is_lost():
    client = Told({})
    client.status = "connecting"
    with pytest.raises(ClusterError, match="the scheduler of the cluster was lost"):
        crew.Crew(client, print).look()
