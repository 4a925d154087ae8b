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
    """Compile what most tests need, so that no message announces it."""
    for box, number in (("3x3", 40), ("2x2", 8)):
        [*PuzzleDataset(PuzzleOptions(box, difficulty="easy,expert")).blocks(number, 5)]


def rows_of(text):
    return [*csv.DictReader(io.StringIO(text))]


def split_of(solution, bounds=(0.8, 0.9)):
    """Compute the split of a class in another way, as documented."""
    line = str(canonical(solution).board).encode()
    number = int.from_bytes(blake2b(line, digest_size=8).digest(), "big") / 2**64
    return SPLITS[sum(number >= bound for bound in bounds)]


def test_columns(run):
    arguments = ["dataset", "-n", "40", "--seed", "5", "--difficulty", "easy,expert"]
    status, out, err = run(*arguments)
    assert (status, err, out.splitlines()[0]) == (0, "", ",".join(COLUMNS))
    rows = rows_of(out)
    expected = [*generate(40, seed=5, difficulty="easy,expert")]
    for row, puzzle in zip(rows, expected, strict=True):
        assert row == {
            "puzzle": str(puzzle.board), "solution": str(gpusudoku.solve(puzzle.board).board),
            "clues": str(puzzle.board.clues), "difficulty": gpusudoku.rate(puzzle.board).level,
            "guesses": str(gpusudoku.rate(puzzle.board).guesses), "weight": "1.0",
            "canonical": str(canonical(puzzle.board).board), "split": split_of(row["solution"]),
            "seed": "5", "number": str(puzzle.number),
        }  # fmt: skip
    assert run(*arguments, "--format", "tsv", "-j", "1")[1] == out.replace(",", "\t")
    objects = [json.loads(line) for line in run(*arguments, "--json", "-j", "3")[1].splitlines()]
    assert [{name: str(value) for name, value in record.items()} for record in objects] == rows
    assert {type(objects[0][name]) for name in ("clues", "guesses", "number")} == {int}
    assert run(*arguments[:2], "7", *arguments[3:])[1] == "".join(out.splitlines(keepends=True)[:8])


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
    """All classes of 4x4 puzzles are found, each once; then the command gives up."""
    for seed, jobs in ((1, 1), (2, 2)):
        arguments = ["dataset", "--box", "2x2", "--seed", seed, "-j", jobs]
        result = run(*arguments, "-n", CLASSES_4X4)
        assert (result[0], result[2]) == (0, "")
        status, out, err = run(*arguments, "-n", "50", "--seconds", "0.3")
        assert (status, out) == (5, result[1])
        assert err == (
            "gpusudoku: gave up after 0.3 s without another class of puzzles: 36 of 50 found\n"
        )
        rows = rows_of(out)
        assert len({row["canonical"] for row in rows}) == len(rows) == CLASSES_4X4
        # They are the first of their classes among the puzzles of generate.
        numbers = [int(row["number"]) for row in rows]
        generated = [*generate(numbers[-1] + 1, box="2x2", seed=seed)]
        first_of_class = {}
        for puzzle in generated:
            first_of_class.setdefault(str(canonical(puzzle.board).board), puzzle)
        assert [str(puzzle.board) for puzzle in first_of_class.values()] == [
            row["puzzle"] for row in rows
        ]
        assert [puzzle.number for puzzle in first_of_class.values()] == numbers
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

        def rearrange(board, digits=digits, lines=lines):
            return digits[board.grid[np.ix_(*lines)]].reshape(1, 81)

        puzzle = gpusudoku.minimise(solution, seed=seed).board
        rearranged = replace(block, puzzles=rearrange(puzzle), solutions=rearrange(solution))
        columns = dataset.columns(rearranged)
        splits |= {*columns["split"].tolist()}
        forms |= {*columns["canonical"].tolist()}
    assert splits == {split_of(solution).encode()}
    assert len(forms) == 20


def test_shares(run):
    arguments = ["dataset", "-n", "2000", "--seed", "5"]
    splits = {}
    for shares in ("80,10,10", "0.8, 0.1,0.1", "1,0,0", "0,2,1", "50,20,30"):
        splits[shares] = [row["split"] for row in rows_of(run(*arguments, "--split", shares)[1])]
    for shares, column in splits.items():
        words = [float(word) for word in shares.split(",")]
        for split, share in zip(SPLITS, np.array(words) / sum(words), strict=True):
            number = sum(split_of_row == split for split_of_row in column)
            assert abs(number - 2000 * share) <= 4 * (2000 * share * (1 - share)) ** 0.5
    percent_column, fraction_column = [*splits.values()][:2]
    assert percent_column == fraction_column


