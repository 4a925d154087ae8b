"""Compiling for the CPU with Numba. This module is imported only where something is compiled.

What is compiled for a kernel is its *entry*: a function that takes the address of a block of words,
see ``arguments``, makes the kernel's arguments of them, and leaves the result there.

This module and the following ones use names of Numba and numba-cuda that are private: they have no
documentation, and any release may change them. ``pyproject.toml`` therefore has upper bounds, and
``.ci/newest`` tries newer releases. README.md has the versions that are known to work.

============== ==================================================================================
what for       private names
============== ==================================================================================
parts          ``_dynfunc.make_function``, ``JITCodeLibrary._optimize_final_module``, its
               ``_finalize_final_module`` and ``_finalized``, ``Compiler.define_pipelines`` with
               ``state.library`` and ``state.targetctx.get_executable``; the options ``_nrt``,
               ``pipeline_class`` and, of ``overload``, ``jit_options``
object files   ``library.serialize_using_object_code``, ``library.has_dynamic_globals``,
               ``fndesc.llvm_func_name``
calls          ``call_conv`` and the calling convention itself, which ``kernel.Loaded`` follows;
               ``ConcreteTemplate``, ``infer_global``, ``lower_builtin``, ``populate_array``
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
from gpusudoku.kernels.arguments import HEAD, Kind, Layout, Number

_WORD = ir.IntType(64)
_BLOCK = types.CPointer(types.uint64)


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part and of what it calls, to be linked into others.

    Numba makes a whole program of every function that is called: it links in what that calls,
    optimises it, and translates it to machine code. A function that is called through four others
    is optimised five times, and only the last of the results is ever run. Here a part is only
    tidied up, and waits for a kernel that needs it to be optimised as a whole.

    Every function is optimised for itself all the same, without which the optimiser gives up on
    parts of a large kernel: searches with pairs took 40 % longer.
    Whatever of this a version of Numba should not ask for, it does as always, which takes longer.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


def _nothing_to_run(library: Any, descriptor: Any, environment: Any) -> Any:
    """What Numba knows a compiled function by. None of these is called from Python."""
    module = descriptor.lookup_module()
    name = descriptor.qualname
    return _dynfunc.make_function(module, name, "", 0, environment, (library,))


class _PartCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, but what it makes is a part."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.targetctx.get_executable = _nothing_to_run
        return super().define_pipelines()


_ENTRY: dict[str, Any] = {
    "_nrt": False,  # nothing is allocated
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""Numba's options for an entry."""
PART: dict[str, Any] = {**_ENTRY, "pipeline_class": _PartCompiler}
"""Those for a part."""
INLINED: dict[str, Any] = {**PART, "forceinline": True}
"""Those for a part that is too short to be worth a call."""


_known: set[Callable[..., Any]] = set()
"""The functions that kernels can call."""


def call_all(registrations: list[Callable[[], None]]) -> None:
    """Call and remove functions. One that is interrupted is called again the next time."""
    with global_compiler_lock:
        while registrations:
            register = registrations[-1]
            register()
            registrations.remove(register)


def register_part(function: Callable[..., Any], inline: bool) -> None:
    """Let kernels call a function."""
    if function not in _known:
        register_jitable(**(INLINED if inline else PART))(function)
        _known.add(function)


def compiled(
    function: Callable[..., Any], signature: tuple[Kind, ...], returns: Number | None
) -> tuple[str, bytes]:
    """Compile the entry of a function; return its name, and the object file that it is in.

    ``kernel.register_all`` must have registered what the function calls.

    Raises
    ------
    InputError
        If Numba is told not to compile.
    """
    if numba.config.DISABLE_JIT:
        raise InputError("NUMBA_DISABLE_JIT is set, but this needs compiling: unset it")
    with global_compiler_lock, _without_garbage():
        register_part(function, inline=True)
        dispatcher = njit(error_model="numpy", **_ENTRY)(_entry(function, signature, returns))
        dispatcher.compile((_BLOCK,))
        [result] = dispatcher.overloads.values()
        # Addresses of this process would be in the code.
        assert not result.library.has_dynamic_globals, "a kernel must not use large global arrays"
        name: str = result.fndesc.llvm_func_name
        result.library.get_pointer_to_function(name)  # which makes the machine code
        _, _, (code, _) = result.library.serialize_using_object_code()
        return name, code


