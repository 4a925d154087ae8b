"""Who works at a long run that is kept in a file."""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Owner:
    """A process that works at a long run, or was the last that did."""

    host: str
    pid: int
    since: float
    """When it began, by its clock, in seconds of Unix time; shown, and used for nothing else."""
    token: str
    """Random: two processes of one number are two."""

    @classmethod
    def here(cls) -> Owner:
        """The process that asks."""
        return cls(socket.gethostname(), os.getpid(), time.time(), secrets.token_hex(8))

    @property
    def json(self) -> str:
        """All of it as text."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def parse(cls, text: str) -> Owner:
        """What ``json`` gave.

        Raises
        ------
        ValueError
            If it is no owner.
        """
        try:
            made = cls(**json.loads(text))
        except TypeError as error:
            raise ValueError(str(error)) from None
        kinds = (made.host, str), (made.pid, int), (made.since, float), (made.token, str)
        if not all(isinstance(value, kind) for value, kind in kinds):
            raise ValueError("not an owner")
        return made

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"