def test_equal_grids_are_in_equal_splits_of_other_sets(run):
    splits = {}
    for seed, options in ((1, []), (2, ["--clues", "14-20"]), (3, ["--symmetry", "rotational"])):
        arguments = ["dataset", "--box", "2x3", "-n", "200", "--seed", seed, "--split", "1,1,1"]
        for row in rows_of(run(*arguments, *options)[1]):
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
    """A resumed run has the same output; classes that are in the file are not repeated."""
    monkeypatch.setattr("gpusudoku.puzzles.generate.MAX_PUZZLES", 8)
    monkeypatch.setattr("gpusudoku.puzzles.weighted.GRIDS", 100)  # some twenty puzzles in a batch
    saved_run = checkpointed(["dataset"])
    saved_run.command = ["dataset", *options.split()]
    status, expected, _ = saved_run.run_without_checkpoint()
    assert status == 0
    for room in (len(expected) // 2, len(expected) // 4):
        stop(saved_run, limit_disk, room)
        assert expected.startswith(saved_run.out.read_text())
    assert 0 < len(saved_run.out.read_text()) < len(expected)
    assert saved_run.resume("-j", "2") == saved_run() == saved_run.resume() == (0, "", "")
    assert saved_run.out.read_text() == expected
    status, _, err = saved_run("-n", "70")
    assert (status, err.count("\n"), "holds another run" in err) == (2, 1, True)


def stop(saved_run, limit_disk, room):
    """Run until the disk is full after ``room`` bytes."""
    limit_disk(room)
    status, out, err = saved_run()
    assert (status, out) == (1, "")
    assert err.endswith(": No space left on device\n")
    limit_disk(None)


def test_parquet_is_csv(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "set.parquet"
    arguments = ["dataset", "-n", "300", "--seed", "5", "--split", "60,20,20"]
    assert run(*arguments, "-o", path) == (0, "", "")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    table = parquet.read_table(path)
    kinds = ["string"] * 2 + ["int16", "string", "int32", "double"] + ["string"] * 3 + ["int64"]
    assert [(entry.name, str(entry.type)) for entry in table.schema] == [
        *zip(COLUMNS, kinds, strict=True)
    ]
    rows = rows_of(run(*arguments)[1])
    assert [{name: str(v) for name, v in row.items()} for row in table.to_pylist()] == rows
    # Empty ones, too; and the file is not overwritten unasked.
    path.write_text("mine")
    status, out, err = run("dataset", "-n", "0", "-o", path)
    assert (status, out) == (2, "")
    assert err == f"gpusudoku: {path}: exists already; --force overwrites it\n"
    assert path.read_text() == "mine"
    assert run("dataset", "-n", "0", "-o", path, "--force") == (0, "", "")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert parquet.read_table(path).schema == table.schema
    assert parquet.read_table(path).num_rows == 0


def test_parquet_goes_on(checkpointed, limit_disk, monkeypatch):
    """After a full disk, after Ctrl-C during the conversion, and after the end."""
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("gpusudoku.puzzles.generate.MAX_PUZZLES", 8)
    saved_run = checkpointed(["dataset"])
    saved_run.command = ["dataset", "-n", "60", "--seed", "5"]
    expected = rows_of(saved_run.run_without_checkpoint()[1])
    saved_run.out = saved_run.out.with_name("set.parquet")
    rows_file = saved_run.out.with_name("set.parquet.csv")
    stop(saved_run, limit_disk, 8000)
    assert not saved_run.out.exists()
    assert 0 < len(rows_of(rows_file.read_text())) < 60

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(parquet.ParquetWriter, "write_batch", interrupt)
        assert saved_run.resume()[0] == 130
    assert [path.name for path in saved_run.out.parent.glob("set*")] == [rows_file.name]
    for rerun in (saved_run.resume, saved_run, saved_run.resume):
        assert rerun() == (0, "", "")
        assert [path.name for path in saved_run.out.parent.glob("set*")] == [saved_run.out.name]
        rows = parquet.read_table(saved_run.out).to_pylist()
        assert [{name: str(value) for name, value in row.items()} for row in rows] == expected
    assert saved_run("-n", "70")[0] == 2


@pytest.mark.parametrize("options", [(), ("--force",)])
def test_rows_never_replace_another_file(run, tmp_path, options):
    """``--force`` is for the file that ``-o`` names, not for the file of the rows in csv."""
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
        assert [entry.name for entry in tmp_path.iterdir()] == [rows.name]
        assert rows.is_symlink() or rows.read_text() == "mine"
        rows.unlink()


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_file_that_appears_while_a_run_is_stopped(checkpointed, limit_disk, monkeypatch, form):
    """No resumed run overwrites it: it belongs to the user."""
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("gpusudoku.puzzles.generate.MAX_PUZZLES", 8)
    saved_run = checkpointed(["dataset"])
    saved_run.command = ["dataset", "-n", "60", "--seed", "5"]
    saved_run.out = saved_run.out.with_name(f"set.{form}")
    stop(saved_run, limit_disk, 8000)
    if form == "csv":  # which has the rows so far
        saved_run.out.rename(saved_run.out.with_name("rows"))
    saved_run.out.write_text("mine\n" * 10_000)
    for rerun in (saved_run.resume, saved_run):
        status, out, err = rerun()
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"gpusudoku: {saved_run.out}: ")
        assert saved_run.out.read_text() == "mine\n" * 10_000
    if form == "parquet":
        saved_run.out.unlink()
        assert saved_run.resume() == (0, "", "")
        assert parquet.read_table(saved_run.out).num_rows == 60
        saved_run.out.write_text("mine")  # once it is finished, too
        for rerun in (saved_run.resume, saved_run):
            assert rerun()[0] == 2
            assert saved_run.out.read_text() == "mine"


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
    arguments = ["dataset", "-n", "4", "--box", "2x2", "--seed", "1", "-q"]
    checkpoint = ["--checkpoint", tmp_path / "a.run"] * saved
    assert run(*arguments, "-o", path, "--force", *checkpoint) == (0, "", "")
    assert path.is_symlink()
    plain = tmp_path / f"plain.{form}"
    assert run(*arguments, "-o", plain) == (0, "", "")
    assert target.read_bytes() == path.read_bytes() == plain.read_bytes()
    if saved:
        assert run("resume", tmp_path / "a.run", "-q") == (0, "", "")
        assert path.is_symlink()


@pytest.mark.parametrize("saved", [False, True])
def test_parquet_of_all_that_there_are(run, tmp_path, saved):
    """When no more are found; a run with a checkpoint keeps its rows, and searches on."""
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "set.parquet"
    checkpoint = ["--checkpoint", tmp_path / "a.run"] * saved
    arguments = ["dataset", "-n", "50", "--box", "2x2", "--seed", "1", "--seconds", "0.3"]
    for _ in range(1 + saved):
        status, out, err = run(*arguments, "-o", path, *checkpoint, "-q")
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
    arguments = ["dataset", "-n", "2", "--seed", "5", "--box", "2x2"]
    for form in ("csv", "tsv", "jsonl"):
        path = tmp_path / f"set.{form}"
        assert run(*arguments, "-o", path) == (0, "", "")
        assert path.read_text() == run(*arguments, "--format", form)[1]
        status, _, err = run(*arguments, "-o", path)
        assert (status, err) == (
            2, f"gpusudoku: {path}: exists already; --force overwrites it\n"
        )  # fmt: skip
    assert run("dataset", "-n", "0")[1] == run(*arguments)[1].partition("\n")[0] + "\n"
    assert run("dataset", "-n", "0", "--json") == (0, "", "")
    status, _, err = run(*arguments, "-o", tmp_path / "set.csv.gz")
    assert (status, err.count("\n")) == (2, 1)
    assert err.endswith(": files are written uncompressed: leave out .gz\n")
    status, _, err = run(*arguments, "-o", tmp_path / "set.txt")
    assert (status, err.count("\n")) == (2, 1)
    endings = ".csv, .tsv, .jsonl, .parquet, .ndjson, or --format"
    assert err.endswith(f": expected a name that ends in {endings}\n")
    status, _, err = run(*arguments, "--format", "parquet")
    assert (status, err) == (2, "gpusudoku: parquet needs -o FILE: it is not written to stdout\n")


def test_ctrl_c(run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gpusudoku.puzzles.generate.remove_redundant_clues", interrupt)
    status, out, err = run("dataset", "-n", "100000")
    assert (status, out) == (130, "")
    assert err.splitlines()[-1] == "gpusudoku: interrupted: 0 lines written"
