"""A Parquet file of a data set.

The rows are first written as csv into a second file. When they are complete, this file is converted
and removed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gpusudoku.errors import InputError, not_installed
from gpusudoku.pipeline.checkpoint import is_resumed, refuse_same
from gpusudoku.pipeline.identity import digest_of_file, identity_of_command
from gpusudoku.pipeline.messages import print_note
from gpusudoku.pipeline.output import WriteError, refuse
from gpusudoku.pipeline.run import Run
from gpusudoku.pipeline.settings import OutputOptions
from gpusudoku.runs.store import RunStore

_EXISTS = "exists already; move it, or give the whole command again with --force"
FEW_VALUES = ["difficulty", "split", "seed"]
"""Columns that Parquet stores as indices into a dictionary. Other columns have too many values."""
GROUP_BYTES = 1 << 22
"""Bytes of csv that become one row group in Parquet: about 15,000 rows of 9x9 puzzles. Up to 32
groups are read ahead."""


class ParquetFile:
    """The Parquet file to which a command converts its rows in csv.

    Its digest is saved in the checkpoint before the file gets its name, so that a resumed run
    recognises the file as its own.
    """

    def __init__(self, settings: OutputOptions) -> None:
        """Raise an InputError at once if the file cannot be created later."""
        path = settings.output or ""
        if path in ("", "-"):
            raise InputError("parquet needs -o FILE: it is not written to stdout")
        try:
            import pyarrow.csv
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise InputError(not_installed("parquet", "pyarrow", "parquet")) from None
        self._path = path
        self._rows = f"{path}.csv"
        self._checkpoint = settings.checkpoint
        self._force = settings.force
        self.settings_of_rows = replace(settings, output=self._rows, force=False)
        """The settings for the rows in csv."""
        if self._checkpoint is not None:
            refuse_same(path, self._checkpoint)
        if not is_resumed(self._checkpoint):
            refuse(path, self._force, ())
            if os.path.lexists(self._rows):  # --force is for the file that -o names
                raise InputError(
                    f"{self._rows}: exists already, and is for the rows of {path}: move it"
                )
        if Path(path).exists() and not Path(path).is_file():
            raise InputError(f"{path}: is not a regular file, as parquet requires")

    def is_finished(self, run: Run) -> bool:
        """Tell whether a resumed run has finished its Parquet file, and removed the rows in csv.

        Raises
        ------
        InputError
            If another file has its name, unless ``--force`` overwrites it.
        """
        if not is_resumed(self._checkpoint) or not Path(self._path).is_file():
            return False
        with RunStore(self._checkpoint) as store:
            store.check(identity_of_command(run.command, run.source, run.settings))
            is_own = digest_of_file(self._path) == store.saved_digest("parquet")
            if not (is_own or self._force):
                raise InputError(f"{self._path}: {_EXISTS}")
            is_finished = is_own and store.state.finished and not Path(self._rows).exists()
            if is_finished:
                print_note(f"{store.path}: was already finished")
            return is_finished

    def convert(self, types: Mapping[str, str], *, keeps_rows: bool) -> None:
        """Convert the rows, whose columns have these types, group by group.

        With a checkpoint and ``keeps_rows``, the rows in csv remain, so that a resumed run can
        append further rows.

        Raises
        ------
        InputError
            If another file has the name of the Parquet file, unless ``--force`` overwrites it.
        """
        import pyarrow as pa
        from pyarrow.csv import ConvertOptions, ReadOptions, open_csv
        from pyarrow.parquet import ParquetWriter

        path = self._path
        schema = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in types.items()])
        target = os.path.realpath(path)  # a symbolic link is not replaced by a file
        # The file is written under another name, and renamed when it is complete and on the disk:
        # no half-written file ever has its final name.
        new_file = Path(f"{target}.{os.getpid()}")
        is_created = False
        settings = {"compression": "zstd", "use_dictionary": FEW_VALUES}
        try:
            with (
                open_csv(
                    self._rows,
                    read_options=ReadOptions(block_size=GROUP_BYTES),
                    convert_options=ConvertOptions(column_types=schema),
                ) as batches,
                new_file.open("xb") as file,
            ):
                is_created = True
                with ParquetWriter(file, schema, **settings) as writer:
                    for batch in batches:
                        writer.write_batch(batch)
                os.fsync(file.fileno())  # before its digest is saved
            with RunStore(self._checkpoint) as store:
                if Path(path).exists() and not (
                    self._force or digest_of_file(path) == store.saved_digest("parquet")
                ):
                    raise InputError(f"{path}: {_EXISTS}; the rows are in {self._rows}")
                # The digest is saved first: a run that is killed in between knows its file.
                store.save_facts({"written parquet": digest_of_file(str(new_file))})
            new_file.replace(target)
        except OSError as error:
            raise WriteError(f"{path}: cannot be written: {error.strerror or error}") from None
        finally:
            if is_created:  # otherwise a file of this name belongs to another program
                new_file.unlink(missing_ok=True)
        if not (keeps_rows and self._checkpoint is not None):
            Path(self._rows).unlink()
