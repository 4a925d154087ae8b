"""Kernels that call other kernels, each compiled by itself.

To call a kernel as a part means to compile it once more. Instead, its address can be given to a
kernel that jumps there. Addresses hold for one process, so an array of them is an argument, and
they never become part of code that is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import ConcreteTemplate, infer_global

from gpusudoku.kernels import jit
from gpusudoku.kernels.kernel import Kernel


class Callee:
    """A kernel that other kernels call at its address.

    Parameters
    ----------
    kernel
        What is called.
    returns
        The Numba type of what it returns.
    """

    def __init__(self, kernel: Kernel, returns: Any = types.none) -> None:
        self.kernel, self.returns = kernel, returns

    def address(self) -> int:
        """Where the kernel is in the memory of this process; it is loaded if it is not yet."""
        return jit.address(self.kernel.function(), self.returns(*self.kernel.types))

    def caller(self, place: int) -> Callable[..., Any]:
        """A function for kernels, which takes an array of addresses, then what the kernel takes.

        The kernel's address is at ``place`` of the array. Run as plain Python it calls the kernel
        as plain Python, wherever that is.
        """
        function, returned, taken = self.kernel.python, self.returns, self.kernel.types
        signature = returned(types.int64[::1], *taken)

        def call(addresses: Any, *arguments: Any) -> Any:
            return function(*arguments)

        class Typing(ConcreteTemplate):  # type: ignore[misc]
            key, cases = call, [signature]

        def jump(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            """The instructions of a call, as Numba calls a function that it compiled itself."""
            addresses = context.make_array(signature.args[0])(context, builder, arguments[0])
            address = builder.load(cgutils.gep(builder, addresses.data, place))
            pointer = context.call_conv.get_function_type(returned, taken).as_pointer()
            status, result = context.call_conv.call_function(
                builder, builder.inttoptr(address, pointer), returned, taken, arguments[1:]
            )
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return result

        infer_global(call, types.Function(Typing))
        lower_builtin(call, *signature.args)(jump)
        return call
