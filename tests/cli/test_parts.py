"""``--part`` and ``merge``: merged parts equal the output of the whole command."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict

import pytest

from gpusudoku.runs.identity import Identity
from gpusudoku.runs.records import LinesFile, compute_seal, record_path
from tests.boards import LINE_4X4, PUZZLE

EMPTY = "." * 16
WRONG = "11" + "." * 14
SOME = "1....2....3....."
FULL = "1 2 3 4 3 4 1 2 2 1 4 3 4 3 2 1"
BATCH = "\n".join([SOME, EMPTY, WRONG, FULL, LINE_4X4, "12" + "." * 14, SOME])


@pytest.fixture
def parts_of(run, tmp_path):
    """Run the parts of a command with different numbers of threads; return their files."""

    def make(*command, parts, name="part"):
        paths = [tmp_path / f"{name}{number}" for number in range(1, parts + 1)]
        for number, path in reversed([*enumerate(paths, 1)]):
            arguments = ["--part", f"{number}/{parts}", "-o", path, "-j", number % 2 + 1]
            status, out, err = run(*command, *arguments, "--force")
            assert out == ""
            assert status == 0 or "--keep-going" in command, err
        return paths

    return make


@pytest.fixture
def refused(run):
    """Merge files that cannot be merged; return the message, which is one line."""

    def merge(*arguments):
        status, out, err = run("merge", *arguments)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert err[:-1].isprintable()
        return err

    return merge


@pytest.fixture
def shares(parts_of):
    return parts_of("shares", SOME, parts=2)


def change(path, **facts):
    """Change a record, and compute its digest and its seal again."""
    record = json.loads(path.read_text()) | facts
    if isinstance(record["identity"], dict) and "digest" not in facts:
        record["digest"] = Identity.parse(json.dumps(record["identity"])).digest
    path.write_text(json.dumps(record | {"seal": compute_seal(record)}))


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        (f"count {SOME} --format csv", 2),
        (f"sample {SOME} -n 5000 --seed 5", 2),
        (f"shares {SOME}", 2),
        (f"shares {SOME} --halving 3", 3),
        (f"shares {PUZZLE} --format text", 2),
    ],
)
def test_parts_of_one_board_are_the_whole(run, parts_of, command, parts):
    paths = parts_of(*command.split(), parts=parts)
    assert run("merge", *paths)[1] == run(*command.split(), "-q")[1]


def test_lists_have_every_solution_once(run, parts_of):
    """Parts by numbers always have the same order; parts by search may have any."""
    whole = run("merge", *parts_of("enumerate", EMPTY, parts=1, name="whole"))[1]
    assert run("merge", *parts_of("enumerate", EMPTY, parts=7))[1] == whole
    lists = [whole.splitlines()]
    for board in (EMPTY, WRONG):
        parts = parts_of("enumerate", board, "--method", "search", parts=3)
        lists.append(run("merge", *parts)[1].splitlines())
    for solutions, board in zip(lists, (EMPTY, EMPTY, WRONG), strict=True):
        assert sorted(solutions) == run("enumerate", board, "--sorted")[1].splitlines()


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        ("count --only multiple", 3),
        ("count --limit 3 --format csv", 10),
        ("solve --format pretty", 3),
        ("enumerate --format csv --limit 5", 3),
        ("enumerate --from 3 --to 9 --json", 3),
        ("shares --format text", 10),
        ("shares --unique --pairs --format csv", 3),
        ("shares --candidates", 3),
        ("sample -n 1 --seed 3 --distinct --format csv", 3),
    ],
)
def test_parts_of_a_batch_are_the_whole(run, parts_of, file, command, parts):
    """The status is the same, too; all parts have the extra columns."""
    boards = BATCH.replace(f"{WRONG}\n", "") if "sample" in command else BATCH
    rows = "".join(f"{number},{board}\n" for number, board in enumerate(boards.split("\n")))
    name, *options = command.split()
    arguments = [name, file(f"name,puzzle\n{rows}", "boards.csv"), *options, "-j", "1"]
    status, out, _ = run(*arguments)
    paths = parts_of(*arguments[:-2], *(["--keep-going"] if status else []), parts=parts)
    assert run("merge", *paths)[:2] == (status, out)


def test_the_same_boards_in_any_form(run, file, tmp_path):
    """Names, compression and the division into files do not matter."""
    lines = [SOME, EMPTY, WRONG, LINE_4X4]
    forms = [
        [file("\n".join(lines))],
        [file(gzip.compress("\n".join(lines).encode()), "boards.gz")],
        [file("\n".join(lines[:1]), "a.txt"), file("\n".join(lines[1:]), "b.txt")],
        [file("puzzle,name\n" + "".join(f"{line},x\n" for line in lines), "boards.csv")],
    ]
    for number, boards in enumerate(forms, 1):
        arguments = ["--part", f"{number}/4", "-o", tmp_path / f"part{number}"]
        assert run("enumerate", *boards, *arguments)[0] == 0
    paths = [tmp_path / f"part{number}" for number in (1, 2, 3, 4)]
    assert run("merge", *paths)[1] == run("enumerate", *forms[0])[1]


@pytest.mark.parametrize("boards", [[SOME, EMPTY], [EMPTY, SOME, SOME]])
def test_other_boards_are_refused(file, parts_of, refused, boards):
    """Boards in another order, and further boards."""
    mine = parts_of("enumerate", file(f"{EMPTY}\n{SOME}\n"), parts=2)
    theirs = parts_of("enumerate", file("\n".join(boards), "other"), parts=2, name="other")
    assert "of another run" in refused(mine[0], theirs[1])


@pytest.mark.parametrize("command", ["count", "enumerate", "sample --seed 1"])
def test_nothing_is_written_where_nothing_can_be_read(run, file, tmp_path, command):
    path = file(gzip.compress(b"%PDF\nbad line\x1b[31m here\n"), "in.gz")
    name, *options = command.split()
    arguments = [name, path, *options, "--keep-going", "-o", tmp_path / "out"]
    for saving in (["--part", "2/3"], ["--checkpoint", tmp_path / "a.run"]):
        status, out, err = run(*arguments, *saving)
        assert (status, out) == (2, "")
        assert err.endswith("in.gz:2: binary data (byte 0x1b), expected text\n")
    assert list(tmp_path.iterdir()) == [path]


def test_another_version_is_refused(shares, refused):
    identity = json.loads(shares[1].read_text())["identity"]
    for version in ("0.1", "\x1b[31mred", "a\nb", "x" * 10**6):
        change(shares[1], identity={**identity, "version": version})
        err = refused(*shares)
        assert "version " in err
        assert len(err) < 1000


def test_no_record_is_refused(refused, file):
    for text in (
        *(b"", b"\n\n", b"{", b"[]", b"17", b'"text"', b"null", b"\xff\xfe", b"\0"),
        *(b"[" * 100_000, b"1" * 5000, b'{"kind": "another"}', SOME.encode()),
        b'{"kind": "gpusudoku part", "schema": ' + b"1" * 5000 + b"}",
    ):
        path = file(text, "a.json")
        assert str(path) in refused(path)


def test_a_record_of_somebody_who_knows_the_seal(shares, run):
    """It is refused, or the result is the same."""
    text = shares[0].read_text()
    expected = run("merge", *shares)[1]
    record = json.loads(text)
    part = record["part"]
    place = record["place"]
    for facts in (
        *({"partial": value} for value in ("x", 6, "1" * (1 << 18), None, [], "6", [["1"]])),
        {"partial": [["1"], ["1", "2"]]},
        *({"part": part | {"tasks": value}} for value in ([[0, 10**9]], [["0", "1"]], 5)),
        *({"identity": value, "digest": ""} for value in (None, {"command": "\x1b[31m"})),
        *({name: None} for name in ("part", "stats", "place")),
        *({"place": place | value} for value in ({"source": 1}, {"line": -1}, {"columns": ["a"]})),
        {"lines": 5},
        *(
            {"identity": {**record["identity"], name: value}, "digest": ""}
            for name in ("boards", "options")
            for value in ({}, None, [], "x", {"parts": 2, "tasks": 6}, {"box": 17})
        ),
    ):
        shares[0].write_text(text)
        change(shares[0], **facts)
        status, out, err = run("merge", *shares)
        if status:
            assert (status, out, err.count("\n")) == (2, "", 1)
            assert str(shares[0]) in err
        else:
            assert out == expected, facts


def test_damaged_statistics_are_refused(parts_of, file, refused, tmp_path):
    paths = parts_of("count", file(BATCH), parts=2)
    valid = {"status": 0, "unreadable": 0}
    for stats in (
        {"status": 2},
        *(valid | {"status": value} for value in ("2", None)),
        *(valid | {"unreadable": value} for value in (-1, 10**4000)),
        *(valid | {"tally": value} for value in ({"boards": 1.5}, [1])),
        *(valid | {"seconds": value} for value in (float("nan"), -1e300, 10**400)),
        valid | {"more": 1},
    ):
        change(record_path(paths[1]), stats=stats)
        assert "a damaged record of a part" in refused(*paths, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_another_header_is_refused(parts_of, refused):
    paths = parts_of("enumerate", SOME, "--format", "csv", parts=2)
    paths[1].write_bytes(paths[1].read_bytes().replace(b"puzzle", b"PUZZLE", 1))
    header = paths[1].read_bytes().partition(b"\n")[0] + b"\n"
    change(record_path(paths[1]), lines=asdict(LinesFile.of(paths[1], header)))
    assert "has another header" in refused(*paths)


def test_files_may_be_renamed(run, parts_of, tmp_path):
    """A file and its record stay together by their names alone; their order does not matter."""
    paths = parts_of("enumerate", SOME, "--format", "csv", parts=3)
    whole = run("merge", *paths)[1]
    renamed = []
    for path in paths:
        renamed.insert(0, tmp_path / f"x{path.name}")
        record_path(path).rename(record_path(renamed[0]))
        path.rename(renamed[0])
    assert run("merge", *renamed)[1] == whole
