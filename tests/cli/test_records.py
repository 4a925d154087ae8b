"""Records of boards keep the extra columns of the input."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusudoku.pipeline.records import FORMS, Choices, TableWriter, as_list, with_gaps
from gpusudoku.pipeline.text_forms import distinct_numbers
from tests.boards import NONE, SEVERAL, UNIQUE
from tests.cli.conftest import ROOT
from tests.session import captured

BOARDS = {UNIQUE: "1", SEVERAL: "288", NONE: "0"}
COLUMNS = ["source", "line", "puzzle", "count", "unique"]
TEXTS = st.text(st.sampled_from('ab "#,\t\\\r\n\x1f\x7fä€😀\ud800'), max_size=6)
NAMES = st.lists(st.text(st.sampled_from("ab,#ä"), min_size=1, max_size=3), max_size=3, unique=True)


def table(text, delimiter=","):
    return list(csv.DictReader(StringIO(text, newline=""), delimiter=delimiter, strict=True))


def records(text):
    return [json.loads(line) for line in text.splitlines()]


@given(st.data(), st.sampled_from(["count", "solve"]))
def test_columns_of_the_input_are_kept(data, command):
    names = data.draw(NAMES)
    texts = data.draw(st.lists(st.tuples(*[TEXTS] * len(names)), min_size=1, max_size=4))
    check(command, names, texts)


@pytest.mark.parametrize("command", ["count", "solve"])
def test_columns_of_many_boards_are_kept(command):
    """Few of them need quotes or escapes."""
    odd = ["", 'a"b', "a,b", "a\tb", "a\rb", "a\nb", "#", "ä", "\ud800"]
    check(command, ["a", "b"], [(f"note {k}", odd[k % 61 % 10 - 1]) for k in range(700)])


def check(command, names, texts_of_rows):
    """Compare records in all forms with the extra columns of their boards."""
    rows = [
        {"board": list(BOARDS)[index % 3], **dict(zip(names, texts, strict=True))}
        for index, texts in enumerate(texts_of_rows)
    ]
    stdin = "".join(json.dumps(row) + "\n" for row in rows)
    arguments = [command, "-", "-q", "--device", "cpu"]
    status, out, _ = captured([*arguments, "--json"], stdin)
    json_records = records(out)
    assert (status, out) == (0, "".join(json.dumps(record) + "\n" for record in json_records))
    assert [record["board"] for record in json_records] == [row["board"] for row in rows]
    assert [{"board": each["board"], **each.get("columns", {})} for each in json_records] == rows
    for form, delimiter in (("csv", ","), ("tsv", "\t")):
        _, out, _ = captured([*arguments, "--format", form], stdin)
        table_rows = table(out, delimiter)
        command_columns = [*COLUMNS, *["solution"] * (command == "solve")]
        assert list(table_rows[0]) == [*command_columns, *names]
        assert len(table_rows) == len(rows)
        for line, (row, record) in enumerate(zip(rows, table_rows, strict=True), 1):
            text = BOARDS[row["board"]]
            count = text if command == "count" or text != "288" else "2+"
            unique = "true" if count == "1" else "false"
            assert [record[name] for name in COLUMNS] == [
                "<stdin>", str(line), row["board"], count, unique
            ]  # fmt: skip
            expected = [row[name].replace("\ud800", "\ufffd") for name in names]
            assert [record[name] for name in names] == expected
        if re.search(
            "[\r\n\x1f\x7f]", "".join(map("".join, texts_of_rows))
        ):  # such a table is not read
            continue
        reread = captured(["count", "-", "-q", "--device", "cpu", "--format", form], out)[1]
        expected = [[row[name] for name in names] for row in table_rows]
        assert [[row[name] for name in names] for row in table(reread, delimiter)] == expected


@given(st.lists(st.one_of(st.integers(0, 5), st.integers(0, 10**30)), max_size=20))
def test_counts_that_many_boards_have(numbers):
    fits = max(numbers, default=0) < 1 << 63
    distinct, indices = distinct_numbers(np.array(numbers, np.int64 if fits else object))
    assert distinct == sorted(set(numbers))
    assert [distinct[index] for index in indices] == numbers


@given(st.data(), st.sampled_from(FORMS), st.integers(1, 9))
def test_columns_in_arrays_are_written_as_those_in_lists(data, form, size):
    """The rows of arrays are joined as bytes, those of lists by Python's writers."""

    def values_of(values, dtype):
        return np.array(data.draw(st.lists(values, min_size=size, max_size=size)), dtype)

    values = [None, True, "no", "a,b", '"', "#", "ä", 5, [1, 2]]
    columns = {
        "bytes": values_of(st.text("19.,A", max_size=3), np.bytes_),
        "integers": values_of(st.integers(-(1 << 63), (1 << 63) - 1), np.int64),
        "numbers": values_of(st.floats(0, 1e300), np.float64),
        "choices": Choices(
            data.draw(st.permutations(values))[:2], values_of(st.integers(0, 1), int)
        ),
        "texts": values_of(st.sampled_from(["", "one", "text", "#", "x" * 99]), object).tolist(),
        "all": data.draw(st.sampled_from(values[:-1])),
        "%": "%",
    }
    given = values_of(st.booleans(), bool)
    columns["some"] = with_gaps(columns["bytes"][given], given)
    lists = {
        name: [column] * size if name in ("all", "%") else as_list(column)
        for name, column in columns.items()
    }
    writer = TableWriter(form, columns)
    table_text = writer.rows(columns)
    assert table_text == writer.rows(lists)
    if form == "jsonl":
        rows = zip(*lists.values(), strict=True)
        assert records(table_text) == [dict(zip(lists, row, strict=True)) for row in rows]


