"""The command ``gpusudoku bench``: its tables, files and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpusudoku import collection
from gpusudoku.bench import suite
from gpusudoku.bench.suite import Subject
from gpusudoku.cli.bench import DEFAULT_BOARDS
from tests.bench.samples import EMPTY, MACHINE, rows_with

SMALL = ("@box2x2-empty", "@box2x2-few", "--device", "cpu", "-i", "2")


@pytest.fixture
def bench(run: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *arguments: run("bench", *arguments)


def boards_of(table: str) -> list[str]:
    """Return the boards of a table in Markdown, which is below a sentence and an empty line."""
    return [line.split()[1] for line in table.splitlines()[4:]]


def test_methods_and_numbers_of_threads(bench: Any, tmp_path: Path) -> None:
    as_csv = tmp_path / "a.csv"
    as_json = tmp_path / "a.json"
    methods = ("--method", "search,contraction")
    status, out, _ = bench(*SMALL, *methods, "-j", "1,2", "--csv", as_csv, "--json", as_json)
    assert (status, out.count("box2x2-empty")) == (0, 4)
    rows, _ = suite.read_json(str(as_json))
    assert [row["solutions"] for row in rows] == [288] * 4 + [2] * 4
    assert all(row["runs"] == 2 and row["median"] > 0 for row in rows)
    assert as_csv.read_text() == suite.as_csv(rows)
    assert bench("--from", as_json)[:2] == (0, out)


def test_boards_are_chosen_by_name(bench: Any) -> None:
    patterns = ("--include", "box2x2-f*", "--include", "box2x2-e*", "--exclude", "*few")
    status, out, _ = bench("-i", "1", "--device", "cpu", "-j", "1", "--method", "search", *patterns)
    assert (status, boards_of(out)) == (0, ["box2x2-empty"])


def test_the_default_boards(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(collection.entry(name).count > 100_000 for name in DEFAULT_BOARDS)
    monkeypatch.setattr("gpusudoku.cli.bench.DEFAULT_BOARDS", ("box2x2-few", "box2x2-many"))
    status, out, _ = bench("--device", "cpu", "-j", "1", "-i", "1")
    assert (status, boards_of(out)) == (0, ["box2x2-few", "box2x2-many"])


def test_one_table_compares_the_devices(bench: Any, tmp_path: Path) -> None:
    """Boards include one with doubtful speed-ups and one with a case that was left out."""
    path = tmp_path / "a.json"
    details = tmp_path / "details.json"
    seconds = {"one": (2.0, 1.0, 0.25), "two": (4.0, 1.0, 0.125), "three": (None, 5.0, 0.5)}
    rows = []
    for board, times in seconds.items():
        rows += rows_with([Subject(board, EMPTY)], device=["cpu", "cuda"], jobs=[1, 16])
        for row, time in zip(rows[-3:], times, strict=True):
            row |= {"solutions": 123_456, "starved": board == "two", "median": time}
            if time is None:
                row |= {"solutions": None, "note": "left out: about 80 s", "runs": 0}
            else:
                row["speed_up"] = times[0] / time if times[0] else None
                row["solutions_per_second"] = 123_456 / time
    machine = {**MACHINE, "cores": 16, "gpus": ["H200"], "gpusudoku": "1.2.3"}
    path.write_text(suite.as_json(rows, machine))
    status, out, err = bench("--from", path)
    assert status == 0
    table = """\
a processor, 16 cores; H200, 2026-01-02, gpusudoku 1.2.3; search (min, singles): medians of 3 runs

| board | solutions |               1 core | 16 cores |     GPU |\
 solutions/s | speed-up, 16 cores | speed-up, GPU | GPU against 16 cores |
|-------|----------:|---------------------:|---------:|--------:|\
------------:|-------------------:|--------------:|---------------------:|
| one   |   123,456 |                  2 s |      1 s |  250 ms |\
     494,000 |               2.00 |          8.00 |                 4.00 |
| two   |   123,456 |                 4 s? |     1 s? | 125 ms? |\
     988,000 |              4.00? |        32.00? |                8.00? |
