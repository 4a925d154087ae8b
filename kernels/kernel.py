"""Kernels: functions that are compiled, or loaded from disk, when they are first called.

Everything that is compiled for the CPU is a ``Kernel``. A function that needs no template, because
nothing in it depends on the shape of the board, becomes a kernel by the decorator ``kernel``.

Running a kernel needs llvmlite only. Numba takes longer to import than many a search takes to run,
so it is imported to compile, and functions that it has to know are *registered* until then.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import suppress
from ctypes import CFUNCTYPE, c_int32, c_void_p
from functools import cache, partial
from importlib import import_module
from threading import Lock
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from gpusudoku.jobs.forks import cached_property, delayed_forks
from gpusudoku.jobs.interrupts import held_interrupts, interruptibly
from gpusudoku.jobs.watch import current_watch, duration
from gpusudoku.kernels import kernel_store
from gpusudoku.kernels.arguments import Kind, Number, block_of, result_of
from gpusudoku.kernels.kernel_store import obstacle, short_path

KERNELS = __name__.removesuffix("kernel")
SECONDS = 0.8
"""The default price of a kernel: seconds to compile it."""
PACE = "pace"
"""The file in which the pace of this machine is kept."""
MEASURED_SECONDS = 2.0
"""Work of a lower price is too short to measure the pace."""
PYTHON_BOARDS = 16
"""Boards for which plain Python is quicker than compiling, see ``Kernel.for_boards``."""
SUBJECTS = {
    "contraction.nine.": "the contraction of 9x9 boards",
    "contraction.general.": "the contraction of boards of any shape",
    "shuffling.": "random grids",
    "text.": "reading",
}
"""What functions of the kernels' folders do, in messages."""


Jit = Callable[[Callable[..., Any]], Callable[..., Any]]
"""A compiler's decorator for functions that kernels call."""

registrations: list[Callable[[], None]] = []
"""Functions that tell Numba about what kernels call. ``register_all`` calls each once, before
something is compiled. Without them, all that they register is plain Python."""


def jitable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that kernels call: it is compiled as a part of each kernel."""
    registrations.append(partial(_register, function, False))
    return function


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that is too short to be worth a call."""
    registrations.append(partial(_register, function, True))
    return function


def when_compiling(register: Callable[[], None]) -> None:
    """Decorate a function that registers something with Numba, and imports Numba itself."""
    registrations.append(register)


def _register(function: Callable[..., Any], inline: bool) -> None:
    from gpusudoku.kernels.compile_cpu import register_part  # imported lazily: Numba

    register_part(function, inline)


def register_all() -> None:
    """Call the registrations."""
    from gpusudoku.kernels.compile_cpu import call_all  # imported lazily: Numba

    call_all(registrations)


class Loaded:
    """A compiled function in the memory of this process, for as long as this object lives.

    Parameters
    ----------
    name
        The name of the function in the object file.
    code
        The content of an object file, which must be trusted.
    """

    _TYPE = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)
    """How Numba calls a function of one pointer: with addresses for the result and for an error,
    which are words 1 and 2 of the block. It returns 0 unless there was an error."""

    def __init__(self, name: str, code: bytes) -> None:
        _initialise_llvm()
        # An engine for each: names in the code of several processes may be the same. It owns its
        # target machine.
        target = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address(name)
        if not self.address:
            raise ValueError(f"no function {name}")
        self._function = self._TYPE(self.address)

    def __call__(self, block: array[int]) -> None:
        """Call it, without holding Python's lock."""
        start, _ = block.buffer_info()
        if self._function(start + 8, start + 16, start):
            raise RuntimeError("compiled code has failed: this is a bug")


@cache
def _initialise_llvm() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


