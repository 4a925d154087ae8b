"""Kernels: functions that are compiled, or loaded from disk, when they are first called.

Everything that is compiled for the CPU is a ``Kernel``. Functions that need no template, because
nothing in them depends on the shape of the board, are made kernels by a decorator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from threading import Lock
from typing import Any

from numba.core.types import Array

from gpusudoku.jobs.interrupts import held_interrupts, interruptibly
from gpusudoku.jobs.watch import current_watch
from gpusudoku.kernels import jit
from gpusudoku.kernels.parts import inlined, jitable
from gpusudoku.kernels.store import not_kept, short_path

__all__ = ["Kernel", "inlined", "jitable", "kernel"]

KERNELS = __name__.removesuffix("kernel")
SECONDS = 0.5
"""What compiling a kernel takes if nothing else is said."""
SUBJECTS = {
    "contraction.nine.": "the contraction of 9x9 boards",
    "contraction.general.": "the contraction of boards of any shape",
    "text.": "reading",
}
"""What functions of the kernels' folders do, in messages."""


class Kernel:
    """A function for given types of arguments, called like the function itself.

    Parameters
    ----------
    name
        Unlike that of any other kernel; it names the file in which the kernel is kept. None if it
        is not to be kept, because its source is not among the kernels.
    build
        Makes the function as it is written, and the tuple of the Numba types of its arguments.
    again
        A function, and its arguments, with which another process gets the same kernel.
    seconds
        What compiling takes on a core of 2024.
    subject
        What it does, in messages: ``the search of 9x9 boards``, for example.
    """

    def __init__(
        self,
        name: str | None,
        build: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]],
        again: tuple[Callable[..., Kernel], tuple[Any, ...]],
        *,
        seconds: float = SECONDS,
        subject: str = "",
    ) -> None:
        self.name, self.seconds, self.subject = name, seconds, subject
        self._build, self._again = build, again
        self._compiled: Callable[..., Any] | None = None
        self._refused = False
        """Whether what is on disk, if anything is, turned out to be no good."""
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<Kernel: {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again

    @cached_property
    def _built(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._build()

    @cached_property
    def _only_read(self) -> list[bool]:
        """Which arguments are read-only arrays, if any are: of those that can be written, too."""
        only_read = [isinstance(one, Array) and not one.mutable for one in self._built[1]]
        return only_read if any(only_read) else []

    @property
    def python(self) -> Callable[..., Any]:
        """The function as it is written, which runs without compiling, too."""
        return self._built[0]

    @property
    def types(self) -> tuple[Any, ...]:
        """The Numba types of the arguments."""
        return self._built[1]

    @property
    def kept(self) -> bool:
        """Whether nothing needs compiling: it is loaded, or seems to be on disk."""
        store = jit.store()
        on_disk = self.name is not None and store is not None and store.has(self.name)
        return self._compiled is not None or (on_disk and not self._refused)

    def load(self) -> None:
        """Load from disk, or compile now, so that the first call takes no longer than others.

        Ctrl-C waits for a thread that compiles, so whoever starts threads calls this before.
        """
        if not self.fetch():
            announce([self], self.seconds)
            interruptibly(self.compile)

    def fetch(self) -> bool:
        """Load from disk, if possible; returns whether the kernel is loaded."""
        if self._compiled is None:
            with self._lock:
                self._fetch()
        return self._compiled is not None

    def compile(self) -> None:
        """Compile, if it is not loaded, and keep what comes out."""
        with self._lock:  # of two who want it at the same time one waits for the other
            if self._compiled is not None:
                return
            self._compiled = jit.compiled(*self._built)
            store = jit.store()
            if store is None or self.name is None:
                return
            hopeful = store.writable()
            if not store.write(self.name, jit.as_bytes(self._compiled)) and hopeful:
                current_watch().not_kept(store.trouble or "")

    def _fetch(self) -> None:
        store = jit.store()
        if self._compiled is not None or store is None or self.name is None:
            return
        content = store.read(self.name)
        if content is not None:
            # An error: the code was made for another Numba. Ctrl-C waits: in the middle of what
            # LLVM takes over, it would crash the process.
            with held_interrupts(), suppress(Exception):
                self._compiled = jit.from_bytes(self.python, content)
        self._refused = self._compiled is None

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, compiled."""
        if self._only_read:
            arguments = (*map(_read_only, arguments, self._only_read),)
        return self.function()(*arguments)

    def function(self) -> Callable[..., Any]:
        """The function that is compiled."""
        if self._compiled is None:
            self.load()
        assert self._compiled is not None
        return self._compiled


def _read_only(argument: Any, only_read: bool) -> Any:
    """The argument, or a view that cannot be written: a type of its own, to Numba."""
    if not only_read or not argument.flags.writeable:
        return argument
    view = argument.view()
    view.setflags(write=False)
    return view


def announce(kernels: Sequence[Kernel], seconds: float) -> None:
    """Tell the watch that these are about to be compiled, in about so many seconds."""
    store = jit.store()
    if store is None or not store.writable():
        kept = f" ({not_kept(store)})"
    else:
        kept = f", once (kept in {short_path(store.folder.parent)})"
    current_watch().compiling(kernels, seconds, kept)


def kernel(
    *signature: Any, seconds: float = SECONDS, place: str | None = None
) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a ``Kernel``; the Numba types of its arguments stand above it.

    ``place`` is where the function is found, with its module, if not by its own name.
    """

    def make(function: Callable[..., Any]) -> Kernel:
        found = place or f"{function.__module__}.{function.__qualname__}"
        name = found.removeprefix(KERNELS) if found.startswith(KERNELS) else None
        subjects = (text for start, text in SUBJECTS.items() if name and name.startswith(start))
        return Kernel(
            name,
            lambda: (function, signature),
            (_again, (found, signature, seconds)),
            seconds=seconds,
            subject=next(subjects, ""),
        )

    return make


def _again(place: str, signature: tuple[Any, ...], seconds: float) -> Kernel:
    """The kernel that is found at a place, or the one made of the function there."""
    module, _, name = place.rpartition(".")
    found = getattr(import_module(module), name)
    if isinstance(found, Kernel):
        return found
    return kernel(*signature, seconds=seconds, place=place)(found)