| three |   123,456 | left out: about 80 s |      5 s |  500 ms |\
     247,000 |                    |               |                10.00 |
"""
    assert out == table
    assert "3 of 9 measurements are starved" in err
    _, detailed, _ = bench("--from", path, "--details", "--json", details)
    assert detailed.count("search cuda min singles") == 3
    assert details.read_text() == path.read_text()


def test_cpu_and_gpu_count_the_same(bench: Any) -> None:
    status, out, _ = bench(*SMALL[:2], "--device", "cpu,cuda", "-j", "1", "-i", "1")
    assert (status, boards_of(out)) == (0, ["box2x2-empty", "box2x2-few"])
    head = out.splitlines()[2].split("|")
    assert [name.strip() for name in head[3:5]] == ["1 core", "GPU"]
    assert [name.strip() for name in head[-3:-1]] == ["solutions/s", "speed-up, GPU"]


def test_starved_rows_are_noted(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    bench(*SMALL, "-j", "1", "--method", "search", "--json", path)
    recorded = json.loads(path.read_text())
    for row, starved in zip(recorded["rows"], (True, False), strict=True):
        row["starved"] = starved
    path.write_text(json.dumps(recorded))
    _, _, err = bench("--from", path)
    assert "1 of 2 measurements are starved" in err
    assert bench("--from", path, "--details")[1].count("starved") == 1
    pytest.importorskip("matplotlib")
    _, _, err = bench("--from", path, "--plot", tmp_path)
    assert f"{tmp_path / 'utilisation.svg'} written" in err
    assert len([*tmp_path.glob("*.svg")]) == 1  # one board has no time over a quantity


def test_a_file_of_boards_and_cutoffs_by_empty_cells(bench: Any, tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    path.write_text("1...............\n................\n")
    cutoffs = ("--method", "search", "--cutoff", "4,16", "--cutoff-by", "empty")
    status, out, _ = bench(path, "--device", "cpu", "-j", "1", "-t", "0.001", *cutoffs)
    assert status == 0
    assert out.count("two.txt:1") == out.count("two.txt:2") == 2
    assert "search cpu -j 1 min singles empty 16" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["@nothing"], "no board named '@nothing'"),
        (["--device", "gpu"], "--device 'gpu': expected cpu or cuda"),
        (["-j", "1,x"], "--jobs 'x': expected an integer from 1 to 1024"),
        (["--propagate", "guessing"], "unknown technique"),
        (["--cutoff", "0"], "cutoff 0.0"),
        (["--csv", ""], "a file without a name"),
        (["--from", "THERE", "--json", "THERE", "--force"], "THERE"),
        (["--from", "THERE", "--device", "cpu"], "--device: --from measures nothing"),
        (["--from", "THERE", "--box", "4x4", "--device", "cpu"], "--from measures nothing"),
        (["--csv", "new", "--json", "new"], "need two different files"),
        (["--plot", "FOLDER"], "has figures already; --force overwrites them"),
    ],
)
def test_bad_input(bench: Any, arguments: list[str], message: str, tmp_path: Path) -> None:
    """Nothing is measured, and files stay as they were."""
    there = tmp_path / "there"
    there.write_text("mine")
    (tmp_path / "time.svg").write_text("mine")
    words = [
        word.replace("THERE", str(there)).replace("FOLDER", str(tmp_path)) for word in arguments
    ]
    status, out, err = bench(*words, *(["--device", "cpu"] if "--device" not in words else []))
    assert (status, out) == (2, "")
    assert message.replace("THERE", str(there)) in err
    assert there.read_text() == "mine"


def test_a_wrong_count_ends_in_an_error(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = collection.entry("box2x2-few")
    wrong = type(entry)(**{**vars(entry), "count": 3})
    monkeypatch.setattr(collection, "entry", lambda name: wrong)
    status, out, err = bench("@box2x2-few", "--device", "cpu", "-j", "1", "--method", "search")
    assert status == 1
    assert "counted 2 solutions, expected 3" in out
    assert "counts differ: " in err