class Kernel:
    """A function for given types of arguments, called like the function itself.

    Parameters
    ----------
    name
        Unlike that of any other kernel; it names the file in which the kernel is kept. None if it
        is not to be kept, because its source is not among the kernels.
    signature
        The kinds of its arguments.
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
    python_boards
        The boards for which ``for_boards`` compiles nothing.
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
        python_boards: int = PYTHON_BOARDS,
    ) -> None:
        self.name = name
        self.signature = signature
        self.returns = returns
        self.seconds = seconds
        self.subject = subject
        self._build = build
        self._again = again
        self._python_boards = python_boards
        self._loaded: Loaded | None = None
        self._refused = False
        """True if the file on disk, if there is one, is not usable."""
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
        store = kernel_store.user_store()
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
                store = kernel_store.user_store()
                content = None
                if self._loaded is None and store is not None and self.name is not None:
                    content = store.read(self.name)
                if content is not None:
                    self._take(content)
                self._refused = self._loaded is None
        return self._loaded is not None

    def compile(self) -> None:
        """Compile, if it is not loaded, and keep the machine code."""
        # If two threads want it at the same time, one waits for the other.
        with delayed_forks(), self._lock:
            if self._loaded is not None:
                return
            from gpusudoku.kernels import compile_cpu  # imported lazily: Numba

            function = self.python
            register_all()
            name, code = compile_cpu.compiled(function, self.signature, self.returns)
            self._loaded = Loaded(name, code)
            store = kernel_store.user_store()
            if store is None or self.name is None:
                return
            try:
                store.write(self.name, name.encode() + b"\0" + code)
            except OSError as error:
                if obstacle(store) is None:  # else it was announced before
                    current_watch().not_cached(f"{store.folder}: {error.strerror or error}")

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
        """Call it with a block that ``block_of`` made, which may be used many times."""
        if self._loaded is None:
            self.load()
        assert self._loaded is not None
        self._loaded(block)

    def for_boards(self, count: int) -> Callable[..., Any]:
        """Return the function to call for some boards: the kernel, or plain Python.

        Where a board takes Python a few milliseconds, compiling pays from some thousand boards on.
        So the first few boards in a process are left to Python if the kernel is not kept.
        """
        self._python_boards -= count
        if self._python_boards < 0 or self.fetch():
            return self
        # Python warns of numbers that pass 64 bits, which kernels do on purpose.
        return np.errstate(over="ignore")(self.python)

    @property
    def address(self) -> int:
        """The address in the memory of this process, for ``compile_cpu.caller``."""
        self.load()
        assert self._loaded is not None
        return self._loaded.address


def pace(price: float) -> float:
    """Return how many times as long as the reference core this machine takes to compile.

    Before the first work of a high ``price``, a kernel is compiled to measure it. That work and
    later work correct it.
    """
    store = kernel_store.user_store()
    content = None if store is None else store.read(PACE)
    if content is not None:
        return float(content)
    if price < MEASURED_SECONDS:
        return 1.0
    # Imported lazily, and before the time is taken: Numba may have to be read from a slow disk.
    import_module("gpusudoku.kernels.compile_cpu")
    trial: Kernel = import_module("gpusudoku.kernels.contraction.general.lists").list_paths
    if trial.fetch():  # nothing to measure: only the file of the pace was lost
        return 1.0
    start = time.perf_counter()
    interruptibly(trial.compile)
    measured = (time.perf_counter() - start) / trial.seconds
    keep_pace(measured)
    return measured


def keep_pace(measured: float) -> None:
    """Keep the pace for later processes, if that is possible."""
    store = kernel_store.user_store()
    if store is not None:
        with suppress(OSError):
            store.write(PACE, str(measured).encode())


def announce(kernels: Sequence[Kernel], price: float, total: float = 0.0) -> None:
    """Tell the watch what is about to be compiled, and how long that takes.

    ``price`` is the price of what is compiled now, and ``total`` that of all the kernels, of which
    some may not be needed.
    """
    factor = pace(price)
    store = kernel_store.user_store()
    why = obstacle(store)
    if store is None or why is not None:
        kept = f" ({why})"
    else:
        kept = f", once (kept in {short_path(store.folder.parent)})"
    if total > price:
        total_time = duration(factor * total).removeprefix("about ")
        kept = f", or {total_time} if all of it is needed{kept}"
    current_watch().compiling(kernels, factor * price, kept)


def kernel(
    *signature: Kind,
    returns: Number | None = None,
    seconds: float = SECONDS,
    place: str | None = None,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Make a function a ``Kernel``; its decorator has the kinds of its arguments.

    ``place`` is where the function is found, with its module, if not by its own name.
    """

    def make(function: Callable[..., Any]) -> Kernel:
        path = place or f"{function.__module__}.{function.__qualname__}"
        name = path.removeprefix(KERNELS) if path.startswith(KERNELS) else None
        subjects = (text for start, text in SUBJECTS.items() if name and name.startswith(start))
        return Kernel(
            name,
            signature,
            lambda: function,
            (_again, (path, signature, returns, seconds)),
            returns=returns,
            seconds=seconds,
            subject=next(subjects, ""),
        )

    return make


def _again(
    place: str, signature: tuple[Kind, ...], returns: Number | None, seconds: float
) -> Kernel:
    """Return the kernel at a place, or the kernel made of the function there."""
    module, _, name = place.rpartition(".")
    attribute = getattr(import_module(module), name)
    if isinstance(attribute, Kernel):
        return attribute
    return kernel(*signature, returns=returns, seconds=seconds, place=place)(attribute)
