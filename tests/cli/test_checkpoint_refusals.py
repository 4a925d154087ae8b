"""Output that is kept track of: what is refused, in one line, with all files as they were."""

from __future__ import annotations

import os

import pytest

from tests.cli.kept import BATCH, UNIQUE

pytestmark = pytest.mark.usefixtures("uncompiled")


@pytest.mark.parametrize("command", [["count"], ["enumerate", "--sorted"]])
class TestRefused:
    @pytest.fixture
    def begun(self, kept, full, command):
        """A run that has not come to its end."""
        this = kept(command)
        full(len(this.wanted()[1]) - 5)
        assert this()[0] == 1
        full(None)
        this.before = this.out.read_bytes(), this.run_file.read_bytes()
        return this

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda this: this.out.unlink(), "is not there any more, and cannot be gone on with"),
            (lambda this: this.out.write_bytes(b"1"), "has 1 bytes, not the "),
            (
                lambda this: (this.out.unlink(), os.mkfifo(this.out)),
                "is no file, and --checkpoint needs one to go on with",
            ),
            (lambda this: (this.out.unlink(), this.out.mkdir()), "is a folder, and cannot be"),
        ],
    )
    def test_an_output_that_is_not_as_it_was(self, begun, change, message):
        saved = begun.out.read_bytes()
        change(begun)
        for again in (begun, begun.resume):
            status, out, err = again()
            assert (status, out, err.count("\n")) == (2, "", 1)
            assert err.startswith(f"gpusudoku: {begun.out}: {message}")
        begun.out.rmdir() if begun.out.is_dir() else begun.out.unlink(missing_ok=True)
        begun.out.write_bytes(saved)  # and then it goes on
        assert begun()[0] == 0
        assert begun.out.read_text() == begun.wanted()[1]

    def test_another_input(self, begun):
        """The message names the file that has changed."""
        begun.boards.write_text(BATCH + UNIQUE)
        why = f"holds another run: {begun.boards} has changed since it began"
        for again in (begun, begun.resume):
            assert again() == (2, "", f"gpusudoku: {begun.run_file}: {why}\n")
        assert (begun.out.read_bytes(), begun.run_file.read_bytes()) == begun.before

    def test_more_inputs(self, begun):
        begun.command.append(UNIQUE)
        message = f"gpusudoku: {begun.run_file}: holds another run: other boards\n"
        assert begun() == (2, "", message)
        assert (begun.out.read_bytes(), begun.run_file.read_bytes()) == begun.before

    def test_other_options(self, begun):
        status, _, err = begun("--box", "2x2")
        assert (status, err) == (
            2,
            f"gpusudoku: {begun.run_file}: holds another run: box none, not 2x2\n",
        )
        assert (begun.out.read_bytes(), begun.run_file.read_bytes()) == begun.before

    def test_another_output(self, begun, tmp_path):
        other = tmp_path / "other.txt"
        other.write_text("precious\n" * 1000)
        status, _, err = begun("-o", other, "--force")
        assert status == 2
        assert err == f"gpusudoku: {begun.run_file}: its output is {begun.out}, not {other}\n"
        assert other.read_text() == "precious\n" * 1000

    def test_more_behind_the_end(self, begun):
        assert begun()[0] == 0
        with begun.out.open("a") as file:
            file.write("a note\n")
        status, _, err = begun()
        assert status == 2
        assert err.endswith(": has more than was written, and nothing is left to do\n")
        assert begun.out.read_text() == begun.wanted()[1] + "a note\n"


class TestNeverBegun:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ([], "--checkpoint needs -o FILE: what went to stdout cannot be taken back"),
            (["-o", "-"], "--checkpoint needs -o FILE: what went to stdout cannot be taken back"),
            (["-o", "old.txt"], "old.txt: exists already; --force overwrites it"),
            (["-o", "a.run"], "a.run: is the checkpoint, and cannot be the output file, too"),
            (["-o", "boards.txt", "--force"], "boards.txt: is read, and cannot be written at the"),
            (["-o", "/dev/null"], "/dev/null: is no file, and --checkpoint needs one"),
            (["-o", "new.txt", "--stats"], "--stats cannot be combined with --checkpoint"),
            (["-o", "no/new.txt"], "no/new.txt: cannot be written"),
        ],
    )
    @pytest.mark.parametrize("command", ["count", "solve", "enumerate"])
    def test_refused(self, run, tmp_path, monkeypatch, command, options, message):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "boards.txt").write_text(BATCH)
        (tmp_path / "old.txt").write_text("precious\n")
        status, out, err = run(command, "boards.txt", *options, "--checkpoint", "a.run", "-q")
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert err.startswith(f"gpusudoku: {message}")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["boards.txt", "old.txt"]
        assert (tmp_path / "old.txt").read_text() == "precious\n"

    def test_others_that_tell_of_one_process(self, run, file, tmp_path):
        for option in (["--log", tmp_path / "log"], ["--cross-check"]):
            files = ["-o", tmp_path / "out", "--checkpoint", tmp_path / "a.run"]
            status, _, err = run("count", file(BATCH), *files, *option)
            assert (status, err) == (
                2,
                f"gpusudoku: {option[0]} cannot be combined with --checkpoint\n",
            )

    def test_a_pipe_as_input(self, run, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        if os.fork() == 0:
            pipe.write_text(BATCH)
            os._exit(0)
        files = ["-o", tmp_path / "out", "--checkpoint", tmp_path / "a.run"]
        status, _, err = run("count", pipe, *files, "-q")
        os.wait()
        assert status == 2
        assert err == (
            f"gpusudoku: {pipe}: is there only once, and --checkpoint takes boards of a file\n"
        )
        assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe"]
