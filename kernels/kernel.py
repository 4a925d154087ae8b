"""Kernels: functions that are compiled, or loaded from the cache, when they are first called.

Everything that is compiled for the CPU is a ``Kernel``. A function that needs no template, because
nothing in it depends on the shape of the board, becomes a kernel by the decorator ``kernel``.

Running a kernel needs llvmlite only. Importing Numba takes longer than many searches, so it is
imported only to compile. What Numba has to know about functions is *registered* until then.
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
from gpusudoku.kernels.arguments import Kind, Number, make_frame, read_result
from gpusudoku.kernels.kernel_store import find_obstacle, short_path

PACKAGE_PREFIX = __name__.removesuffix("kernel")
"""The prefix of the names of all modules with kernels."""
DEFAULT_SECONDS = 0.8
"""The default estimate of the seconds to compile a kernel."""
PACE_FILE = "pace"
"""The file of the cache that contains the pace of this machine, see ``get_pace``."""
MIN_MEASURED_SECONDS = 2.0
"""Work with a lower estimate is too short to measure the pace."""
MAX_PYTHON_BOARDS = 16
"""The default number of boards for which ``Kernel.for_boards`` chooses plain Python."""
SUBJECTS = {
    "contraction.nine.": "the contraction of 9x9 boards",
    "contraction.general.": "the contraction of boards of any shape",
    "shuffling.": "random grids",
    "text.": "reading",
}
"""What kernels do, in messages, by the beginning of their names."""


Jit = Callable[[Callable[..., Any]], Callable[..., Any]]
"""A compiler's decorator for functions that kernels call."""

registrations: list[Callable[[], None]] = []
"""Functions that register with Numba what kernels call. ``register_all`` calls each once, before
anything is compiled. Until then, everything that they register is plain Python."""


def jitable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that kernels call: it is compiled as a part of each of these kernels."""
    registrations.append(partial(_register, function, False))
    return function


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that kernels call and that is too short to be worth a call."""
    registrations.append(partial(_register, function, True))
    return function


def when_compiling(register: Callable[[], None]) -> None:
    """Decorate a function that imports Numba and registers something with it."""
    registrations.append(register)


def _register(function: Callable[..., Any], inline: bool) -> None:
    from gpusudoku.kernels.compile_cpu import register_part  # imported lazily: Numba

    register_part(function, inline)


def register_all() -> None:
    """Call all registrations that have not been called."""
    from gpusudoku.kernels.compile_cpu import call_all  # imported lazily: Numba

    call_all(registrations)


class LoadedFunction:
    """A compiled function in the memory of this process, for as long as this object lives.

    Parameters
    ----------
    name
        The name of the function in the object file.
    object_file
        The content of an object file. It is executed, so it must come from a trusted source.
    """

    _TYPE = CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)
    """The type of functions that Numba compiles for one pointer. They take the address for the
    result, the address for an error, and the pointer. They return 0 unless there was an error."""

    def __init__(self, name: str, object_file: bytes) -> None:
        _initialise_llvm()
        # One engine per function: the object files of several processes may define equal names.
        # The engine owns its target machine, so that cannot be shared either.
        target = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), target)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_file))
        self._engine.finalize_object()
        self.address: int = self._engine.get_function_address(name)
        if not self.address:
            raise ValueError(f"no function {name}")
        self._function = self._TYPE(self.address)

    def __call__(self, frame: array[int]) -> None:
        """Call the function with a call frame. ctypes releases Python's lock meanwhile."""
        start, _ = frame.buffer_info()
        result_address = start + 8
        error_address = start + 16
        if self._function(result_address, error_address, start):
            raise RuntimeError("compiled code has failed: this is a bug")


@cache
def _initialise_llvm() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


