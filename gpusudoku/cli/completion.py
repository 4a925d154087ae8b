"""``gpusudoku completion``: the script with which a shell completes the command."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click
from click.shell_completion import FishComplete, ZshComplete

from gpusudoku.cli.messages import note
from gpusudoku.cli.options import own_option
from gpusudoku.cli.output import show
from gpusudoku.cli.usage import Choice
from gpusudoku.errors import InputError

SHELLS = ("bash", "zsh", "fish")

MARK = "# Completion of gpusudoku, written by: gpusudoku completion\n"
"""A line of every script: a file without it is not ours to overwrite."""

# click's script for bash sends COMP_WORDS, which bash cuts at each @ and =. As in fish, the program
# gets the line, and the word after its last blank. Readline replaces $2 only, so what stands before
# it in that word is taken off every answer.
BASH = """\
_gpusudoku() {
    local line=${COMP_LINE:0:COMP_POINT} type value answers
    local word=${line##*[[:space:]]}
    answers=$(_GPUSUDOKU_COMPLETE=fish_complete COMP_WORDS=$line COMP_CWORD=$word "$1" 2>/dev/null)
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            plain) value=${value%%$'\\t'*}; COMPREPLY+=("${value#"${word%"$2"}"}") ;;
            file) COMPREPLY=(); compopt -o default ;;
        esac
    done <<< "$answers"
}
complete -o nosort -F _gpusudoku gpusudoku
"""

CHANGES = {
    # Complete values and files in --option=VALUE, and load compinit where .zshrc does not.
    "zsh": {
        '"$key"': '"${(M)words[CURRENT]#--*=}$key"',
        "_path_files -f": "compset -P '--*='; _path_files -f",
        " compdef ": " (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }\n"
        "    compdef ",
    },
    # Complete values in --option=VALUE, and values with commas.
    "fish": {
        "echo $": "echo (string replace -r '^(--[a-z-]+=)?.*' '$1' -- (commandline -ct))$",
        'split ","': 'split --max 1 ","',
    },
}
"""Changes to click's scripts: for each shell texts, and what replaces them."""


def script_of(shell: str) -> str:
    """Return the script of a shell: click's, but for bash."""
    script = BASH
    if shell != "bash":
        kind = ZshComplete if shell == "zsh" else FishComplete
        script = kind(click.Group(), {}, "gpusudoku", "_GPUSUDOKU_COMPLETE").source()
        for before, after in CHANGES[shell].items():
            script = script.replace(before, after)
    return script + MARK


@click.command()
@click.argument("shell", required=False, type=Choice(SHELLS), metavar="[SHELL]")
@own_option("completion")(
    "--install", is_flag=True, help="Write the script where the shell loads it."
)
def completion(shell: str | None, install: bool) -> None:
    """Complete commands, options and @names in bash, zsh or fish.

    With --install, once, every new shell completes with the Tab key. Without it, the script is
    printed, and nothing is written. SHELL is yours if it is not given.

    \b
    Examples:
      gpusudoku completion --install
      gpusudoku completion zsh > ~/.zfunc/_gpusudoku
    """
    shell = shell or _own_shell()
    if not install:
        show(script_of(shell).rstrip("\n"))
        return
    path, startup = _places(shell)
    _write(path, script_of(shell))
    note(f"wrote {path}")
    if startup is not None:
        added = _load_from(startup, path)
        note(f"{startup} {'has a new line that loads it' if added else 'names it already'}")
    note(f"every {shell} that is started from now on completes gpusudoku")


def _own_shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in SHELLS:
        raise InputError(f"the variable SHELL names {name or 'no shell'}: say bash, zsh or fish")
    return name


def _places(shell: str) -> tuple[Path, Path | None]:
    """Return the user's file for a script, and the one that must load it, if any must."""
    home = Path.home()
    if shell == "fish":
        folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        return folder / "fish/completions/gpusudoku.fish", None
    folder = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    startup = Path((shell == "zsh" and os.environ.get("ZDOTDIR")) or home) / f".{shell}rc"
    return folder / f"gpusudoku/completion.{shell}", startup


def _write(path: Path, script: str) -> None:
    """Write a script over an older one, but over no other file."""
    try:
        if path.exists() and MARK.encode() not in path.read_bytes():
            raise InputError(f"{path}: exists already, and gpusudoku did not write it")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="ascii")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def _load_from(startup: Path, script: Path) -> bool:
    """Append a line that loads the script, unless the file names it; tell if it was appended."""
    try:
        text = startup.read_bytes() if startup.exists() else b""
        if os.fsencode(script) in text:
            return False
        quoted = shlex.quote(str(script))
        line = f"[ -f {quoted} ] && . {quoted}  # completion of gpusudoku\n"
        with startup.open("ab") as file:
            file.write(b"\n" * (text[-1:] not in (b"", b"\n")) + os.fsencode(line))
    except OSError as error:
        raise InputError(f"{startup}: cannot be written: {error.strerror}") from None
    return True
