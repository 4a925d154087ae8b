"""Data sets of random puzzles: columns, one row a class, splits that cannot leak, Parquet."""

import csv
import io
import json
import sys
from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest

import gpusudoku
from gpusudoku import Board, generate
from gpusudoku.puzzles.canonical import canonical
from gpusudoku.puzzles.dataset import PuzzleDataset
from gpusudoku.puzzles.generate import PuzzleOptions, Puzzles

COLUMNS = [
    *("puzzle", "solution", "clues", "difficulty", "guesses", "weight"),
    *("canonical", "split", "seed", "number"),
]
SPLITS = ("train", "validation", "test")
CLASSES_4X4 = 36
"""Classes of minimal 4x4 puzzles: 13 with 4 clues, 22 with 5 and one with 6."""


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compile what most tests need, which would be said."""
    for box, number in (("3x3", 40), ("2x2", 8)):
        [*PuzzleDataset(PuzzleOptions(box, difficulty="easy,expert")).blocks(number, 5)]


def rows_of(text):
    return [*csv.DictReader(io.StringIO(text))]


def split_of(solution, bounds=(0.8, 0.9)):
    """The split of a class as the page says it, computed in another way."""
    line = str(canonical(solution).board).encode()
    number = int.from_bytes(blake2b(line, digest_size=8).digest(), "big") / 2**64
    return SPLITS[sum(number >= bound for bound in bounds)]


def test_columns(run):
    asked = ["dataset", "-n", "40", "--seed", "5", "--difficulty", "easy,expert"]
    status, out, err = run(*asked)
    assert (status, err, out.splitlines()[0]) == (0, "", ",".join(COLUMNS))
    rows = rows_of(out)
    expected = [*generate(40, seed=5, difficulty="easy,expert")]
    for row, each in zip(rows, expected, strict=True):
        assert row == {
            "puzzle": str(each.board), "solution": str(gpusudoku.solve(each.board).board),
            "clues": str(each.board.clues), "difficulty": gpusudoku.rate(each.board).level,
            "guesses": str(gpusudoku.rate(each.board).guesses), "weight": "1.0",
            "canonical": str(canonical(each.board).board), "split": split_of(row["solution"]),
            "seed": "5", "number": str(each.number),
        }  # fmt: skip
    assert run(*asked, "--format", "tsv", "-j", "1")[1] == out.replace(",", "\t")
    objects = [json.loads(line) for line in run(*asked, "--json", "-j", "3")[1].splitlines()]
    assert [{name: str(value) for name, value in each.items()} for each in objects] == rows
    assert {type(objects[0][name]) for name in ("clues", "guesses", "number")} == {int}
    assert run(*asked[:2], "7", *asked[3:])[1] == "".join(out.splitlines(keepends=True)[:8])


@pytest.mark.parametrize("box", ["1x5", "2x4", "4x4", pytest.param("6x6", marks=pytest.mark.slow)])
def test_other_shapes(run, box):
    """Grids of 16x16 have no form, so the puzzle has a split; boards of 36x36 are in quotes."""
    has_forms = box in ("1x5", "2x4")
    for row in rows_of(run("dataset", "-n", "2", "--seed", "5", "--box", box, "-q")[1]):
        puzzle, solution = (gpusudoku.parse(row[name], box=box) for name in COLUMNS[:2])
        assert row["canonical"] == str(canonical(puzzle).board)
        assert row["split"] == split_of(solution if has_forms else puzzle)


def test_shapes_without_forms(run, tmp_path):
    path = tmp_path / "a.csv"
    status, out, err = run("dataset", "--box", "1x40", "-o", path)
    assert (status, out, err.count("\n"), path.exists()) == (2, "", 1, False)
    assert err.startswith("gpusudoku: no canonical forms with boxes of 1x40: ")
    status, out, err = run("dataset", "-n", "1", "--box", "4x4", "--clues", "256", "-q")
    assert (status, out) == (2, "")
    assert err.startswith("gpusudoku: puzzle 0: the canonical form was not found: ")


def test_one_row_a_class(run):
    """All classes of 4x4 puzzles come, each once, and then there are no more."""
    for seed, jobs in ((1, 1), (2, 2)):
        asked = ["dataset", "--box", "2x2", "--seed", seed, "-j", jobs]
        whole = run(*asked, "-n", CLASSES_4X4)
        assert (whole[0], whole[2]) == (0, "")
        status, out, err = run(*asked, "-n", "50", "--seconds", "0.3")
        assert (status, out) == (5, whole[1])
        assert err == (
            "gpusudoku: gave up after 0.3 s without another class of puzzles: 36 of 50 found\n"
        )
        rows = rows_of(out)
        assert len({row["canonical"] for row in rows}) == len(rows) == CLASSES_4X4
        # They are the first of their classes among the puzzles of generate.
        numbers = [int(row["number"]) for row in rows]
        made = [*generate(numbers[-1] + 1, box="2x2", seed=seed)]
        first = {}
        for each in made:
            first.setdefault(str(canonical(each.board).board), each)
        assert [str(each.board) for each in first.values()] == [row["puzzle"] for row in rows]
        assert [each.number for each in first.values()] == numbers
        assert numbers != [*range(CLASSES_4X4)]


def test_splits_are_those_of_the_classes_of_solutions():
    """However a puzzle is rearranged, and whichever clues it has."""
    dataset = PuzzleDataset(PuzzleOptions())
    [block] = Puzzles(1, PuzzleOptions(), 3).blocks()
    solution = Board(block.solutions[0])
    rng = np.random.default_rng(1)
    splits = set()
    forms = set()
    for seed in range(20):
        digits = np.array([0, *rng.permutation(9) + 1], np.uint8)
        lines = [(rng.permutation(3)[:, None] * 3 + rng.permuted([[0, 1, 2]] * 3, axis=1)).ravel()
                 for _ in range(2)]  # fmt: skip

        def moved(board, digits=digits, lines=lines):
            return digits[board.grid[np.ix_(*lines)]].reshape(1, 81)

        puzzle = gpusudoku.minimise(solution, seed=seed).board
        other = replace(block, puzzles=moved(puzzle), solutions=moved(solution))
        columns = dataset.columns(other)
        splits |= {*columns["split"].tolist()}
        forms |= {*columns["canonical"].tolist()}
    assert splits == {split_of(solution).encode()}
    assert len(forms) == 20


def test_shares(run):
    asked = ["dataset", "-n", "2000", "--seed", "5"]
    found = {}
    for shares in ("80,10,10", "0.8, 0.1,0.1", "1,0,0", "0,2,1", "50,20,30"):
        found[shares] = [row["split"] for row in rows_of(run(*asked, "--split", shares)[1])]
    for shares, column in found.items():
        words = [float(word) for word in shares.split(",")]
        for split, share in zip(SPLITS, np.array(words) / sum(words), strict=True):
            number = sum(each == split for each in column)
            assert abs(number - 2000 * share) <= 4 * (2000 * share * (1 - share)) ** 0.5
    first, second = [*found.values()][:2]
    assert first == second


def test_equal_grids_are_in_equal_splits_of_other_sets(run):
    splits = {}
    for seed, options in ((1, []), (2, ["--clues", "14-20"]), (3, ["--symmetry", "rotational"])):
        asked = ["dataset", "--box", "2x3", "-n", "200", "--seed", seed, "--split", "1,1,1"]
        for row in rows_of(run(*asked, *options)[1]):
            grid = str(canonical(row["solution"], box="2x3").board)
            assert splits.setdefault(grid, row["split"]) == row["split"]
    assert {*splits.values()} == {*SPLITS}


@pytest.mark.parametrize(
    "shares", ["80,20", "80,10,10,0", "0,0,0", "a,b,c", "80,-10,30", "1e9,1,1", "80 10 10", ""]
)
def test_wrong_shares(run, shares):
    status, out, err = run("dataset", "--split", shares)
    assert (status, out) == (2, "")
    expected = "expected shares of train, validation and test, such as 80,10,10"
    assert err == f"gpusudoku: split {shares!r}: {expected}\n"


@pytest.mark.parametrize(
    "options",
    [
        "-n 60 --seed 5 --format csv",
        "-n 60 --seed 5 --json --symmetry rotational --clues 24-28",
        "-n 36 --seed 5 --box 2x2 --format tsv",
        "-n 60 --seed 5 --format csv --unbiased",
    ],
)
def test_a_run_that_goes_on(checkpointed, limit_disk, monkeypatch, options):
    """It is as if nothing had been; classes that are in the file do not come again."""
    monkeypatch.setattr("gpusudoku.puzzles.generate.MAX_PUZZLES", 8)
    monkeypatch.setattr("gpusudoku.puzzles.weighted.GRIDS", 100)  # some twenty puzzles in a batch
    this = checkpointed(["dataset"])
    this.command = ["dataset", *options.split()]
    status, expected, _ = this.run_without_checkpoint()
    assert status == 0
    for room in (len(expected) // 2, len(expected) // 4):
        stop(this, limit_disk, room)
        assert expected.startswith(this.out.read_text())
    assert 0 < len(this.out.read_text()) < len(expected)
    assert this.resume("-j", "2") == this() == this.resume() == (0, "", "")
    assert this.out.read_text() == expected
    status, _, err = this("-n", "70")
    assert (status, err.count("\n"), "holds another run" in err) == (2, 1, True)


def stop(this, limit_disk, room):
    """Run until the disk is full after ``room`` bytes."""
    limit_disk(room)
    status, out, err = this()
    assert (status, out) == (1, "")
    assert err.endswith(": No space left on device\n")
    limit_disk(None)


def test_parquet_is_csv(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "set.parquet"
    asked = ["dataset", "-n", "300", "--seed", "5", "--split", "60,20,20"]
    assert run(*asked, "-o", path) == (0, "", "")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    table = parquet.read_table(path)
    kinds = ["string"] * 2 + ["int16", "string", "int32", "double"] + ["string"] * 3 + ["int64"]
    assert [(each.name, str(each.type)) for each in table.schema] == [
        *zip(COLUMNS, kinds, strict=True)
    ]
    rows = rows_of(run(*asked)[1])
    assert [{name: str(v) for name, v in row.items()} for row in table.to_pylist()] == rows
    # Empty ones, too; and the file is not overwritten unasked.
    path.write_text("mine")
    status, out, err = run("dataset", "-n", "0", "-o", path)
    assert (status, out) == (2, "")
    assert err == f"gpusudoku: {path}: exists already; --force overwrites it\n"
    assert path.read_text() == "mine"
    assert run("dataset", "-n", "0", "-o", path, "--force") == (0, "", "")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert parquet.read_table(path).schema == table.schema
    assert parquet.read_table(path).num_rows == 0


def test_parquet_goes_on(checkpointed, limit_disk, monkeypatch):
    """After a full disk, after Ctrl-C while the file was made, and when nothing is left to do."""
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("gpusudoku.puzzles.generate.MAX_PUZZLES", 8)
    this = checkpointed(["dataset"])
    this.command = ["dataset", "-n", "60", "--seed", "5"]
    expected = rows_of(this.run_without_checkpoint()[1])
    this.out = this.out.with_name("set.parquet")
    beside = this.out.with_name("set.parquet.csv")
    stop(this, limit_disk, 8000)
    assert not this.out.exists()
    assert 0 < len(rows_of(beside.read_text())) < 60

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(parquet.ParquetWriter, "write_batch", interrupt)
        assert this.resume()[0] == 130
    assert [each.name for each in this.out.parent.glob("set*")] == [beside.name]
    for again in (this.resume, this, this.resume):
        assert again() == (0, "", "")
        assert [each.name for each in this.out.parent.glob("set*")] == [this.out.name]
        rows = parquet.read_table(this.out).to_pylist()
        assert [{name: str(value) for name, value in row.items()} for row in rows] == expected
    assert this("-n", "70")[0] == 2


@pytest.mark.parametrize("options", [(), ("--force",)])
def test_rows_never_replace_another_file(run, tmp_path, options):
    """``--force`` is for the file that ``-o`` names, not for the one of the rows beside it."""
    pytest.importorskip("pyarrow")
    path = tmp_path / "set.parquet"
    rows = tmp_path / "set.parquet.csv"
    for make in (lambda: rows.write_text("mine"), lambda: rows.symlink_to("nothing")):
        make()
        status, out, err = run("dataset", "-n", "2", "-o", path, *options)
        assert (status, out) == (2, "")
        assert err == (
            f"gpusudoku: {rows}: exists already, and is for the rows of {path}: move it\n"
        )
        assert [each.name for each in tmp_path.iterdir()] == [rows.name]
        assert rows.is_symlink() or rows.read_text() == "mine"
        rows.unlink()


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_file_that_appears_while_a_run_is_stopped(checkpointed, limit_disk, monkeypatch, form):
    """No resumed run overwrites it: it is the user's."""
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("gpusudoku.puzzles.generate.MAX_PUZZLES", 8)
    this = checkpointed(["dataset"])
    this.command = ["dataset", "-n", "60", "--seed", "5"]
    this.out = this.out.with_name(f"set.{form}")
    stop(this, limit_disk, 8000)
    if form == "csv":  # which has the rows so far
        this.out.rename(this.out.with_name("rows"))
    this.out.write_text("mine\n" * 10_000)
    for again in (this.resume, this):
        status, out, err = again()
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"gpusudoku: {this.out}: ")
        assert this.out.read_text() == "mine\n" * 10_000
    if form == "parquet":
        this.out.unlink()
        assert this.resume() == (0, "", "")
        assert parquet.read_table(this.out).num_rows == 60
        this.out.write_text("mine")  # once it is finished, too
        for again in (this.resume, this):
            assert again()[0] == 2
            assert this.out.read_text() == "mine"


