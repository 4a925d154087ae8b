"""Compiling for the CPU with Numba. This module is imported only where something is compiled.

What is compiled for a kernel is its *entry*: a function that takes the address of a call frame, see
``arguments``, makes the kernel's arguments of its words, and writes the result to it.

This module and the following ones use private names of Numba and numba-cuda: they are not
documented, and any release may change them. ``pyproject.toml`` therefore has upper bounds, and
``.ci/newest`` tests newer releases. README.md lists the versions that are known to work.

============== ==================================================================================
purpose        private names
============== ==================================================================================
parts          ``_dynfunc.make_function``, ``JITCodeLibrary._optimize_final_module``, its
               ``_finalize_final_module`` and ``_finalized``, ``Compiler.define_pipelines`` with
               ``state.library`` and ``state.targetctx.get_executable``; the options ``_nrt``,
               ``pipeline_class`` and, of ``overload``, ``jit_options``
object files   ``library.serialize_using_object_code``, ``library.has_dynamic_globals``,
               ``fndesc.llvm_func_name``
calls          ``call_conv`` and the calling convention itself, which ``kernel.LoadedFunction``
               follows; ``ConcreteTemplate``, ``infer_global``, ``lower_builtin``,
               ``populate_array``
values         ``context.make_array`` and ``make_tuple``: also in ``atomics``, ``search.tracing``,
               ``search.rows`` and ``contraction.nine.strips``, which write LLVM by hand
locking        ``global_compiler_lock``
CUDA           ``dispatcher.overloads``, ``_Kernel._codelibrary``, its ``get_cubin`` and
               ``get_asm_str``, in ``compile_cuda``; the words of arguments, in ``cuda_driver``
============== ==================================================================================
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numba
from llvmlite import ir
from numba import _dynfunc, njit, types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import ConcreteTemplate, infer_global
from numba.extending import intrinsic, register_jitable
from numba.np.arrayobj import populate_array

from gpusudoku.errors import InputError
from gpusudoku.kernels.arguments import HEAD_WORDS, Kind, Layout, Number

_WORD = ir.IntType(64)
_FRAME = types.CPointer(types.uint64)
"""Numba's type of the address of a call frame."""


class _PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part and of what it calls, to be linked into kernels.

    Numba makes a whole program of every function that is called: it links in what that calls,
    optimises it, and translates it to machine code. So a function that is called through four
    others is optimised five times, and only the last result is ever run. A part is not optimised
    as a whole: that happens in the kernels that it is linked into.

    Numba still optimises each function by itself. This is needed: otherwise the optimiser gives up
    on parts of a large kernel, and searches with pairs take 40 % longer.

    If a version of Numba does not call these methods, kernels are the same and take longer to
    compile.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


def _make_unusable_function(library: Any, descriptor: Any, environment: Any) -> Any:
    """Return the Python object by which Numba knows a compiled part. It cannot be called.

    It replaces a function that would translate the part to machine code.
    """
    module = descriptor.lookup_module()
    name = descriptor.qualname
    return _dynfunc.make_function(module, name, "", 0, environment, (library,))


class _PartCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, except that it makes parts."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.targetctx.get_executable = _make_unusable_function
        return super().define_pipelines()


