"""``--part I/N`` of every command: all parts merged are what the whole command prints."""

from __future__ import annotations

import json

import pytest

from gpusudoku.orders import choose
from tests.boards import LINE_4X4, PUZZLE
from tests.orders.short import short_lists

EMPTY = "." * 16
WRONG = "11" + "." * 14
FULL = "1 2 3 4 3 4 1 2 2 1 4 3 4 3 2 1"
SOME = "1....2....3....."
SIX = "1" + "." * 35
MANY_PARTS = [1, 2, 3, 7, 20]


@pytest.fixture
def counted(run, tmp_path):
    """Count a board in parts, and merge them."""

    def call(*arguments, parts):
        path = tmp_path / "parts.json"
        with path.open("w") as file:
            for number in range(parts, 0, -1):
                more = ["--part", f"{number}/{parts}", "-j", number % 3 + 1]
                status, out, err = run("count", *arguments, *more)
                assert status == 0, err
                file.write(out)
        status, out, err = run("merge", path)
        assert status == 0, err
        return out

    return call


class TestOneBoard:
    @pytest.mark.parametrize("form", [[], ["--format", "csv"], ["--format", "tsv"]])
    @pytest.mark.parametrize("parts", MANY_PARTS)
    @pytest.mark.parametrize("board", [SOME, WRONG, FULL, SIX])
    def test_count(self, run, counted, board, form, parts):
        assert counted(board, *form, parts=parts) == run("count", board, *form)[1]

    def test_count_by_any_method(self, run, counted):
        for method in ("search", "contraction"):
            asked = [EMPTY, "--method", method]
            assert counted(*asked, parts=3) == run("count", *asked)[1] == "288\n"

    def test_count_as_json(self, run, counted):
        """The same facts, but for those that tell how the work was done."""
        whole = json.loads(run("count", SOME, "--json")[1])
        merged = json.loads(counted(SOME, "--json", parts=3))
        assert list(whole) == list(merged)
        other = {name for name in whole if whole[name] != merged[name]}
        assert other <= {"jobs", "seconds", "expansion_seconds", "nodes", "deepest", "utilisation"}

    def test_count_from_a_table(self, run, counted, file):
        path = file(f'name,puzzle,level\n"a, b",{SOME},7\n', "boards.csv")
        asked = [path, "--format", "csv"]
        assert counted(*asked, parts=2) == run("count", *asked)[1]

    def test_a_record_of_a_count(self, run):
        record = json.loads(run("count", SOME, "--part", "2/3")[1])
        assert record["part"] == {"number": 2, "of": 3, "tasks": [[1, 2], [4, 5]]}
        assert record["partial"] == "2"
        assert "count" not in record

    @pytest.mark.parametrize("form", ["line", "csv", "jsonl", "grid"])
    @pytest.mark.parametrize("parts", MANY_PARTS)
    def test_enumerate(self, run, parted, form, parts):
        whole = run("enumerate", SOME, "--part", "1/1", "--format", form)[1]
        assert parted("enumerate", SOME, "--format", form, parts=parts) == whole

    @pytest.mark.parametrize("board", [EMPTY, WRONG, FULL, LINE_4X4])
    def test_enumerate_any(self, run, parted, board):
        whole = run("enumerate", board, "--part", "1/1")[1]
        assert parted("enumerate", board, parts=3) == whole
        assert sorted(whole) == sorted(run("enumerate", board)[1])

    @pytest.mark.parametrize("parts", [1, 3, 20])
    def test_enumerate_by_search(self, run, parted, parts):
        """Parts of the search where that is asked for: each solution once."""
        for board in (EMPTY, SOME, WRONG):
            asked = ["enumerate", board, "--method", "search"]
            found = parted(*asked, parts=parts).splitlines()
            assert sorted(found) == sorted(run(*asked)[1].splitlines())

    def test_enumerate_without_an_order(self, run, parted, monkeypatch):
        """Where to number the solutions is too expensive, parts are those of a search, too."""
        monkeypatch.setattr(choose, "MOST_SECONDS", 0.0)
        monkeypatch.setattr(choose, "contracted", lambda _: None)
        short_lists(monkeypatch)
        found = parted("enumerate", EMPTY, parts=3).splitlines()
        assert len(found) == len(set(found)) == 288

    def test_orders_do_not_mix(self, run, tmp_path):
        one, two = tmp_path / "one.txt", tmp_path / "two.txt"
        run("enumerate", EMPTY, "--part", "1/2", "-o", one)
        run("enumerate", EMPTY, "--part", "2/2", "-o", two, "--method", "search")
        status, out, err = run("merge", one, two)
        assert (status, out, err.count("\n")) == (2, "", 1)

    def test_one_cell(self, run, parted, file):
        for command in ("enumerate", "shares"):
            whole = run(command, file("."), "--box", "1x1")[1]
            assert parted(command, file("."), "--box", "1x1", parts=3) == whole

    @pytest.mark.parametrize("form", ["line", "tsv", "jsonl", "pretty"])
    @pytest.mark.parametrize("parts", MANY_PARTS)
    def test_sample(self, run, parted, form, parts):
        asked = ["sample", SOME, "-n", 17, "--seed", 5, "--format", form]
        assert parted(*asked, parts=parts) == run(*asked)[1]

    def test_sample_of_more_than_a_block(self, run, parted):
        asked = ["sample", SOME, "-n", 5000, "--seed", 5]
        assert parted(*asked, parts=3) == run(*asked)[1]

    @pytest.mark.parametrize(
        "more", [[], ["--format", "csv"], ["--json"], ["--halving", 3], ["--format", "text"]]
    )
    @pytest.mark.parametrize("parts", MANY_PARTS)
    def test_shares(self, run, parted, more, parts):
        assert parted("shares", SOME, *more, parts=parts) == run("shares", SOME, *more)[1]

    @pytest.mark.parametrize("board", [EMPTY, WRONG, FULL, "123456" + "." * 30, PUZZLE])
    def test_shares_of_any(self, run, parted, board):
        for more in ([], ["--json"]):
            assert parted("shares", board, *more, parts=3) == run("shares", board, *more)[1]

    def test_shares_from_a_table(self, run, parted, file):
        """What stands beside a board is not lost."""
        path = file(f"name,puzzle,level\nthe first,{SOME},7\n", "boards.csv")
        for form in ("csv", "jsonl"):
            asked = ["shares", path, "--format", form]
            assert parted(*asked, parts=2) == run(*asked)[1]

    def test_a_record_on_stdout(self, run, tmp_path):
        outs = [run("shares", SOME, "--part", f"{number}/2")[1] for number in (2, 1)]
        path = tmp_path / "all.json"
        path.write_text("\n".join(outs))
        assert run("merge", path)[1] == run("shares", SOME)[1]
        part = json.loads(outs[0])
        assert (part["kind"], part["part"]["number"], part["part"]["of"]) == (
            "gpusudoku part",
            2,
            2,
        )
        assert "count" not in part
        assert all(isinstance(share, str) for row in part["partial"] for share in row)

    @pytest.mark.parametrize("command", ["count", "enumerate", "shares"])
    def test_nothing_to_do(self, run, command):
        found = [run(command, FULL, "--part", f"{number}/3") for number in (1, 2, 3)]
        assert [status for status, _, _ in found] == [0, 0, 0]
        assert ["nothing to do" in err for _, _, err in found].count(True) == 2

    @pytest.mark.parametrize(
        ("arguments", "word"),
        [
            (["sample", SOME, "-n", 5], "--seed"),
            (["sample", SOME, "--seed", 5, "--distinct"], "--distinct"),
            (["shares", SOME, "--plot", "x.svg"], "--plot"),
            (["count", SOME, "--limit", 3], "limit"),
            (["count", SOME, "--only", "unique"], "--only"),
            (["count", SOME, "--cross-check"], "--cross-check"),
            (["count", SOME, "--log", "x.log"], "--log"),
            (["enumerate", SOME, "--checkpoint", "x.sqlite", "-o", "x"], "--checkpoint"),
            (["solve", SOME], "--part is for batches"),
            (["enumerate", SOME, "--limit", 3], "--limit"),
            (["enumerate", SOME, "--sorted"], "--sorted"),
        ],
    )
    def test_what_has_no_parts(self, run, arguments, word):
        status, out, err = run(*arguments, "--part", "1/2")
        assert (status, out, len(err.splitlines())) == (2, "", 1)
        assert word in err


def test_processes_that_share_nothing_but_files(start, tmp_path):
    """Each in a folder of its own, with another number of threads."""
    folders = [tmp_path / name for name in ("one", "two")]
    running = []
    for number, folder in enumerate(folders, 1):
        folder.mkdir()
        (folder / "board.txt").write_text(EMPTY)
        asked = ["count", folder / "board.txt", "--part", f"{number}/2", "-j", number]
        running.append(start(*asked, "--method", "search"))
    for folder, process in zip(folders, running, strict=True):
        out, err = process.communicate()
        assert process.returncode == 0, err
        (folder / "part.json").write_text(out)
    merging = start("merge", *(folder / "part.json" for folder in folders))
    assert merging.communicate()[0] == "288\n"
