"""Shell completion: what is offered, the scripts in real shells, and where they are written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpusudoku import collection
from gpusudoku.cli.completion import SCRIPTS, place_of
from gpusudoku.search.techniques import TECHNIQUES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def offered(run, monkeypatch):
    """What is offered for a line, as values without their texts."""

    def offer(line):
        monkeypatch.setenv("_GPUSUDOKU_COMPLETE", "fish_complete")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", line.rpartition(" ")[2])
        status, out, err = run()
        assert (status, err) == (0, "")
        return [answer.partition("\t")[0] for answer in out.splitlines()]

    return offer


class TestOffers:
    def test_boards(self, offered):
        names = [entry.name for entry in collection.entries()]
        for command in ("count", "solve", "enumerate", "simplify", "info", "convert"):
            assert offered(f"gpusudoku {command} @") == [f"plain,@{name}" for name in names]
        assert offered("gpusudoku count @1a @techniques-9") == ["plain,@techniques-9x9"]
        assert offered("gpusudoku count --limit 3 @techniques-9") == ["plain,@techniques-9x9"]

    def test_files(self, offered):
        assert offered("gpusudoku count pu") == ["file,pu"]
        assert offered("gpusudoku count ") == ["file,"]
        assert offered("gpusudoku enumerate @1a -o pu") == ["file,pu"]
        assert offered("gpusudoku count @1a --log pu") == ["file,pu"]

    def test_values(self, offered):
        assert offered("gpusudoku count --strategy m") == ["plain,min"]
        assert offered("gpusudoku count --box 2x") == [f"plain,2x{n}" for n in (2, 3, 4, 5)]
        for option in ("count --propagate", "simplify --technique"):
            line = f"gpusudoku {option} hidden-single,"
            others = [name for name in TECHNIQUES if name != "hidden-single"]
            others += ["singles", "locked", "pairs", "all"]
            assert offered(line) == [f"plain,hidden-single,{name}" for name in others]

    def test_commands(self, offered):
        assert offered("gpusudoku cou") == ["plain,count"]
        assert offered("gpusudoku help cou") == ["plain,count"]
        assert offered("gpusudoku completion f") == ["plain,fish"]

    def test_notes_of_boards(self, run, monkeypatch):
        for name, text in (("COMPLETE", "fish_complete"), ("WORDS", "gpusudoku info @2f")):
            monkeypatch.setenv("_GPUSUDOKU_" + name if name == "COMPLETE" else "COMP_" + name, text)
        monkeypatch.setenv("COMP_CWORD", "@2f")
        assert run()[1] == f"plain,@2f\t3x3, {collection.entry('2f').note}\n"

    def test_without_numba(self):
        """It takes much longer to load than all that completing does."""
        program = (
            "import sys\nfrom gpusudoku.cli import main\n"
            "try: main()\nexcept SystemExit: pass\n"
            "assert 'gpusudoku.collection' in sys.modules and 'numba' not in sys.modules"
        )
        environment = {**os.environ, "_GPUSUDOKU_COMPLETE": "fish_complete",
                       "COMP_WORDS": "gpusudoku count @2", "COMP_CWORD": "@2"}  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            check=True,
        )
        assert b"plain,@2f" in done.stdout


@pytest.fixture
def shell(tmp_path):
    """Run a shell, which finds the program; returns the lines of stdout."""
    program = tmp_path / "gpusudoku"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gpusudoku "$@"\n')
    program.chmod(0o755)

    def start(name, text):
        if shutil.which(name) is None:
            pytest.skip(f"there is no {name}")
        script = tmp_path / "script"
        script.write_text(SCRIPTS[name])
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path),
                       "PATH": f"{tmp_path}:{os.environ['PATH']}"}  # fmt: skip
        done = subprocess.run(
            [name, "-c", text.replace("SCRIPT", str(script))],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.splitlines()

    return start


class TestShells:
    @pytest.mark.parametrize(
        ("line", "word", "expected"),
        [
            ("gpusudoku count @techniques-9", "@techniques-9", "@techniques-9x9"),
            ("gpusudoku count @1a @techniques-9", "techniques-9", "techniques-9x9"),
            ("gpusudoku solve --strategy=m", "m", "min"),
            ("gpusudoku cou", "cou", "count"),
            ("gpusudoku simplify --technique naked-pair,hidden-s", "naked-pair,hidden-s",
             "naked-pair,hidden-single"),
        ],
    )  # fmt: skip
    def test_bash(self, shell, line, word, expected):
        """Whatever bash takes for the word: it has cut the line at an @ or a =, or has not."""
        text = f"""
            source SCRIPT
            COMP_LINE='{line}' COMP_POINT={len(line)}
            _gpusudoku gpusudoku '{word}' x
            printf '%s\\n' "${{COMPREPLY[@]}}"
            complete -p gpusudoku
        """
        found, registered = shell("bash", text)
        assert found == expected
        assert "-F _gpusudoku gpusudoku" in registered

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("gpusudoku count @techniques-9", "@techniques-9x9"),
            ("gpusudoku solve --strategy=m", "--strategy=min"),
            ("gpusudoku count scr", "script"),
            ("gpusudoku simplify --technique naked-pair,hidden-s", "naked-pair,hidden-single"),
        ],
    )
    def test_fish(self, shell, line, expected):
        found = shell("fish", f"source SCRIPT; complete -C '{line}'")
        assert [answer.partition("\t")[0] for answer in found] == [expected]

    def test_zsh(self, shell):
        """It is read without a complaint, and does not need compinit to have been called."""
        assert shell("zsh", "source SCRIPT; print $_comps[gpusudoku]") == ["_gpusudoku"]


class TestInstall:
    @pytest.fixture(autouse=True)
    def home(self, monkeypatch, tmp_path):
        for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("HOME", str(tmp_path / "my home"))
        (tmp_path / "my home").mkdir()

    @pytest.mark.parametrize("name", SCRIPTS)
    def test_printed(self, run, monkeypatch, name):
        monkeypatch.setenv("SHELL", f"/usr/bin/{name}")
        assert run("completion") == run("completion", name) == (0, SCRIPTS[name], "")
        assert not list(Path.home().iterdir())

    @pytest.mark.parametrize("name", ["bash", "zsh"])
    def test_startup_file_gets_one_line_once(self, run, name):
        script, startup = place_of(name)
        startup.write_bytes(b"# \xff mine, without a newline")
        status, out, err = run("completion", name, "--install")
        assert (status, out) == (0, "")
        assert script.read_text() == SCRIPTS[name]
        assert f"wrote {script}\n" in err
        assert f"{startup} has a new line" in err
        mine, line = startup.read_bytes().splitlines()
        assert mine == b"# \xff mine, without a newline"
        assert f". '{script}'" in line.decode()
        before = startup.read_bytes()
        assert f"{startup} names it already" in run("completion", name, "--install")[2]
        assert startup.read_bytes() == before

    def test_the_line_works(self, run, shell):
        run("completion", "bash", "--install")
        found = shell("bash", f"source '{Path.home()}/.bashrc'; complete -p gpusudoku")
        assert "_gpusudoku" in found[0]

    def test_fish_needs_no_line(self, run):
        assert run("completion", "fish", "--install")[0] == 0
        files = [path for path in Path.home().rglob("*") if path.is_file()]
        assert files == [Path.home() / ".config/fish/completions/gpusudoku.fish"]

    def test_what_is_not_ours_is_kept(self, run):
        script, startup = place_of("bash")
        script.parent.mkdir(parents=True)
        script.write_text("precious\n")
        status, out, err = run("completion", "bash", "--install")
        assert (status, out) == (2, "")
        assert f"{script}: exists already" in err
        assert script.read_text() == "precious\n"
        assert not startup.exists()

    def test_what_cannot_be_written(self, run):
        (Path.home() / ".local").write_text("a file\n")
        status, _, err = run("completion", "bash", "--install")
        assert (status, len(err.splitlines())) == (2, 1)
        assert "cannot be written" in err

    @pytest.mark.parametrize("name", ["", "/bin/sh"])
    def test_unknown_shell(self, run, monkeypatch, name):
        monkeypatch.setenv("SHELL", name)
        status, out, err = run("completion")
        assert (status, out) == (2, "")
        assert err.endswith("say bash, zsh or fish\n")