_ENTRY: dict[str, Any] = {
    "_nrt": False,  # no reference counts: kernels allocate nothing
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""Numba's options for an entry."""
PART: dict[str, Any] = {**_ENTRY, "pipeline_class": _PartCompiler}
"""Numba's options for a part."""
INLINED: dict[str, Any] = {**PART, "forceinline": True}
"""Numba's options for a part that is too short to be worth a call."""


_registered_parts: set[Callable[..., Any]] = set()
"""The functions that kernels can call."""


def call_all(registrations: list[Callable[[], None]]) -> None:
    """Call functions and remove them from the list."""
    with global_compiler_lock:
        while registrations:
            register = registrations[-1]
            register()
            # Removed afterwards, so that one that is interrupted is called again the next time. By
            # value: a registration may import a module, which appends more.
            registrations.remove(register)


def register_part(function: Callable[..., Any], inline: bool) -> None:
    """Let kernels call a function."""
    if function not in _registered_parts:
        register_jitable(**(INLINED if inline else PART))(function)
        _registered_parts.add(function)


def compile_entry(
    function: Callable[..., Any], signature: tuple[Kind, ...], returns: Number | None
) -> tuple[str, bytes]:
    """Compile the entry of a function. Return its name, and the object file that contains it.

    ``kernel.register_all`` must have registered what the function calls.

    Raises
    ------
    InputError
        If Numba's compiler is disabled.
    """
    if numba.config.DISABLE_JIT:
        raise InputError("NUMBA_DISABLE_JIT is set, but this needs compiling: unset it")
    with global_compiler_lock, _garbage_collection_disabled():
        register_part(function, inline=True)
        entry = _make_entry(function, signature, returns)
        dispatcher = njit(error_model="numpy", **_ENTRY)(entry)
        dispatcher.compile((_FRAME,))
        [compiled] = dispatcher.overloads.values()
        # Numba compiles large arrays as their addresses, which mean nothing in other processes.
        assert not compiled.library.has_dynamic_globals, "a kernel must not use large global arrays"
        name: str = compiled.fndesc.llvm_func_name
        compiled.library.get_pointer_to_function(name)  # makes the machine code
        _, _, (object_file, _) = compiled.library.serialize_using_object_code()
        return name, object_file


def _make_entry(
    function: Callable[..., Any], signature: tuple[Kind, ...], returns: Number | None
) -> Callable[[Any], None]:
    """Make the entry of a function: ``entry(frame)``."""
    argument_types = types.Tuple([_numba_type(kind) for kind in signature])
    result_type = _numba_type(returns)

    @intrinsic
    def read_arguments(typing_context, frame):
        def generate(context, builder, signature, args):
            indices = count(HEAD_WORDS)
            return _emit_read(context, builder, argument_types, args[0], indices)

        return argument_types(frame), generate

    @intrinsic
    def write_result(typing_context, frame, result):
        def generate(context, builder, signature, args):
            if returns is not None:
                builder.store(_emit_word(builder, args[1]), args[0])
            return context.get_dummy_value()

        return types.void(frame, result_type), generate

    def entry(frame):
        write_result(frame, function(*read_arguments(frame)))

    return entry


def _numba_type(kind: Kind | None) -> Any:
    """Return Numba's type for arguments or results of a kind; for None, that of no result."""
    if kind is None:
        return types.none
    if isinstance(kind, tuple):
        items = tuple(map(_numba_type, kind))
        return types.BaseTuple.from_types(items, type(kind) if hasattr(kind, "_fields") else None)
    if isinstance(kind, Number):
        return getattr(types, "boolean" if kind.name == "bool" else kind.name)
    if isinstance(kind, Layout):
        return numba.from_dtype(kind.dtype)
    return types.Array(numba.from_dtype(kind.dtype), kind.dimensions, "C")


def _emit_read(
    context: Any, builder: Any, numba_type: Any, frame: Any, indices: Iterator[int]
) -> Any:
    """Emit instructions that make a value of the words of a frame at the next ``indices``."""

    def emit_next_word() -> Any:
        return builder.load(cgutils.gep(builder, frame, next(indices)))

    if isinstance(numba_type, types.BaseTuple):
        items = [
            _emit_read(context, builder, item_type, frame, indices)
            for item_type in numba_type.types
        ]
        return context.make_tuple(builder, numba_type, items)
    if isinstance(numba_type, types.Array):
        array = context.make_array(numba_type)(context, builder)
        address = builder.inttoptr(emit_next_word(), array.data.type)
        item_bytes = context.get_abi_sizeof(context.get_data_type(numba_type.dtype))
        shape = [emit_next_word() for _ in range(numba_type.ndim)]
        # The frame has no strides: the array is C-contiguous.
        strides = [_WORD(item_bytes)]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(length, strides[0]))
        populate_array(array, address, shape, strides, _WORD(item_bytes), None)
        return array._getvalue()
    llvm_type = context.get_value_type(numba_type)
    word = emit_next_word()
    if isinstance(numba_type, types.Record):
        return builder.inttoptr(word, llvm_type)
    if numba_type == types.float64:
        return builder.bitcast(word, llvm_type)
    return builder.trunc(word, llvm_type)