def _entry(
    function: Callable[..., Any], signature: tuple[Kind, ...], returns: Number | None
) -> Callable[[Any], None]:
    """Make the entry of a function: ``entry(block)``."""
    kinds = types.Tuple([_numba_type(kind) for kind in signature])
    result = _numba_type(returns)

    @intrinsic
    def take(typing_context, block):
        def generate(context, builder, signature, args):
            words = iter(range(HEAD, 1 << 30))
            return _taken(context, builder, kinds, args[0], words)

        return kinds(block), generate

    @intrinsic
    def give(typing_context, block, value):
        def generate(context, builder, signature, args):
            if returns is not None:
                builder.store(_as_word(builder, args[1]), args[0])
            return context.get_dummy_value()

        return types.void(block, result), generate

    def entry(block):
        give(block, function(*take(block)))

    return entry


def _numba_type(kind: Kind | None) -> Any:
    """Return what Numba calls a kind."""
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


def _taken(context: Any, builder: Any, kind: Any, block: Any, words: Iterator[int]) -> Any:
    """Write the instructions that make an argument of the words that stand in a block."""

    def word() -> Any:
        return builder.load(cgutils.gep(builder, block, next(words)))

    if isinstance(kind, types.BaseTuple):
        items = [_taken(context, builder, each, block, words) for each in kind.types]
        return context.make_tuple(builder, kind, items)
    if isinstance(kind, types.Array):
        made = context.make_array(kind)(context, builder)
        data = builder.inttoptr(word(), made.data.type)
        item = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        shape = [word() for _ in range(kind.ndim)]
        strides = [_WORD(item)]
        for extent in reversed(shape[1:]):
            strides.insert(0, builder.mul(extent, strides[0]))
        populate_array(made, data, shape, strides, _WORD(item), None)
        return made._getvalue()
    form = context.get_value_type(kind)
    if isinstance(kind, types.Record):
        return builder.inttoptr(word(), form)
    return builder.bitcast(word(), form) if kind == types.float64 else builder.trunc(word(), form)


def _left(context: Any, builder: Any, kind: Any, value: Any) -> list[Any]:
    """Write the instructions that make words of an argument."""
    if isinstance(kind, types.BaseTuple):
        items = cgutils.unpack_tuple(builder, value)
        each = zip(kind.types, items, strict=True)
        return [word for one, item in each for word in _left(context, builder, one, item)]
    if isinstance(kind, types.Array):
        made = context.make_array(kind)(context, builder, value)
        return [builder.ptrtoint(made.data, _WORD), *cgutils.unpack_tuple(builder, made.shape)]
    return [_as_word(builder, value)]


def _as_word(builder: Any, value: Any) -> Any:
    """Write the instructions that make a word of a number or an address."""
    if isinstance(value.type, ir.PointerType):
        return builder.ptrtoint(value, _WORD)
    if isinstance(value.type, ir.DoubleType):
        return builder.bitcast(value, _WORD)
    return builder.zext(value, _WORD)  # the entry takes as many bits as it needs


def caller(
    function: Callable[..., Any], signature: tuple[Kind, ...], returns: Number | None, place: int
) -> Callable[..., Any]:
    """Make a function for kernels that takes an array of addresses, then what a kernel takes.

    To call a kernel as a part means to compile it once more. Instead, it is called at its address,
    which is at ``place`` of the array. Addresses hold for one process, so they are arguments, and
    never become part of code that is kept. Run as plain Python it calls the kernel's ``function``.
    """
    kinds = tuple(map(_numba_type, signature))
    returned = _numba_type(returns)
    typed = returned(types.int64[::1], *kinds)

    def call(addresses: Any, *arguments: Any) -> Any:
        return function(*arguments)

    class Typing(ConcreteTemplate):  # type: ignore[misc]
        key = call
        cases = [typed]  # noqa: RUF012

    def jump(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        """Write the instructions of a call, as Numba calls a function that it compiled itself."""
        addresses = context.make_array(typed.args[0])(context, builder, arguments[0])
        address = builder.load(cgutils.gep(builder, addresses.data, place))
        words = [
            word
            for kind, value in zip(kinds, arguments[1:], strict=True)
            for word in _left(context, builder, kind, value)
        ]
        block = cgutils.alloca_once(builder, _WORD, size=HEAD + len(words))
        for index, word in enumerate(words, HEAD):
            builder.store(word, cgutils.gep(builder, block, index))
        pointer = context.call_conv.get_function_type(types.none, (_BLOCK,)).as_pointer()
        status, _ = context.call_conv.call_function(
            builder, builder.inttoptr(address, pointer), types.none, (_BLOCK,), (block,)
        )
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        if returns is None:
            return context.get_dummy_value()
        return _taken(context, builder, returned, block, iter([0]))

    infer_global(call, types.Function(Typing))
    lower_builtin(call, *typed.args)(jump)
    return call


@contextmanager
def _without_garbage() -> Iterator[None]:
    """Look for no garbage: compiling makes millions of objects that stay, and a tenth is saved."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
