"""``gpusudoku count``, run in this process: results on stdout, all else on stderr."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace

import pytest

from gpusudoku.engines.cuda import availability
from gpusudoku.formats import parse
from tests import naive
from tests.boards import LINE_4X4


def test_one_board_prints_the_count_alone(run, file):
    expected = naive.count(parse(LINE_4X4))
    assert expected > 1
    assert run("count", file(LINE_4X4))[:2] == (0, f"{expected}\n")


def test_a_batch_prints_lines_in_input_order(run, file):
    lines = [LINE_4X4, "." * 16, "11" + "." * 14]
    status, out, err = run("count", file("\n".join(lines)))
    assert status == 0
    expected = [f"{line}:{naive.count(parse(line))}" for line in lines]
    assert out.splitlines() == expected
    assert "r1c1 and r1c2 both hold 1" in err


def test_several_files_are_a_batch(run, file):
    out = run("count", file(LINE_4X4, "a"), file("." * 16, "b"))[1]
    assert out.splitlines()[1] == "." * 16 + ":288"


def test_project_board(run):
    assert run("count", "@1b")[1] == "4715\n"


def test_stdin(run, monkeypatch, file):
    with file(LINE_4X4).open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert run("count", "-")[1] == f"{naive.count(parse(LINE_4X4))}\n"


def test_limit(run, file):
    path = file("." * 16)
    assert run("count", path, "--limit", 288)[1] == "288+\n"
    assert run("count", path, "--limit", 289)[1] == "288\n"


@pytest.mark.parametrize(("only", "kept"), [("unique", [0]), ("multiple", [1, 3]), ("none", [2])])
def test_only(run, file, only, kept):
    unique = "1234341221434321".replace("4", ".", 1)
    lines = [unique, "." * 16, "11" + "." * 14, LINE_4X4]
    out = run("count", file("\n".join(lines)), "--only", only)[1]
    assert out.splitlines() == [lines[i] for i in kept]


def test_json(run, file):
    status, out, _ = run("count", file(LINE_4X4), "--json", "-j", 2)
    record = json.loads(out)
    assert status == 0
    assert record["board"] == LINE_4X4
    assert record["count"] == str(naive.count(parse(LINE_4X4)))
    assert record["exact"] is True
    assert (record["method"], record["device"], record["jobs"]) == ("search", "cpu", 2)
    assert record["seconds"] > 0
    assert record["search_space"] == str(parse(LINE_4X4).search_space)
    assert len(record["utilisation"]) == 2


def test_json_of_a_limited_count(run, file):
    record = json.loads(run("count", file("." * 16), "--json", "--limit", 5)[1])
    assert (record["count"], record["exact"]) == ("5", False)


def test_stats_go_to_stderr(run, file):
    _, out, err = run("count", file(LINE_4X4), "--stats")
    assert out == f"{naive.count(parse(LINE_4X4))}\n"
    for label in ("search space", "filling factor", "frontier boards", "boards explored",
                  "nodes", "deepest stack", "cutoff", "seconds", "utilisation"):  # fmt: skip
        assert f"{label}: " in err


def test_log_is_appended(run, file, tmp_path):
    log = tmp_path / "log"
    for _ in range(2):
        run("count", file(LINE_4X4), "--log", log)
    records = [json.loads(line) for line in log.read_text().splitlines()]
    assert [record["board"] for record in records] == [LINE_4X4] * 2


def test_method(run):
    for method in ("auto", "search", "contraction"):
        status, out, err = run("count", "@2c", "--method", method, "--stats", "--memory", "1G")
        assert (status, out) == (0, "32128\n")
        wanted = method if method != "auto" else "contraction|search"
        assert re.search(rf"method: ({wanted})\n", err)


def test_stats_show_both_estimates(run):
    _, _, err = run("count", "@2d", "--stats")
    assert re.search(r"search estimate: about \S+ s on one core\n", err)
    assert re.search(r"contraction est.: about \S+ s on one core\n", err)
    assert re.search(r"products: [\d,]+\n", err)


def test_a_long_count_is_announced(run, monkeypatch):
    from gpusudoku.cli import expected

    monkeypatch.setattr(expected, "LONG_SECONDS", 1e-6)
    _, out, err = run("count", "@2d", "-j", 2)
    assert out == "1014785\n"
    took = r"about \S+ s on 2 threads"
    assert re.search(rf"^gpusudoku: the contraction should take {took}$", err, re.M)
    _, out, err = run("count", "@2d", "-j", 2, "--method", "search")
    assert out == "1014785\n"
    instead = r"; --method contraction about \S+ s; --limit N asks only for N solutions or more"
    assert re.search(rf"^gpusudoku: the search should take {took}{instead}$", err, re.M)
    assert "should take" not in run("count", "@2d", "--limit", 100)[2]


def test_cross_check_of_a_batch(run, monkeypatch):
    monkeypatch.setattr(availability, "unusable_because", lambda: "there is none")
    status, _, err = run("count", "@2c", "@top-band-cyclic", "--cross-check")
    assert status == 0
    assert "cross-check by method contraction: the same count, 1 of 2 boards" in err
    assert "cross-check not done: no other way is affordable, 1 of 2 boards" in err


def test_too_expensive(run, file):
    empty = file("\n".join(["." * 16] * 16))
    status, out, err = run("count", empty, "--box", "4x4", "--method", "contraction")
    assert (status, out) == (1, "")
    assert re.search(r"^gpusudoku: .*too expensive to contract: .*\d", err.splitlines()[-1])


def test_cross_check_says_how(run, file):
    status, _, err = run("count", file(LINE_4X4), "--cross-check")
    assert status == 0
    assert "cross-check by " in err


def test_cross_check_fails_loudly(run, file, monkeypatch):
    from gpusudoku import checking

    real = checking.run_plan

    def wrong(*arguments, **options):
        return replace(real(*arguments, **options), count=0)

    monkeypatch.setattr(checking, "run_plan", wrong)  # which is how the second count is made
    status, _, err = run("count", file(LINE_4X4), "--cross-check")
    assert status == 1
    assert "cross-check failed" in err


def test_keep_going(run, file):
    path = file(f"{LINE_4X4}\n1x..............\n{'.' * 16}\n")
    status, out, err = run("count", path, "--keep-going")
    assert status == 2
    assert [line.split(":")[0] for line in out.splitlines()] == [LINE_4X4, "." * 16]
    assert f"{path}:2" in err


def test_results_before_a_bad_line_stand(run, file):
    path = file(f"{LINE_4X4}\n1x..............\n{'.' * 16}\n")
    status, out, err = run("count", path)
    assert status == 2
    assert [line.split(":")[0] for line in out.splitlines()] == [LINE_4X4]
    assert f"{path}:2" in err


def test_a_long_count_of_a_batch_is_announced_with_its_place(run, file, monkeypatch):
    from gpusudoku.cli import expected

    monkeypatch.setattr(expected, "LONG_SECONDS", 0.0)
    path = file(f"{LINE_4X4}\n{'.' * 36}\n", "two.txt")
    _, out, err = run("count", path, "-j", 1)
    assert out.endswith(":28200960\n")
    [said] = [line for line in err.splitlines() if "should take" in line]
    assert said.startswith(f"gpusudoku: {path}:2: the ")
