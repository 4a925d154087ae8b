"""Tracing a step: the function is called once, while Numba compiles, to write its instructions.

``machine`` explains how a step is written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy.typing import NDArray

from gpusudoku.kernels.kernel import when_compiling
from gpusudoku.kernels.search.cuda_machine import cuda_machine
from gpusudoku.kernels.search.machine import LlvmMachine, NumpyMachine
from gpusudoku.kernels.search.shape import Shape


def traced(
    function: Callable[..., Any], result_count: int, shape: Shape, lanes: int, *arguments: Any
) -> Callable[[NDArray[Any]], Any]:
    """Make ``run(memory)``, which calls ``function(shape, machine, *arguments)`` for a memory.

    ``result_count`` is the number of values that the function returns: uint64 each.

    Uncompiled, ``run`` works on NumPy. Kernels that call it get code for ``lanes`` lanes, or CUDA
    if there is one lane: the function is *traced*, that is, called once to write its instructions.
    CUDA's simulator gets code for the CPU, because NumPy would take hundreds of times as long for
    one board.
    """

    def run(memory):
        return function(shape, NumpyMachine(shape, memory), *arguments)

    def build_overload(intrinsic: Any, make_machine: Callable[[Any, Any], LlvmMachine]) -> Any:
        from numba import types

        @intrinsic
        def call(typing_context, memory):
            if result_count == 1:
                result_type = types.uint64
            else:
                result_type = types.UniTuple(types.uint64, result_count)

            def generate(context, builder, signature, args):
                array = context.make_array(signature.args[0])(context, builder, args[0])
                results = function(shape, make_machine(builder, array), *arguments)
                if result_count == 1:
                    return results
                return context.make_tuple(builder, result_type, results)

            return result_type(memory), generate

        return lambda memory: lambda memory: call(memory)

    if lanes > 1:

        @when_compiling
        def register() -> None:
            from numba.extending import intrinsic, overload

            from gpusudoku.kernels.compile_cpu import INLINED

            def make_machine(builder: Any, array: Any) -> LlvmMachine:
                return LlvmMachine(shape, lanes, builder, array.data)

            overload(run, target="cpu", jit_options=INLINED)(
                build_overload(intrinsic, make_machine)
            )

        return run

    from numba import config, extending, njit

    if config.ENABLE_CUDASIM:

        def make_machine(builder: Any, array: Any) -> LlvmMachine:
            return LlvmMachine(shape, 1, builder, array.data)

        compiled = build_overload(extending.intrinsic, make_machine)(None)
        return njit(compiled)  # type: ignore[no-any-return]

    from numba.cuda.extending import intrinsic, overload

    # ``overload`` of ``numba.extending`` would inline it into kernels for the CPU, too.
    overload(run, target="cuda", inline="always")(
        build_overload(intrinsic, partial(cuda_machine, shape))
    )
    return run
