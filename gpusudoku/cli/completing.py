"""Shell completion: the words that may follow, and ``gpusudoku completion``, which sets it up."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem, FishComplete, ZshComplete

from gpusudoku import collection
from gpusudoku.cli.usage import Choice
from gpusudoku.errors import InputError
from gpusudoku.pipeline.messages import print_note
from gpusudoku.search.techniques import GROUPS, TECHNIQUES

Offers = list[CompletionItem]
SHELLS = ("bash", "zsh", "fish")

MARK = "# Completion of gpusudoku, written by: gpusudoku completion\n"
"""The last line of every script. A file without it was written by others: it is not overwritten."""

# click's script for bash sends COMP_WORDS, which bash cuts at each @ and =, so @names and
# --option=VALUE could not be completed. This script sends the whole line, and the word after its
# last blank, as click's script for fish does. Readline replaces only $2, the end of that word,
# so the text before $2 is removed from every answer.
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
"""Texts in click's scripts and their replacements, by shell."""


def complete_boards(ctx: click.Context, param: click.Parameter, incomplete: str) -> Offers:
    """Offer the boards that come with the program after an ``@``, and files otherwise."""
    if not incomplete.startswith("@"):
        return complete_files(ctx, param, incomplete)
    return [
        CompletionItem(f"@{entry.name}", help=f"{entry.box}, {entry.note}")
        for entry in collection.entries()
        if entry.name.startswith(incomplete[1:])
    ]


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> Offers:
    """Offer files; the shell itself searches for them."""
    return [CompletionItem(incomplete, type="file")]


def complete_boxes(ctx: click.Context, param: click.Parameter, incomplete: str) -> Offers:
    """Offer the box shapes of the boards that come with the program."""
    boxes = sorted({entry.box for entry in collection.entries()}, key=lambda box: (box.n, box))
    return [CompletionItem(str(box)) for box in boxes if str(box).startswith(incomplete)]


def complete_techniques(ctx: click.Context, param: click.Parameter, incomplete: str) -> Offers:
    """Offer techniques and groups that the comma-separated list does not contain yet."""
    complete_names, comma, prefix = incomplete.rpartition(",")
    names = [*TECHNIQUES, *GROUPS]
    if complete_names:
        names.remove("none")  # it cannot be combined with a technique
    return [
        CompletionItem(complete_names + comma + name)
        for name in names
        if name.startswith(prefix) and name not in complete_names.split(",")
    ]


@click.command()
@click.argument("shell", required=False, type=Choice(SHELLS), metavar="[SHELL]")
@click.option(
    "--install",
    envvar="GPUSUDOKU_COMPLETION_INSTALL",
    is_flag=True,
    help="Write the script to a file that the shell loads.",
)
def completion(shell: str | None, install: bool) -> None:
    """Complete commands, options and @names in bash, zsh or fish.

    --install sets completion up once: the Tab key then completes in every new shell. Without
    --install, the command prints the script and writes no file. The default of SHELL is the
    shell that the environment variable SHELL names.

    \b
    Examples:
      gpusudoku completion --install
      gpusudoku completion zsh > ~/.zfunc/_gpusudoku
    """
    from gpusudoku.pipeline.output import show

    # SHELL is the login shell, such as /bin/bash.
    shell = shell or Path(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise InputError(
            f"the variable SHELL names {shell or 'no shell'}: name one of bash, zsh and fish"
        )
    script = _completion_script(shell)
    if not install:
        show(script.rstrip("\n"))
        return
    home = Path.home()
    if shell == "fish":
        # fish loads all files in this folder by itself.
        config_folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        _write_script(config_folder / "fish/completions/gpusudoku.fish", script)
    else:
        data_folder = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
        path = data_folder / f"gpusudoku/completion.{shell}"
        _write_script(path, script)
        startup_folder = home
        if shell == "zsh" and os.environ.get("ZDOTDIR"):
            startup_folder = Path(os.environ["ZDOTDIR"])
        _load_in_startup_file(startup_folder / f".{shell}rc", path)
    print_note(f"new {shell} shells will complete gpusudoku commands")


def _completion_script(shell: str) -> str:
    """Return the script that makes a shell ask the program for completions."""
    if shell == "bash":
        return BASH + MARK
    script_class = ZshComplete if shell == "zsh" else FishComplete
    # The script depends on the names only, so an empty group stands in for the commands.
    script = script_class(click.Group(), {}, "gpusudoku", "_GPUSUDOKU_COMPLETE").source()
    for text, replacement in CHANGES[shell].items():
        script = script.replace(text, replacement)
    return script + MARK


def _write_script(path: Path, script: str) -> None:
    """Write a script; replace an older script, but no other file."""
    try:
        if path.exists() and MARK.encode() not in path.read_bytes():
            raise InputError(f"{path}: exists already, and was not written by gpusudoku")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(script, encoding="ascii")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None
    print_note(f"wrote {path}")


def _load_in_startup_file(startup_file: Path, script: Path) -> None:
    """Append a line that loads the script to a shell's startup file, unless it has one."""
    from shlex import quote

    try:
        content = startup_file.read_bytes() if startup_file.exists() else b""
        # A second --install must not add the line again.
        if os.fsencode(script) in content:
            print_note(f"already set up in {startup_file}")
            return
        path = quote(str(script))
        line = f"[ -f {path} ] && . {path}  # completion of gpusudoku\n"
        if content and not content.endswith(b"\n"):
            line = f"\n{line}"  # the last line of the file has no end
        with startup_file.open("ab") as file:
            file.write(os.fsencode(line))
    except OSError as error:
        raise InputError(f"{startup_file}: cannot be written: {error.strerror}") from None
    print_note(f"added a line to {startup_file} that loads it")
