"""Counts that Python keeps in a file: ``count(board, checkpoint=...)`` and ``resume``."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

import gpusudoku
from gpusudoku.errors import Cancelled, ClusterError, InputError, Interrupted, SaveError
from gpusudoku.jobs.cancel import CancelToken
from gpusudoku.runs import local
from gpusudoku.runs.cluster.driver import Driver
from gpusudoku.runs.counting import setup_of_count
from gpusudoku.runs.kept import read_run
from gpusudoku.runs.ledger import Ledger
from gpusudoku.runs.resuming import kept_count
from tests.boards import LINE_4X4
from tests.planning.plans import GENERAL, NINE, total
from tests.runs.fakes import IDENTITY, FakePlan

SEARCH = {"method": "search", "device": "cpu"}


@pytest.fixture
def quick_steps(monkeypatch):
    monkeypatch.setattr(local, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(local, "MOST_SECONDS", 0.0)


@pytest.fixture(scope="module")
def client():
    """Of a cluster whose only worker is in this process, where it starts at once."""
    distributed = pytest.importorskip("distributed", reason="Dask distributed is not installed")
    with (
        distributed.LocalCluster(
            processes=False,
            n_workers=1,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def cancelled(path, **settings):
    """Begin a count of ``NINE``, and cancel it when its plan is known; what it raised."""
    token = CancelToken()
    with pytest.raises(Cancelled) as error:
        gpusudoku.count(
            NINE, checkpoint=path, cancel=token, planned=lambda plan: token.cancel(), **settings
        )
    return error.value


@pytest.mark.parametrize("name", [str, Path])
@pytest.mark.parametrize("method", ["search", "contraction"])
def test_a_count_is_that_without_a_file_and_stays_there(path, name, method):
    file = name(path)
    result = gpusudoku.count(GENERAL, checkpoint=file, method=method, device="cpu")
    assert (result.count, result.method, result.exact) == (total(GENERAL), method, True)
    planned = []
    again = gpusudoku.count(GENERAL, checkpoint=file, method=method, planned=planned.append)
    assert (again.count, again.exact) == (result.count, True)
    assert gpusudoku.resume(file).count == result.count
    assert planned == []


def before_any_step(monkeypatch, act):
    """Let something be done once, when all is prepared."""
    deal = Ledger.deal

    def dealt(ledger, *arguments):
        monkeypatch.setattr(Ledger, "deal", deal)
        act()
        return deal(ledger, *arguments)

    monkeypatch.setattr(Ledger, "deal", dealt)


@pytest.mark.usefixtures("quick_steps")
def test_a_cancelled_count_goes_on(path, monkeypatch):
    error = cancelled(path, **SEARCH, jobs=2)
    assert str(error).endswith(f"; 'gpusudoku resume {path}' goes on")
    assert error.count == read_run(path)[0].state.count
    token = CancelToken()
    before_any_step(monkeypatch, token.cancel)
    with pytest.raises(Cancelled):
        gpusudoku.resume(path, cancel=token)
    assert gpusudoku.resume(path, jobs=1).count == total(NINE)
    again = gpusudoku.count(NINE, checkpoint=path, **SEARCH, cancel=CancelToken())
    assert again.count == total(NINE)


@pytest.mark.usefixtures("quick_steps")
def test_an_interrupted_count_goes_on(path, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    before_any_step(monkeypatch, interrupt)
    with pytest.raises(Interrupted, match=f"'gpusudoku resume {path}' goes on") as error:
        gpusudoku.count(NINE, checkpoint=path, **SEARCH)
    assert error.value.count == read_run(path)[0].state.count
    assert gpusudoku.count(NINE, checkpoint=path, **SEARCH).count == total(NINE)


@pytest.mark.usefixtures("quick_steps")
def test_a_save_that_fails_leaves_what_was_saved(path, monkeypatch):
    def fail(ledger, *_):
        raise SaveError(f"{ledger.path}: cannot be saved: the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "save", fail)
        with pytest.raises(gpusudoku.SaveError, match="the disk is full"):
            gpusudoku.count(NINE, checkpoint=path, **SEARCH)
    assert gpusudoku.resume(path).count == total(NINE)


def test_a_token_that_is_cancelled_before_makes_no_file(path):
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        gpusudoku.count(NINE, checkpoint=path, cancel=token)
    assert not path.exists()


def test_another_run_is_refused(path, tmp_path):
    cancelled(path, **SEARCH)
    before = path.read_bytes()
    for words, board, options in [
        ("another board", NINE.cells * 0, SEARCH),
        ("method search, not contraction", NINE, {"method": "contraction"}),
        ("cutoff none, not 100", NINE, {**SEARCH, "cutoff": 100}),
    ]:
        with pytest.raises(InputError, match=f"holds another run: {words}"):
            gpusudoku.count(board, checkpoint=path, **options)
    for words, options in [
        ("limit 3: a count in tasks is of all solutions", {"limit": 3}),
        ("an engine is of this process", {"cluster": "local", "engine": object()}),
        ("engine .* expected one that make_engine gives", {"engine": 3}),
    ]:
        with pytest.raises(InputError, match=words):
            gpusudoku.count(NINE, checkpoint=path, **options)
    for name, words in {
        tmp_path: "is a folder",
        tmp_path / "no" / "x": "there is no folder",
    }.items():
        with pytest.raises(InputError, match=words):
            gpusudoku.count(NINE, checkpoint=name)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_resumed(path, tmp_path, run):
    with pytest.raises(InputError, match="no such file"):
        gpusudoku.resume(tmp_path / "missing")
    out = tmp_path / "out.txt"
    assert run("enumerate", LINE_4X4, "-q", "-o", out, "--checkpoint", path)[0] == 0
    with pytest.raises(InputError, match=rf"keeps a command: 'gpusudoku resume {path}' goes on"):
        gpusudoku.resume(path)
    part = tmp_path / "part.run"
    assert run("count", LINE_4X4, "--part", "1/2", "--checkpoint", part)[0] == 0
    with pytest.raises(InputError, match=rf"a part of a count: 'gpusudoku resume {part}' goes on"):
        gpusudoku.resume(part)


@pytest.mark.parametrize(
    "setup",
    [
        {"kind": "count"},
        {"kind": "count", "options": 3},
        {"kind": "count", "options": {"gpus": 3}},
        {"kind": "count", "options": {"gpus": None, "jobs": "x"}},
        {"kind": "count", "options": {"gpus": None, "other": 1}},
        {"kind": "count", "options": {"gpus": None}, "verify": 2},
        {"kind": "count", "options": {"gpus": None}, "verify": []},
        {"kind": "count", "options": {"gpus": None}, "part": 3},
    ],
)
def test_setups_that_no_count_has(path, setup):
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, setup, FakePlan().part())
    before = path.read_bytes()
    with pytest.raises(InputError, match=f"{path}: (damaged|jobs)"):
        gpusudoku.resume(path)
    assert path.read_bytes() == before


def test_the_command_goes_on_with_it_and_the_other_way_round(path, tmp_path, run):
    cancelled(path, **SEARCH, jobs=np.int64(1), memory=np.int64(1 << 30))
    said = (0, f"{total(NINE)}\n", "")
    assert run("resume", path, "-q") == said
    assert run("resume", path, "-j", "2", "-q") == said
    other = tmp_path / "other.run"
    assert (
        run("count", NINE, "-q", "--method", "search", "--checkpoint", other)[1]
        == f"{total(NINE)}\n"
    )
    assert gpusudoku.resume(other).count == total(NINE)
    assert gpusudoku.count(NINE, checkpoint=other, **SEARCH).count == total(NINE)


def test_another_device_than_the_gpus_that_it_had(path):
    options = gpusudoku.Options(method="search", gpus=(0, 1))
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, setup_of_count(options), FakePlan().part())
    kept = read_run(path)[0]
    assert kept_count("", kept, {}).options == options
    assert kept_count("", kept, {"device": "cpu"}).options.gpus is None


def test_options_of_numpy_are_kept_as_integers(path):
    options = gpusudoku.Options(**SEARCH, jobs=np.int64(2), cutoff=np.float64(9))
    with Ledger(path) as ledger:
        ledger.begin(IDENTITY, setup_of_count(options), FakePlan().part())
    assert read_run(path)[0].setup["options"]["jobs"] == 2


def test_a_cluster_goes_on_and_this_machine(path, client, monkeypatch):
    """With as many threads as each has."""
    cancelled(path, **SEARCH, jobs=1)
    token = CancelToken()
    before_any_step(monkeypatch, token.cancel)
    with pytest.raises(Cancelled):
        gpusudoku.resume(path, cluster=client, cancel=token)
    assert gpusudoku.resume(path, cluster=client).count == total(NINE)
    assert gpusudoku.resume(path).count == total(NINE)


def test_a_cluster_that_is_lost(path, client, monkeypatch):
    def lose(*_):
        raise ClusterError("the scheduler of the cluster was lost")

    with monkeypatch.context() as patch:
        patch.setattr(Driver, "drive", lose)
        with pytest.raises(ClusterError, match=rf"was lost; 'gpusudoku resume {path}' goes on"):
            gpusudoku.count(NINE, checkpoint=path, cluster=client, **SEARCH)
    assert gpusudoku.count(NINE, checkpoint=path, **SEARCH).count == total(NINE)
