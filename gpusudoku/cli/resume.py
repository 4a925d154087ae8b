"""``gpusudoku resume``, and the identity and arguments of a command that a file saves for it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from gpusudoku import formats
from gpusudoku.cli.commands import ARGUMENTS, cli
from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.messages import quietly
from gpusudoku.cli.options import CLUSTER_HELP, devices, own_option, quiet_option
from gpusudoku.cli.source import is_file
from gpusudoku.errors import InputError, printable, shown
from gpusudoku.runs.identity import Identity

if TYPE_CHECKING:
    from gpusudoku.runs.kept import Kept

KIND = "command"
"""The kind of such a run, in its setup."""
INDIFFERENT = frozenset(
    (
        *("boards", "output", "force", "checkpoint", "cluster", "quiet", "stats"),
        *("device", "jobs", "gpus", "memory", "color"),
    )
)
"""Parameters of commands on which files do not depend; boards are looked into."""

own = own_option("resume")


@dataclass(frozen=True)
class Settings:
    """Settings that may differ from those of before; None: as before."""

    device: str | None
    jobs: int | None
    gpus: tuple[int, ...] | None
    cluster: str | None
    """The cluster on which the run goes on; None: this machine."""

    @property
    def given(self) -> dict[str, Any]:
        """The given ones, as options. The threads of before are not those of other machines."""
        known = {"device": self.device, "jobs": self.jobs, "gpus": self.gpus}
        given = {name: value for name, value in known.items() if value is not None}
        return given if self.cluster in (None, "local") else {"jobs": None, **given}


@click.command()
@click.argument("file", metavar="FILE", shell_complete=complete_files)
@devices
@own("--cluster", metavar="ADDRESS", help=f"{CLUSTER_HELP}  [default: on this machine]")
@quiet_option
@click.pass_context
def resume(ctx: click.Context, /, file: str, quiet: bool, **settings: Any) -> None:
    """Resume a run that was saved with --checkpoint FILE.

    Prints or writes the same as the command without an interruption. The run keeps its threads and
    devices, unless you give others here, and may continue on another machine. A count may continue
    with --cluster or without, however it began. A finished run prints its result again at once.

    \b
    Examples:
      gpusudoku count board.txt --checkpoint run.sqlite
      gpusudoku resume run.sqlite
      gpusudoku resume run.sqlite -j 4
      gpusudoku resume run.sqlite --cluster tcp://host:8786
    """
    from gpusudoku.runs.kept import read_run

    kept, _ = read_run(file)
    kind = kept.setup["kind"]
    if kind not in (KIND, "count"):
        raise InputError(f"{file}: no command goes on with {shown(kind)}")
    for name in list(settings):
        if ctx.get_parameter_source(name) == ParameterSource.DEFAULT:
            settings[name] = None  # as it was
    with quietly(quiet):
        if kind == KIND:
            resume_command(file, kept, Settings(**settings))
        else:  # by its name, as commands are imported: it saves by this module
            counts = import_module(f"{__package__}.in_tasks")
            counts.resume_count(file, kept, Settings(**settings))


def identity_of_command(boards: Sequence[str], options: Mapping[str, Any]) -> Identity:
    """Return all that the results of this command depend on; ``options`` are more of that."""
    ctx = click.get_current_context()
    own = {
        max(param.opts, key=len).lstrip("-"): _as_json(ctx.params[param.name])
        for param in ctx.command.params
        if param.name in ctx.params and param.name not in INDIFFERENT
    }
    inputs = [[name, _digest(name) if is_file(name) else None] for name in boards]
    return Identity(ctx.info_name or "", {"inputs": inputs}, {**own, **options})


def _as_json(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def _digest(name: str) -> str:
    """Compute the SHA-256 of a file."""
    if name == formats.STDIN or not Path(name).is_file():
        name = "<stdin>" if name == formats.STDIN else printable(name)
        raise InputError(f"{name}: is there only once, and --checkpoint takes boards of a file")
    try:
        with Path(name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None


def setup_of_command() -> dict[str, Any]:
    """Describe this command as JSON, for ``resume_command``."""
    ctx = click.get_current_context()
    return {
        "kind": KIND,
        "arguments": ctx.meta[ARGUMENTS],
        "environment": {
            name: os.environ[name] for name in _variables(ctx.command) if name in os.environ
        },
        "folder": str(Path.cwd()),
    }


def resume_command(path: str, kept: Kept, settings: Settings) -> None:
    """Run the command again whose progress is saved in a file."""
    setup, path = kept.setup, str(Path(path).absolute())
    try:
        os.chdir(setup["folder"])
    except OSError as error:
        folder = printable(setup["folder"])
        raise InputError(f"{path}: began in the folder {folder}: {error.strerror}") from None
    name, *rest = setup["arguments"]
    command = cli.commands[name]
    with _environment(command, setup["environment"]):
        root = click.get_current_context().find_root()
        root.meta[ARGUMENTS] = setup["arguments"]
        ctx = command.make_context(name, rest, parent=root)
    ctx.params.update(settings.given, checkpoint=path)
    if "cluster" in ctx.params:
        ctx.params["cluster"] = settings.cluster
    elif settings.cluster is not None:
        raise InputError(f"{path}: holds {name}, and only counts run on a cluster")
    with ctx:
        command.invoke(ctx)


def _variables(command: click.Command) -> list[str]:
    """Return the environment variables that stand for options of a command."""
    return [param.envvar for param in command.params if isinstance(param.envvar, str)]


@contextmanager
def _environment(command: click.Command, then: Mapping[str, str]) -> Iterator[None]:
    """Restore the environment of before, for the options of a command."""
    now = {name: os.environ.pop(name) for name in _variables(command) if name in os.environ}
    os.environ.update(then)
    try:
        yield
    finally:
        for name in then:
            del os.environ[name]
        os.environ.update(now)
