"""``count --checkpoint -o`` of one board: neither its result nor a file of the user is replaced."""

from __future__ import annotations

import json

import pytest

BOARD = "1....2....3....."


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out"


MOVE = "move it, or give the whole command again with --force"
FORMS = [[], ["--format", "csv"], ["--json"], ["--part", "1/2"]]


@pytest.mark.parametrize("options", FORMS, ids=" ".join)
class TestFinished:
    @pytest.fixture
    def rerun(self, run, path, output, options):
        """Finish a count; return a function that runs and resumes it again."""
        arguments = ["count", BOARD, *options, "-o", output, "--checkpoint", path]
        assert run(*arguments)[:2] == (0, "")
        return lambda: [run(*arguments), run("resume", path), run("resume", path, "-j", "1")]

    def test_the_answer_stays(self, rerun, path, output):
        old_content = output.read_bytes()
        old_time = output.stat().st_mtime_ns
        for answer in rerun():
            assert answer == (0, "", f"gpusudoku: {path}: was already finished\n")
        assert (output.read_bytes(), output.stat().st_mtime_ns) == (old_content, old_time)

    @pytest.mark.parametrize("text", ["my data\n", "6\nmy data\n"])
    def test_another_text_stays(self, rerun, output, text):
        output.write_text(text)
        for status, out, err in rerun():
            assert (status, out) == (2, "")
            assert err.endswith(f"{output}: exists already; {MOVE}\n")
        assert output.read_text() == text

    def test_a_file_that_is_gone_is_written_again(self, rerun, output, options):
        old_content = output.read_text()
        output.unlink()
        assert [status for status, _, _ in rerun()] == [0, 0, 0]
        if "--json" in options:
            assert json.loads(output.read_text())["count"] == json.loads(old_content)["count"]
        elif "--part" in options:
            assert json.loads(output.read_text())["partial"] == json.loads(old_content)["partial"]
        else:
            assert output.read_text() == old_content


def test_another_count_is_not_what_was_written(run, path, output):
    run("count", BOARD, "--json", "-o", output, "--checkpoint", path)
    output.write_text(json.dumps(json.loads(output.read_text()) | {"count": "7"}))
    status, out, err = run("resume", path)
    assert (status, out) == (2, "")
    assert err.endswith(f"{output}: exists already; {MOVE}\n")


def test_a_file_in_the_way_is_refused_before_the_work(run, path, output, monkeypatch):
    """``resume`` has no --force, so it says what to do."""

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    arguments = ["count", BOARD, "--method", "search", "-o", output, "--checkpoint", path]
    with monkeypatch.context() as patch:
        patch.setattr("gpusudoku.runs.tasks.steps", interrupt)
        assert run(*arguments)[0] == 130
    output.write_text("my data\n")
    old_content = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("gpusudoku.runs.tasks.steps", lambda *_, **__: pytest.fail("work"))
        for rerun in (["resume", path], arguments):
            assert run(*rerun) == (2, "", f"gpusudoku: {output}: exists already; {MOVE}\n")
    assert (path.read_bytes(), output.read_text()) == (old_content, "my data\n")
    assert run(*arguments, "--force")[0] == 0
    assert output.read_text() == "6\n"