def _emit_words(context: Any, builder: Any, numba_type: Any, value: Any) -> list[Any]:
    """Emit instructions that make the words of an argument: the reverse of ``_emit_read``."""
    if isinstance(numba_type, types.BaseTuple):
        items = cgutils.unpack_tuple(builder, value)
        return [
            word
            for item_type, item in zip(numba_type.types, items, strict=True)
            for word in _emit_words(context, builder, item_type, item)
        ]
    if isinstance(numba_type, types.Array):
        array = context.make_array(numba_type)(context, builder, value)
        return [builder.ptrtoint(array.data, _WORD), *cgutils.unpack_tuple(builder, array.shape)]
    return [_emit_word(builder, value)]


def _emit_word(builder: Any, value: Any) -> Any:
    """Emit instructions that make a word of a number or an address."""
    if isinstance(value.type, ir.PointerType):
        return builder.ptrtoint(value, _WORD)
    if isinstance(value.type, ir.DoubleType):
        return builder.bitcast(value, _WORD)
    # Also for negative numbers: ``_emit_read`` takes only as many low bits as the type has.
    return builder.zext(value, _WORD)


def make_caller(
    function: Callable[..., Any],
    signature: tuple[Kind, ...],
    returns: Number | None,
    address_index: int,
) -> Callable[..., Any]:
    """Make a function with which kernels call another kernel at its address.

    It takes an array of addresses, followed by the arguments of the kernel. If the kernel were
    called as a part instead, it would be compiled once more. Addresses are valid in one process
    only, so they are arguments, and never become part of code that is cached.

    Parameters
    ----------
    function
        The Python function of the kernel. In plain Python it is called instead.
    signature, returns
        The kinds of the kernel's arguments and of its result.
    address_index
        The index of the kernel's address in the array.
    """
    argument_types = tuple(map(_numba_type, signature))
    result_type = _numba_type(returns)
    call_type = result_type(types.int64[::1], *argument_types)

    def call(addresses: Any, *arguments: Any) -> Any:
        return function(*arguments)

    class Typing(ConcreteTemplate):  # type: ignore[misc]
        key = call
        cases = [call_type]  # noqa: RUF012

    def emit_call(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        """Emit the instructions of a call, as Numba calls a function that it compiled itself."""
        addresses = context.make_array(call_type.args[0])(context, builder, arguments[0])
        address = builder.load(cgutils.gep(builder, addresses.data, address_index))

        words = [
            word
            for argument_type, value in zip(argument_types, arguments[1:], strict=True)
            for word in _emit_words(context, builder, argument_type, value)
        ]
        frame = cgutils.alloca_once(builder, _WORD, size=HEAD_WORDS + len(words))
        for index, word in enumerate(words, HEAD_WORDS):
            builder.store(word, cgutils.gep(builder, frame, index))

        pointer_type = context.call_conv.get_function_type(types.none, (_FRAME,)).as_pointer()
        entry = builder.inttoptr(address, pointer_type)
        status, _ = context.call_conv.call_function(builder, entry, types.none, (_FRAME,), (frame,))
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        if returns is None:
            return context.get_dummy_value()
        return _emit_read(context, builder, result_type, frame, iter([0]))

    infer_global(call, types.Function(Typing))
    lower_builtin(call, *call_type.args)(emit_call)
    return call


@contextmanager
def _garbage_collection_disabled() -> Iterator[None]:
    """Disable garbage collection, which saves a tenth of the time.

    The compiler makes millions of objects that stay, and the collector would visit them all.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