def test_bad_boards_have_their_place_among_many(run, file):
    path = file("".join(f"{UNIQUE[index % 7 == 3 :]}\n" for index in range(2000)))
    rows = table(run("count", path, "--format", "csv", "--keep-going", "-j", 2)[1])
    assert [row["line"] for row in rows] == [str(line) for line in range(1, 2001)]
    assert [row["error"] != "" for row in rows] == [index % 7 == 3 for index in range(2000)]


@pytest.mark.parametrize(
    ("note", "room"), [("a note", 150), ("a note", 350), ("two\nlines", 10_000)]
)
def test_a_full_disk_leaves_the_same_boards_in_output_and_log(
    run, file, tmp_path, monkeypatch, note, room
):
    write = os.write
    remaining = [room]

    def limited(descriptor, data):
        is_output = out.exists() and os.path.samestat(os.fstat(descriptor), out.stat())
        if not remaining or not is_output:
            return write(descriptor, data)
        sent_bytes = write(descriptor, bytes(data)[: remaining[0]])
        remaining[0] -= sent_bytes
        if not sent_bytes:
            remaining.clear()
            raise OSError(errno.ENOSPC, "full")
        return sent_bytes

    boards = [json.dumps({"board": UNIQUE[number % 2 :], "note": note}) for number in range(9)]
    path = file("\n".join(boards))
    out = tmp_path / "out.csv"
    log = tmp_path / "log"
    monkeypatch.setattr(os, "write", limited)
    arguments = ["--format", "csv", "--keep-going", "-o", out, "--log", log]
    status = run("count", path, *arguments)[0]
    rows = table(out.read_text())
    objects = records(log.read_text())
    assert [row["line"] for row in rows] == [str(record["line"]) for record in objects]
    assert [row["error"] for row in rows] == [record.get("error", "") for record in objects]
    assert (status, len(rows)) == (2, 9) if room > 1000 else (status == 1 and len(rows) < 9)


def test_the_options_alone_choose_the_columns(run, file, tmp_path):
    """In a whole run, in a run with a checkpoint, and in parts."""
    path = file(f"{UNIQUE}\n{UNIQUE}\n")
    out = tmp_path / "out.csv"
    run_file = tmp_path / "a.run"
    command = ["count", path, "--format", "csv", "--keep-going"]
    header = ",".join([*COLUMNS, "error"])
    assert run(*command, "--only", "unique")[1].partition("\n")[0] == ",".join(COLUMNS)
    assert run(*command)[1].partition("\n")[0] == header
    run(*command, "-o", out, "--checkpoint", run_file)
    assert out.read_text().partition("\n")[0] == header
    parts = [tmp_path / f"{number}.csv" for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        run(*command, "--part", f"{number}/2", "-o", part)
    assert run("merge", *parts)[1].partition("\n")[0] == header
    run(*command[:-1], "--part", "1/2", "-o", parts[0], "--force")
    status, out, err = run("merge", *parts)
    assert (status, out) == (2, "")
    assert "keep-going " in err


def test_names_that_are_no_text_are_written_as_they_are(run, tmp_path):
    name = str(tmp_path).encode() + b"/b\xe9.txt"
    path = name.decode(errors="surrogateescape")
    try:
        Path(path).write_text(f"{UNIQUE}\n{UNIQUE}\n")
    except OSError:
        pytest.skip("files have names of text here")
    assert records(run("count", path, "--json")[1])[0]["source"] == path
    process = subprocess.run(
        [sys.executable, "-m", "gpusudoku", "count", path, "--format", "csv", "--device", "cpu"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    assert name + f",1,{UNIQUE},1,true\n".encode() in process.stdout
