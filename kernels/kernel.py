"""Kernels: functions that are compiled, or loaded from disk, when they are first called.

Everything that is compiled for the CPU is a ``Kernel``. Functions that need no template, because
nothing in them depends on the shape of the board, are made kernels by a decorator.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from threading import Lock
from typing import Any

from gpusudoku.jobs.forks import cached_property, delayed_forks
from gpusudoku.jobs.interrupts import held_interrupts, interruptibly
from gpusudoku.jobs.watch import current_watch, duration
from gpusudoku.kernels import cache
from gpusudoku.kernels.machine_code import Loaded
from gpusudoku.kernels.signature import Kind, Number, block_of, result_of
from gpusudoku.kernels.store import not_kept, short_path

KERNELS = __name__.removesuffix("kernel")
SECONDS = 0.8
"""The seconds that compiling a kernel takes if nothing else is said."""
PACE = "pace"
"""The file in which the pace of this machine is kept."""
MEASURED_SECONDS = 2.0
"""Work of a lower price is too short to measure the pace."""
SUBJECTS = {
    "contraction.nine.": "the contraction of 9x9 boards",
    "contraction.general.": "the contraction of boards of any shape",
    "shuffling.": "random grids",
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
    signature
        The types of its arguments, see ``signature``.
    build
        Makes the function as it is written.
    again
        A function, and its arguments, with which another process gets the same kernel.
    returns
        The type of its result; None if there is none.
    seconds
        The price: the seconds that compiling takes on the reference core, see ``pace``.
    subject
        What it does, in messages: ``the search of 9x9 boards``, for example.
    """

    def __init__(
        self,
        name: str | None,
        signature: tuple[Kind, ...],
        build: Callable[[], Callable[..., Any]],
        again: tuple[Callable[..., Kernel], tuple[Any, ...]],
        *,
        returns: Number | None = None,
        seconds: float = SECONDS,
        subject: str = "",
    ) -> None:
        self.name, self.signature, self.returns = name, signature, returns
        self.seconds, self.subject = seconds, subject
        self._build, self._again = build, again
        self._loaded: Loaded | None = None
        self._refused = False
        """True if what is on disk, if anything is, turned out to be no good."""
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<Kernel: {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self._again

    @cached_property
    def python(self) -> Callable[..., Any]:
        """The function as it is written, which runs without compiling, too."""
        with delayed_forks():  # it may import modules
            return self._build()

    @property
    def kept(self) -> bool:
        """True if nothing needs compiling: it is loaded, or seems to be on disk."""
        store = cache.store()
        on_disk = self.name is not None and store is not None and store.has(self.name)
        return self._loaded is not None or (on_disk and not self._refused)

    def load(self) -> None:
        """Load from disk, or compile now, so that the first call takes no longer than others.

        Ctrl-C waits for a thread that compiles, so whoever starts threads calls this before.
        """
        if not self.fetch():
            announce([self], self.seconds)
            interruptibly(self.compile)

    def fetch(self) -> bool:
        """Load from disk, if possible; return True if the kernel is loaded."""
        if self._loaded is None:
            with delayed_forks(), self._lock:
                store, content = cache.store(), None
                if self._loaded is None and store is not None and self.name is not None:
                    content = store.read(self.name)
                if content is not None:
                    self._take(content)
                self._refused = self._loaded is None
        return self._loaded is not None

    def compile(self) -> None:
        """Compile, if it is not loaded, and keep what comes out."""
        # Of two threads that want it at the same time one waits for the other.
        with delayed_forks(), self._lock:
            if self._loaded is not None:
                return
            from gpusudoku.kernels import jit  # imported lazily: Numba

            name, code = jit.compiled(self.python, self.signature, self.returns)
            self._loaded = Loaded(name, code)
            store = cache.store()
            if store is None or self.name is None:
                return
            hopeful = store.writable()
            if not store.write(self.name, name.encode() + b"\0" + code) and hopeful:
                current_watch().not_kept(store.trouble or "")

    def _take(self, content: bytes) -> None:
        """Load what was kept. Ctrl-C waits: in the middle of LLVM, it would crash the process."""
        name, _, code = content.partition(b"\0")
        with held_interrupts(), suppress(Exception):  # an error: it was written by something else
            self._loaded = Loaded(name.decode(), code)

    def __call__(self, *arguments: Any) -> Any:
        """Call the function, compiled; a TypeError for arguments of other types."""
        block = block_of(self.signature, arguments)
        self.call(block)
        return result_of(block, self.returns)

    def call(self, block: array[int]) -> None:
        """Call it with a block that ``signature.block_of`` made, again and again."""
        if self._loaded is None:
            self.load()
        assert self._loaded is not None
        self._loaded(block)

    @property
    def address(self) -> int:
        """The address in the memory of this process, for kernels that call it: see ``jit``."""
        self.load()
        assert self._loaded is not None
        return self._loaded.address


def pace(price: float) -> float:
    """Return how many times as long as the reference core this machine takes to compile.

    Before the first work of a high ``price``, a kernel is compiled to measure it. That work and
    later work correct it.
    """
    store = cache.store()
    content = None if store is None else store.read(PACE)
    if content is not None:
        return float(content)
    if price < MEASURED_SECONDS:
        return 1.0
    # Imported lazily, and before the time is taken: Numba may have to be read from a slow disk.
    import_module("gpusudoku.kernels.jit")
    trial: Kernel = import_module("gpusudoku.kernels.contraction.general.lists").list_paths
    if trial.fetch():  # nothing to measure: the file of the pace was lost alone
        return 1.0
    start = time.perf_counter()
    interruptibly(trial.compile)
    measured = (time.perf_counter() - start) / trial.seconds
    keep_pace(measured)
    return measured


def keep_pace(measured: float) -> None:
    """Keep the pace for later processes, if that is possible."""
    store = cache.store()
    if store is not None:
        store.write(PACE, str(measured).encode())


def announce(kernels: Sequence[Kernel], price: float, total: float = 0.0) -> None:
    """Tell the watch what is about to be compiled, and what that takes.

    ``price`` is the price of what is compiled now, and ``total`` that of all the kernels, of which
    some may not be needed.
    """
    factor = pace(price)
    store = cache.store()
    if store is None or not store.writable():
        kept = f" ({not_kept(store)})"
    else:
        kept = f", once (kept in {short_path(store.folder.parent)})"
    if total > price:
        whole = duration(factor * total).removeprefix("about ")
        kept = f", or {whole} if all of it is needed{kept}"
    current_watch().compiling(kernels, factor * price, kept)


def kernel(
    *signature: Kind,
    returns: Number | None = None,
    seconds: float = SECONDS,
    place: str | None = None,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a ``Kernel``; the types of its arguments stand above it.

    ``place`` is where the function is found, with its module, if not by its own name.
    """

    def make(function: Callable[..., Any]) -> Kernel:
        found = place or f"{function.__module__}.{function.__qualname__}"
        name = found.removeprefix(KERNELS) if found.startswith(KERNELS) else None
        subjects = (text for start, text in SUBJECTS.items() if name and name.startswith(start))
        return Kernel(
            name,
            signature,
            lambda: function,
            (_again, (found, signature, returns, seconds)),
            returns=returns,
            seconds=seconds,
            subject=next(subjects, ""),
        )

    return make


def _again(
    place: str, signature: tuple[Kind, ...], returns: Number | None, seconds: float
) -> Kernel:
    """The kernel that is found at a place, or the one made of the function there."""
    module, _, name = place.rpartition(".")
    found = getattr(import_module(module), name)
    if isinstance(found, Kernel):
        return found
    return kernel(*signature, returns=returns, seconds=seconds, place=place)(found)