class Kernel:
    """A function for arguments of fixed kinds. You call it like the function itself.

    Parameters
    ----------
    name
        Unique among all kernels: the name of its file in the cache. None if it is not cached,
        because its source is not part of this package, on which the cache depends.
    signature
        The kinds of its arguments.
    build
        Returns the Python function.
    factory
        A function and its arguments that return an equal kernel in another process.
    returns
        The kind of its result; None if it returns nothing.
    seconds
        An estimate: the seconds that compiling takes on the reference core, see ``get_pace``.
    subject
        What it does, in messages: ``the search of 9x9 boards``, for example.
    max_python_boards
        The number of boards for which ``for_boards`` chooses plain Python.
    """

    def __init__(
        self,
        name: str | None,
        signature: tuple[Kind, ...],
        build: Callable[[], Callable[..., Any]],
        factory: tuple[Callable[..., Kernel], tuple[Any, ...]],
        *,
        returns: Number | None = None,
        seconds: float = DEFAULT_SECONDS,
        subject: str = "",
        max_python_boards: int = MAX_PYTHON_BOARDS,
    ) -> None:
        self.name = name
        self.signature = signature
        self.returns = returns
        self.seconds = seconds
        self.subject = subject
        self._build = build
        self._factory = factory
        self._remaining_python_boards = max_python_boards
        self._loaded: LoadedFunction | None = None
        self._is_file_unusable = False
        """True after an attempt to load the file from the cache has failed."""
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<Kernel: {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self._factory

    @cached_property
    def python(self) -> Callable[..., Any]:
        """The Python function. It also runs without being compiled."""
        with delayed_forks():  # it may import modules
            return self._build()

    @property
    def is_cached(self) -> bool:
        """True if the kernel is loaded, or if the cache seems to contain it."""
        if self._loaded is not None:
            return True
        if self._is_file_unusable or self.name is None:
            return False
        store = kernel_store.user_store()
        return store is not None and store.has(self.name)

    def load(self) -> None:
        """Load the kernel from the cache, or compile it now.

        Call this before you start threads that call the kernel: Ctrl-C cannot interrupt a thread
        that compiles.
        """
        if not self.load_from_cache():
            announce([self], self.seconds)
            interruptibly(self.compile)

    def load_from_cache(self) -> bool:
        """Load the kernel from the cache, if possible. Return True if it is loaded."""
        if self._loaded is not None:
            return True
        with delayed_forks(), self._lock:
            if self._loaded is None:  # another thread may have loaded it in the meantime
                store = kernel_store.user_store()
                content = None
                if store is not None and self.name is not None:
                    content = store.read(self.name)
                if content is not None:
                    self._load_content(content)
            self._is_file_unusable = self._loaded is None
        return self._loaded is not None

    def compile(self) -> None:
        """Compile the kernel unless it is loaded, and write the machine code to the cache."""
        # If two threads compile it at the same time, the lock makes one wait for the other.
        with delayed_forks(), self._lock:
            if self._loaded is not None:
                return
            from gpusudoku.kernels import compile_cpu  # imported lazily: Numba

            function = self.python  # built first: building it may add registrations
            register_all()
            name, object_file = compile_cpu.compile_entry(function, self.signature, self.returns)
            self._loaded = LoadedFunction(name, object_file)
            store = kernel_store.user_store()
            if store is None or self.name is None:
                return
            try:
                store.write(self.name, name.encode() + b"\0" + object_file)
            except OSError as error:
                if find_obstacle(store) is None:  # any obstacle has been announced before
                    current_watch().not_cached(f"{store.folder}: {error.strerror or error}")

    def _load_content(self, content: bytes) -> None:
        """Load the content of a cached file; do nothing if it is not usable."""
        name, _, object_file = content.partition(b"\0")
        # An interrupt within LLVM would crash the process. An exception means that something else
        # wrote the file.
        with held_interrupts(), suppress(Exception):
            self._loaded = LoadedFunction(name.decode(), object_file)

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function.

        Raises
        ------
        TypeError
            If an argument is of another kind than the signature says.
        """
        frame = make_frame(self.signature, arguments)
        self.call(frame)
        return read_result(frame, self.returns)

    def call(self, frame: array[int]) -> None:
        """Call the compiled function with a frame of ``make_frame``. You can use a frame again."""
        if self._loaded is None:
            self.load()
        assert self._loaded is not None
        self._loaded(frame)

    def for_boards(self, count: int) -> Callable[..., Any]:
        """Return the function to call for the next ``count`` boards: the kernel or plain Python.

        Plain Python takes a few milliseconds for a board, so compiling pays only for thousands of
        boards. Therefore the first boards of a process run in plain Python, unless the kernel is
        cached.
        """
        self._remaining_python_boards -= count
        if self._remaining_python_boards < 0 or self.load_from_cache():
            return self
        # NumPy warns of sums that exceed 64 bits. Kernels rely on their wrapping around.
        return np.errstate(over="ignore")(self.python)

    @property
    def address(self) -> int:
        """The address in the memory of this process, for ``compile_cpu.make_caller``."""
        self.load()
        assert self._loaded is not None
        return self._loaded.address


def get_pace(estimate: float) -> float:
    """Return the pace: this machine's time to compile, divided by that of the reference core.

    If it is not known, and the estimate of the imminent work is high enough, one kernel is compiled
    to measure it. Later work replaces this first measurement by its own, see ``save_pace``.

    Parameters
    ----------
    estimate
        The seconds that the imminent work takes on the reference core.
    """
    store = kernel_store.user_store()
    content = None if store is None else store.read(PACE_FILE)
    if content is not None:
        return float(content)
    if estimate < MIN_MEASURED_SECONDS:
        return 1.0
    # Imported lazily: Numba. And before the clock starts: it may be read from a slow disk.
    import_module("gpusudoku.kernels.compile_cpu")
    sample: Kernel = import_module("gpusudoku.kernels.contraction.general.lists").list_paths
    # If the sample is cached, it was measured, and only the file of the pace has been lost.
    if sample.load_from_cache():
        return 1.0
    start = time.perf_counter()
    interruptibly(sample.compile)
    pace = (time.perf_counter() - start) / sample.seconds
    save_pace(pace)
    return pace


def save_pace(pace: float) -> None:
    """Write the pace to the cache for later processes, if that is possible."""
    store = kernel_store.user_store()
    if store is not None:
        with suppress(OSError):
            store.write(PACE_FILE, str(pace).encode())


def announce(kernels: Sequence[Kernel], estimate: float, total_estimate: float = 0.0) -> None:
    """Report to the watch which kernels are about to be compiled, and how long that takes.

    Parameters
    ----------
    kernels
        The kernels to be compiled now, and those that may be needed later.
    estimate
        The seconds that the former take on the reference core.
    total_estimate
        The seconds that all take. It is announced if it is larger.
    """
    pace = get_pace(estimate)
    store = kernel_store.user_store()
    reason = find_obstacle(store)
    if store is None or reason is not None:
        details = f" ({reason})"
    else:
        details = f", once (cached in {short_path(store.folder.parent)})"
    if total_estimate > estimate:
        total_time = duration(pace * total_estimate).removeprefix("about ")
        details = f", or {total_time} if all of it is needed{details}"
    current_watch().compiling(kernels, pace * estimate, details)


def kernel(
    *signature: Kind,
    returns: Number | None = None,
    seconds: float = DEFAULT_SECONDS,
    import_path: str | None = None,
) -> Callable[[Callable[..., Any]], Kernel]:
    """Return a decorator that makes a ``Kernel`` of a function.

    Parameters
    ----------
    signature
        The kinds of its arguments.
    returns, seconds
        See ``Kernel``.
    import_path
        The module and the name under which another process imports the kernel or the function.
        None: those of the function itself.
    """

    def decorate(function: Callable[..., Any]) -> Kernel:
        full_name = import_path or f"{function.__module__}.{function.__qualname__}"
        name = None
        subject = ""
        if full_name.startswith(PACKAGE_PREFIX):
            name = full_name.removeprefix(PACKAGE_PREFIX)
            subject = next((text for start, text in SUBJECTS.items() if name.startswith(start)), "")
        return Kernel(
            name,
            signature,
            lambda: function,
            (_import_kernel, (full_name, signature, returns, seconds)),
            returns=returns,
            seconds=seconds,
            subject=subject,
        )

    return decorate


def _import_kernel(
    import_path: str, signature: tuple[Kind, ...], returns: Number | None, seconds: float
) -> Kernel:
    """Import a kernel, or make a kernel of the function that is imported."""
    module, _, name = import_path.rpartition(".")
    imported = getattr(import_module(module), name)
    if isinstance(imported, Kernel):
        return imported
    return kernel(*signature, returns=returns, seconds=seconds, import_path=import_path)(imported)
