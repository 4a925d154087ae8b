"""A Dask client whose workers are made up: what they die of is under a test's control."""

from __future__ import annotations

import pickle
from itertools import count

import distributed


class Workers(distributed.Client):
    """Workers that do what they are sent at once, one after the other, in this process."""

    status = "running"
    asynchronous = False

    def __init__(self, names="ab"):
        self.here = dict.fromkeys(names, "running")
        """The state of each."""
        self.has = {}
        """What is to be told of versions, by worker."""
        self.sent = []
        """The worker of each piece of work, in order."""
        self.before = lambda worker: None
        """Called before each piece of work, with its worker."""
        self.fetches = iter(())
        """An error for each of the next results that are fetched; None for none."""
        self._names = count()

    def die(self, worker):
        """Let a worker be gone, and another one come."""
        del self.here[worker]
        self.here[f"new {next(self._names)}"] = "running"

    def close(self, timeout=None):
        self.status = "closed"

    def nthreads(self):
        return dict.fromkeys(self.here, 1)

    def scheduler_info(self, n_workers=5):
        facts = {name: {"nthreads": 1, "status": status} for name, status in self.here.items()}
        return {"workers": dict(list(facts.items())[: n_workers if n_workers >= 0 else None])}

    def run(self, function, *arguments, workers, on_error):
        return {each: self.has.get(each) or function(*arguments) for each in workers}

    def cancel(self, futures):
        for future in futures:
            future.cancel()

    def submit(self, work, *arguments, key, workers):
        [worker] = workers
        self.sent.append(worker)
        self.before(worker)
        return Future(self, worker, pickle.dumps((work, arguments)))


class Future:
    """What comes of a piece of work, once its worker has done it; never, if that is gone."""

    def __init__(self, workers, worker, work):
        self.status = "pending"
        self._workers, self._worker, self._work = workers, worker, work

    def add_done_callback(self, tell):
        if self._worker not in self._workers.here or self.status != "pending":
            return
        work, arguments = pickle.loads(self._work)
        try:
            self._value, self.status = work(*arguments), "finished"
        except Exception as error:
            self._value, self.status = error, "error"
        tell(self)

    def done(self):
        return self.status != "pending"

    def cancel(self):
        self.status = "cancelled"

    def result(self, timeout):
        if error := next(self._workers.fetches, None):
            raise error
        if isinstance(self._value, Exception):
            raise self._value
        return self._value


def texts(results):
    return [(str(result.board), str(result)) for result in results]
