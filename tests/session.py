"""Session files: commands and Python lines with their output, run and compared in this process.

    ## A comment.

    $ gpusudoku count @2b
    276

    $ gpusudoku count - << END
    1..5
    END
    ! gpusudoku: <stdin>:1: [..]
    [2]

    >>> import gpusudoku
    >>> gpusudoku.count("5")
    ! gpusudoku.errors.InputError: [..]

Below a step stand its stderr, each line after ``! `` (of an exception the message alone), then its
stdout, then the exit status of the last command unless it is 0. ``[..]`` stands for any text within
a line, a line that is only ``...`` for any number of lines. The commands are ``gpusudoku``, ``cat``
and ``ls``, with ``NAME=VALUE`` before them, ``|`` between, and last ``<``, ``>`` or ``<< END``.
Right below ``>>> `` a line that begins with ``... `` goes on with the statement. The steps share
one folder, and the names that Python lines bind.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any
from unittest.mock import patch

ABOUT_THE_MACHINE = re.compile(r"^gpusudoku: (device|compiling) .*\n", re.MULTILINE)
"""Lines of stderr that differ from machine to machine, or from run to run: left out."""

_BEGINS = ("## ", "$ ", ">>> ")


@dataclass
class Step:
    """One command or Python statement of a session, or a comment, and the lines below it."""

    given: list[str]
    expected: list[str] = field(default_factory=list)

    @property
    def stdin(self) -> str:
        """Return the lines between ``<< END`` and ``END``."""
        return "".join(f"{line}\n" for line in self.given[1:-1])


def parse(text: str) -> Iterator[Step]:
    """Yield the steps of a session file."""
    lines = text.splitlines()
    while lines:
        step = Step([lines.pop(0)])
        first = step.given[0]
        if first.startswith("$ ") and "<<" in first:
            end = first.split()[-1]
            while step.given[-1] != end:
                if not lines:
                    raise ValueError(f"{first}: there is no {end}")
                step.given.append(lines.pop(0))
        for begins, goes_on in (("## ", "## "), (">>> ", "... ")):
            while first.startswith(begins) and lines and lines[0].startswith(goes_on):
                step.given.append(lines.pop(0))
        while lines and not lines[0].startswith(_BEGINS):
            step.expected.append(lines.pop(0))
        while step.expected and not step.expected[-1]:
            step.expected.pop()
        yield step


def write(steps: list[Step]) -> str:
    """Return the text of a session file: a blank line between steps, but not between statements."""
    text = ""
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        joined = after and not step.expected and step.given[0][:3] == after.given[0][:3] == ">>>"
        text += "\n".join([*step.given, *step.expected]) + ("\n" if joined or not after else "\n\n")
    return text


def matches(expected: list[str], got: list[str]) -> bool:
    """Compare lines, with ``[..]`` for any text within one and ``...`` for any lines."""
    patterns = [
        r"(?:.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("[..]"))) + r"\n"
        for line in expected
    ]
    return re.fullmatch("".join(patterns), "".join(f"{line}\n" for line in got)) is not None


def keep_patterns(expected: list[str], got: list[str]) -> list[str]:
    """Return the lines that were printed; where they are as expected, the patterns of these."""
    printed = [
        next((line for line in got if each.strip("[.]") and matches([each], [line])), each)
        for each in expected
    ]
    lines = []
    for kind, a, b, c, d in SequenceMatcher(None, printed, got, autojunk=False).get_opcodes():
        old = expected[a:b]
        new = got[c:d]
        if kind == "equal":
            lines += old
        elif "..." in old:
            before = old.index("...")
            after = max(before, len(new) - len(old) + before + 1)
            lines += [*new[:before], "...", *new[after:]]
        else:
            lines += new
    return lines


class Session:
    """Runs the steps of one session file in the current folder."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, step: Step) -> list[str]:
        """Run a step; return the lines that belong below it."""
        first = step.given[0]
        if first.startswith("$ "):
            status, out, err = _pipeline(first[2:], step.stdin)
        elif first.startswith(">>> "):
            status, out, err = self._python("\n".join(line[4:] for line in step.given) + "\n")
        elif step.expected:
            raise ValueError(f"neither a comment nor a command: {step.expected[0]}")
        else:
            return []
        lines = [f"! {line}".rstrip() for line in ABOUT_THE_MACHINE.sub("", err).splitlines()]
        lines += out.splitlines()
        while lines and not lines[-1]:
            lines.pop()
        return [*lines, f"[{status}]"] if status else lines

    def _python(self, code: str) -> tuple[int, str, str]:
        with _replaced_streams("") as streams:
            try:
                exec(compile(code, "<session>", "single"), self.names)
            except Exception as error:
                # Only the message: a session shows what its user reads.
                sys.stderr.write("".join(traceback.format_exception_only(error)))
        return 0, *streams


def _pipeline(line: str, stdin: str) -> tuple[int, str, str]:
    """Run commands joined by ``|``, each on the output of the one before."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    out = stdin
    errs = ""
    status = 0
    words: list[str] = []
    for word in [*lexer, "|"]:
        if word == "|":
            status, out, err = _command(words, out)
            errs += err
            words = []
        else:
            words.append(word)
    return status, out, errs


def _command(words: list[str], stdin: str) -> tuple[int, str, str]:
    """Run one command with its redirections."""
    environment = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    status, out, err, target = 0, "", "", None
    while len(words) > 1 and words[-2] in ("<", ">", "<<"):
        name = words.pop()
        sign = words.pop()
        if sign == "<":
            stdin = Path(name).read_text("utf-8")
        elif sign == ">":
            target = Path(name)
    if any(re.fullmatch("[<>|]+", word) for word in words):
        raise ValueError(f"a session does not know this redirection: {' '.join(words)}")
    program, *arguments = words
    with patch.dict(os.environ, environment):
        if program == "gpusudoku":
            status, out, err = captured(arguments, stdin)
        elif program == "cat":
            out = "".join(Path(name).read_text("utf-8") for name in arguments) or stdin
        elif program == "ls":
            out = "".join(f"{path.name}\n" for path in sorted(Path(*arguments).iterdir()))
        else:
            raise ValueError(f"a session knows gpusudoku, cat and ls, not {program}")
    if target:
        target.write_text(out, "utf-8")
        out = ""
    return status, out, err


def status_of(arguments: Iterable[str]) -> int:
    """Run ``gpusudoku`` in this process; return its exit status."""
    from gpusudoku.cli import main

    with patch.object(sys, "argv", ["gpusudoku", *arguments]):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
    return 0


def captured(arguments: Iterable[str], stdin: str = "") -> tuple[int, str, str]:
    """Run ``gpusudoku`` in this process; return its exit status, stdout and stderr."""
    with _replaced_streams(stdin) as streams:
        status = status_of(arguments)
    return status, *streams


@contextlib.contextmanager
def _replaced_streams(stdin: str) -> Iterator[list[str]]:
    """Replace the standard streams; give stdout and stderr as text when the block ends."""
    streams: list[str] = []
    given, out, err = (
        io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8", write_through=True)
        for text in (stdin, "", "")
    )
    with (
        patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        yield streams
    streams += [stream.buffer.getvalue().decode() for stream in (out, err)]