def test_a_file_that_appears_before_the_end(run, tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "set.parquet"
    write = parquet.ParquetWriter.write_batch

    def interfere(*args):
        path.write_text("mine")
        write(*args)

    monkeypatch.setattr(parquet.ParquetWriter, "write_batch", interfere)
    status, out, err = run("dataset", "-n", "8", "--seed", "5", "-o", path)
    assert (status, out, path.read_text()) == (2, "", "mine")
    assert err.endswith(f"; the rows are in {path}.csv\n")
    assert len(rows_of((tmp_path / "set.parquet.csv").read_text())) == 8


@pytest.mark.parametrize("dangling", [False, True])
@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_a_symbolic_link_is_written_through(run, tmp_path, form, saved, dangling):
    pytest.importorskip("pyarrow")
    (tmp_path / "folder").mkdir()
    path = tmp_path / f"link.{form}"
    target = tmp_path / "folder" / "target"
    path.symlink_to(target)
    if not dangling:
        target.write_text("old")
    asked = ["dataset", "-n", "4", "--box", "2x2", "--seed", "1", "-q"]
    checkpoint = ["--checkpoint", tmp_path / "a.run"] * saved
    assert run(*asked, "-o", path, "--force", *checkpoint) == (0, "", "")
    assert path.is_symlink()
    plain = tmp_path / f"plain.{form}"
    assert run(*asked, "-o", plain) == (0, "", "")
    assert target.read_bytes() == path.read_bytes() == plain.read_bytes()
    if saved:
        assert run("resume", tmp_path / "a.run", "-q") == (0, "", "")
        assert path.is_symlink()


@pytest.mark.parametrize("saved", [False, True])
def test_parquet_of_all_that_there_are(run, tmp_path, saved):
    """Once no more are found; a saved run goes on searching, with the rows beside it."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "set.parquet"
    checkpoint = ["--checkpoint", tmp_path / "a.run"] * saved
    asked = ["dataset", "-n", "50", "--box", "2x2", "--seed", "1", "--seconds", "0.3"]
    for _ in range(1 + saved):
        status, out, err = run(*asked, "-o", path, *checkpoint, "-q")
        assert (status, out) == (5, "")
        assert err.endswith(": 36 of 50 found\n")
        assert parquet.read_table(path).num_rows == CLASSES_4X4
        assert path.with_name("set.parquet.csv").exists() == saved


def test_without_pyarrow(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    status, out, err = run("dataset", "-n", "1000000000", "-o", tmp_path / "set.parquet")
    assert (status, out, [*tmp_path.iterdir()]) == (2, "", [])
    command = "pip install '.[parquet]' in a checkout of gpusudoku"
    assert err == f"gpusudoku: parquet needs pyarrow: {command}\n"
    assert run("dataset", "-n", "1", "-o", tmp_path / "set.csv", "-q") == (0, "", "")


def test_forms_by_names_and_files_that_are_there(run, tmp_path):
    asked = ["dataset", "-n", "2", "--seed", "5", "--box", "2x2"]
    for form in ("csv", "tsv", "jsonl"):
        path = tmp_path / f"set.{form}"
        assert run(*asked, "-o", path) == (0, "", "")
        assert path.read_text() == run(*asked, "--format", form)[1]
        status, _, err = run(*asked, "-o", path)
        assert (status, err) == (
            2, f"gpusudoku: {path}: exists already; --force overwrites it\n"
        )  # fmt: skip
    assert run("dataset", "-n", "0")[1] == run(*asked)[1].partition("\n")[0] + "\n"
    assert run("dataset", "-n", "0", "--json") == (0, "", "")
    status, _, err = run(*asked, "-o", tmp_path / "set.csv.gz")
    assert (status, err.count("\n")) == (2, 1)
    assert err.endswith(": files are written uncompressed: leave out .gz\n")
    status, _, err = run(*asked, "-o", tmp_path / "set.txt")
    assert (status, err.count("\n")) == (2, 1)
    endings = ".csv, .tsv, .jsonl, .parquet, .ndjson, or --format"
    assert err.endswith(f": expected a name that ends in {endings}\n")
    status, _, err = run(*asked, "--format", "parquet")
    assert (status, err) == (2, "gpusudoku: parquet needs -o FILE: it is not written to stdout\n")


def test_ctrl_c(run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gpusudoku.puzzles.generate.reduced", interrupt)
    status, out, err = run("dataset", "-n", "100000")
    assert (status, out) == (130, "")
    assert err.splitlines()[-1] == "gpusudoku: interrupted: 0 lines written"
