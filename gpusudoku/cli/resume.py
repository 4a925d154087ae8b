"""``gpusudoku resume``: resume a command whose progress is saved in a file."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click
from click.core import ParameterSource

from gpusudoku.cli.completing import complete_files
from gpusudoku.cli.machines import CLUSTER_HELP
from gpusudoku.cli.messages import quietly
from gpusudoku.cli.options import devices, own_option, quiet_option
from gpusudoku.errors import InputError, shown

KINDS = {
    "count": ("in_tasks", "resume_count"),
    "command": ("again", "resume_command"),
}
"""The function that resumes a run, by the ``kind`` of its setup: a module here, and a name."""

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
        given = {
            name: value
            for name, value in vars(self).items()
            if name != "cluster" and value is not None
        }
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
    if kind not in KINDS:
        raise InputError(f"{file}: no command goes on with {shown(kind)}")
    module, function = KINDS[kind]
    for name in list(settings):
        if ctx.get_parameter_source(name) == ParameterSource.DEFAULT:
            settings[name] = None  # as it was
    with quietly(quiet):
        go_on = getattr(import_module(f"{__package__}.{module}"), function)
        go_on(file, kept, Settings(**settings))
