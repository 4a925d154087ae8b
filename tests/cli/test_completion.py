"""Shell completion in real shells, and where its scripts are written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tests.cli.conftest import ROOT


@pytest.fixture
def shell(run, tmp_path):
    """Run a shell, which finds the program; returns the lines of stdout."""
    program = tmp_path / "gpusudoku"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gpusudoku "$@"\n')
    program.chmod(0o755)

    def start(name, text):
        if shutil.which(name) is None:
            pytest.skip(f"there is no {name}")
        script = tmp_path / "script"
        script.write_text(run("completion", name)[1])
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path),
                       "PATH": f"{tmp_path}:{os.environ['PATH']}"}  # fmt: skip
        done = subprocess.run(
            [name, "-c", text.replace("SCRIPT", str(script))],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.splitlines()

    return start


@pytest.fixture
def home(monkeypatch, tmp_path):
    """Make an empty home."""
    for variable in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(variable, raising=False)
    path = tmp_path / "my home"
    path.mkdir()
    monkeypatch.setenv("HOME", str(path))
    return path


# Each is a line, what bash takes for the word, as it may cut a line at an @ or a =, and the answer.
BASH = [
    ("gpusudoku count @techniques-9", "@techniques-9", "@techniques-9x9"),
    ("gpusudoku count @1a @techniques-9", "techniques-9", "techniques-9x9"),
    ("gpusudoku solve --strategy=m", "m", "min"),
    ("gpusudoku simplify --technique naked-pair,hidden-s", "naked-pair,hidden-s",
     "naked-pair,hidden-single"),
]  # fmt: skip


def test_bash(shell):
    calls = [
        f"COMP_LINE='{line}' COMP_POINT={len(line)}; _gpusudoku gpusudoku '{word}' x\n"
        "printf '%s\\n' \"${COMPREPLY[@]}\"\n"
        for line, word, _ in BASH
    ]
    *found, registered = shell("bash", f"source SCRIPT\n{''.join(calls)}complete -p gpusudoku")
    assert found == [answer for _, _, answer in BASH]
    assert "-F _gpusudoku gpusudoku" in registered


def test_fish(shell):
    answers = {
        "gpusudoku count @techniques-9": "@techniques-9x9",
        "gpusudoku solve --strategy=m": "--strategy=min",
        "gpusudoku count scr": "script",
        "gpusudoku simplify --technique naked-pair,hidden-s": "naked-pair,hidden-single",
    }
    text = "".join(f"complete -C '{line}'\n" for line in answers)
    found = shell("fish", f"source SCRIPT\n{text}")
    assert [answer.partition("\t")[0] for answer in found] == [*answers.values()]


def test_zsh(shell):
    """It is read without a complaint, and does not need compinit to have been called."""
    assert shell("zsh", "source SCRIPT; print $_comps[gpusudoku]") == ["_gpusudoku_completion"]


@pytest.mark.parametrize(
    ("name", "added"),
    [("zsh", ["#--*=}$key", "compset", "autoload -Uz compinit"]), ("fish", ["'$1'", "--max 1"])],
)
def test_what_is_added_to_scripts_of_click_is_in_them(run, name, added):
    """These shells may not be there, and another version of click may have other scripts."""
    script = run("completion", name)[1]
    assert [text for text in added if text not in script] == []


def test_a_startup_file_gets_one_line_once(run, shell, home):
    startup = home / ".bashrc"
    startup.write_bytes(b"# \xff mine, without a newline")
    assert run("completion", "bash", "--install")[0] == 0
    mine, line = startup.read_bytes().splitlines()
    assert mine == b"# \xff mine, without a newline"
    assert b"completion.bash" in line
    before = startup.read_bytes()
    assert f"already set up in {startup}" in run("completion", "bash", "--install")[2]
    assert startup.read_bytes() == before
    assert "_gpusudoku" in shell("bash", f"source '{startup}'; complete -p gpusudoku")[0]


def test_what_is_not_ours_is_kept(run, home):
    run("completion", "bash", "--install")
    [script] = home.rglob("completion.bash")
    script.write_text("precious\n")
    (home / ".bashrc").unlink()
    status, out, err = run("completion", "bash", "--install")
    assert (status, out) == (2, "")
    assert f"{script}: exists already" in err
    assert script.read_text() == "precious\n"
    assert not (home / ".bashrc").exists()
