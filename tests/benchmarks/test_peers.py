"""The comparison with other programs, tried with programs made up for that, on tiny boards."""

import time

import peers
import pytest
from adapters import Found, Program
from click.testing import CliRunner

from gpusudoku import Board, collection
from tests import naive

TINY = ["box2x2-few", "box2x2-many"]


class Fake(Program):
    """Counts right. Programs are sent to other processes, so they cannot be made in a test."""

    name = "fake"

    def version(self):
        return "1.5"

    def load(self, board):
        pass

    def count(self, board, seconds):
        return Found(naive.count(board), True)


class Slow(Fake):
    """It never ends by itself while the tests run."""

    name = "slow"

    def count(self, board, seconds):
        time.sleep(3600)


class Patient(Fake):
    """Too slow, but it keeps to the limit and says how far it got."""

    name = "patient"

    def count(self, board, seconds):
        time.sleep(seconds)
        return Found(1, False)


class Wrong(Fake):
    name = "wrong"

    def count(self, board, seconds):
        return Found(naive.count(board) + 1, True)


class Failing(Fake):
    name = "failing"

    def count(self, board, seconds):
        raise SystemExit


class Absent(Fake):
    name = "absent"

    def unusable_because(self):
        return "nowhere to be found"


class Missing(Program):
    name = "no-such-package"

    def count(self, board, seconds):
        raise AssertionError("it is not installed")


class Base(Fake):
    name = "base"


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run the script with some programs; our own is a fake one, too.

    On a machine that is busy those that end by themselves may take longer than their limit.
    """
    alone = peers.alone

    def patiently(program, *others):
        monkeypatch.setattr(peers, "GRACE_SECONDS", 0.1 if isinstance(program, Slow) else 300)
        return alone(program, *others)

    monkeypatch.setattr(peers, "OWN", [Base()])
    monkeypatch.setattr(peers, "alone", patiently)
    monkeypatch.setattr(peers, "MANY", 9)

    def run(others, *arguments):
        monkeypatch.setattr(peers, "PEERS", others)
        file = ["--output", str(tmp_path / "peers.json")]
        return CliRunner().invoke(peers.main, [*file, *arguments])

    return run


def rows(output):
    """The tables' cells, by their first and the row's."""
    found, head = {}, None
    for line in output.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not cells:
            head = None
        elif head is None:
            head = cells[0]
            found[head] = {"": cells[1:]}
        else:
            found[head][cells[0]] = cells[1:]
    return found


def test_the_tables(run):
    result = run([Fake(), Absent(), Missing()], *TINY, "--repeats", "2")
    assert result.exit_code == 0, result.output
    assert "absent: skipped, nowhere to be found\n" in result.stderr
    assert "no-such-package: skipped, not installed" in result.stderr
    assert "Other programs: fake 1.5\n" in result.stdout
    tables = rows(result.stdout)
    assert tables["seconds"][""] == ["solutions", "base", "fake"]
    assert [tables["seconds"][name][0] for name in TINY] == ["2", "9"]
    assert all(float(cell) > 0 for name in TINY for cell in tables["seconds"][name][1:])
    compared = tables["their time / base"]
    assert compared[""] == ["fake"]
    ratios = [float(compared[name][0]) for name in TINY]
    means = [row for name, row in compared.items() if name.startswith("geometric mean")]
    assert sorted(float(row[0]) for row in means) == sorted(ratios)  # one board of each kind
    assert set(tables["solutions a second"]) == {"", "---", TINY[1]}
    assert run([], "--show").stdout == result.stdout


def test_what_is_too_slow_is_cut_off(run):
    result = run([Slow(), Patient()], TINY[0], "--limit", "0.2")
    assert result.exit_code == 0, result.output
    tables = rows(result.stdout)
    slow, patient = tables["seconds"][TINY[0]][2:]
    assert slow == "> 0.2"
    assert patient.startswith("> 0.2")
    assert patient.endswith("/s)")
    compared = tables["their time / base"]
    means = [row for name, row in compared.items() if name.startswith("geometric mean")]
    assert all(cell.startswith("> ") for row in [compared[TINY[0]], *means] for cell in row)


def test_a_wrong_count_ends_the_run(run):
    result = run([Wrong()], TINY[0])
    assert result.exit_code == 1
    assert "box2x2-few: wrong counts 3 solutions, 2 are right" in result.output


def test_a_failure_ends_the_run(run):
    result = run([Failing()], TINY[0])
    assert result.exit_code == 1
    assert "failing failed on " in result.output


@pytest.mark.parametrize("program", peers.PEERS, ids=lambda program: program.name)
def test_adapters(program):
    reason = program.unusable_because()
    if reason is not None:
        pytest.skip(reason)
    assert program.version()[0].isdigit()
    almost_full = Board([*collection.load("full").cells[:-1].tolist(), 0])
    contradictory = Board([1, 1] + [0] * 79)
    boards = [almost_full, contradictory, *map(collection.load, TINY)]
    for board in filter(program.takes, boards):
        program.load(board)
        found = program.count(board, 10.0)
        assert (found.solutions, found.complete) == (naive.count(board), True)
