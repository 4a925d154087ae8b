"""The functions of the driver's library, called as from C.

It is what Numba-cuda, cuda.bindings and cuda.core ask for here. Streams do not run by themselves:
whatever is called has happened when it returns, but for what goes wrong in a kernel.
"""

# ruff: noqa: N802 - the names are NVIDIA's

from __future__ import annotations

import traceback
from collections.abc import Callable
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_int,
    c_size_t,
    c_uint,
    c_uint64,
    c_void_p,
    cast,
    memmove,
)
from functools import cache
from itertools import count
from typing import Any

from tests.ptx.driver.machine import (
    INVALID_CONTEXT,
    INVALID_VALUE,
    Contexts,
    DriverError,
    contexts,
    machine,
)
from tests.ptx.driver.modules import Function, Module

UNKNOWN = 999
ERRORS = {
    2: "CUDA_ERROR_OUT_OF_MEMORY",
    222: "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
    700: "CUDA_ERROR_ILLEGAL_ADDRESS",
    701: "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
    719: "CUDA_ERROR_LAUNCH_FAILED",
    803: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
}
STILL_DO = ("cuInit", "cuDriver", "cuDevice", "cuCtxGet", "cuCtxP", "cuCtxSet", "cuGetError")
"""Functions that do not mind what happened on a card begin with one of these."""
MAX_THREADS, SHARED, REGISTERS = 0, 1, 4
"""Attributes of a function."""

Numbers = POINTER(c_int)
Words = POINTER(c_uint64)
Sizes = POINTER(c_size_t)
Handles = POINTER(c_void_p)
Texts = POINTER(c_char_p)

entries: dict[str, Any] = {}
held: dict[int, Any] = {}
"""Modules and functions by their handles."""
handles = count(1)


def address(name: str) -> int:
    """Where a function is; 0 if there is none of that name."""
    return cast(entries[name], c_void_p).value or 0 if name in entries else 0


def entry(*types: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function of the library: it returns 0, or the code of an error."""

    def made(function: Callable[..., None]) -> Callable[..., None]:
        name = function.__name__

        def called(*arguments: Any) -> int:
            try:
                code = machine.failure(name)
                if not code and contexts.stack and not name.startswith(STILL_DO):
                    code = contexts.device.broken
                if not code:
                    function(*arguments)
            except DriverError as error:
                return error.code
            except BaseException:
                traceback.print_exc()
                return UNKNOWN
            return code

        entries[name] = CFUNCTYPE(c_int, *types)(called)
        return function

    return made


def keep(thing: Any) -> int:
    handle = next(handles)
    held[handle] = thing
    return handle


@cache
def text_of(code: int) -> bytes:
    """What an error is called; kept, since C gets a pointer to it."""
    if code not in ERRORS:
        raise DriverError(INVALID_VALUE)
    return ERRORS[code].encode()


@entry(c_int, Texts)
def cuGetErrorName(code: int, text: Any) -> None:
    text[0] = text_of(code)


entries["cuGetErrorString"] = entries["cuGetErrorName"]


@entry(c_uint)
def cuInit(flags: int) -> None:
    pass


@entry(Numbers)
def cuDriverGetVersion(version: Any) -> None:
    version[0] = 13000


@entry(Numbers)
def cuDeviceGetCount(number: Any) -> None:
    number[0] = len(machine.devices)


@entry(Numbers, c_int)
def cuDeviceGet(device: Any, number: int) -> None:
    device[0] = machine.device(number).number


@entry(POINTER(c_char), c_int, c_int)
def cuDeviceGetName(name: Any, size: int, device: int) -> None:
    text = machine.device(device).name.encode()[: size - 1] + b"\0"
    memmove(name, text, len(text))


@entry(c_void_p, c_int)
def cuDeviceGetUuid(uuid: int, device: int) -> None:
    memmove(uuid, device.to_bytes(16), 16)


@entry(Sizes, c_int)
def cuDeviceTotalMem_v2(size: Any, device: int) -> None:
    size[0] = machine.device(device).memory


@entry(Numbers, c_int, c_int)
def cuDeviceGetAttribute(value: Any, attribute: int, device: int) -> None:
    try:
        value[0] = machine.device(device).attributes[attribute]
    except KeyError:
        raise DriverError(INVALID_VALUE) from None


@entry(Handles, c_int)
def cuDevicePrimaryCtxRetain(context: Any, device: int) -> None:
    context[0] = Contexts.FIRST + machine.device(device).number


@entry(Handles)
def cuCtxGetCurrent(context: Any) -> None:
    context[0] = contexts.stack[-1] if contexts.stack else 0


@entry(Numbers)
def cuCtxGetDevice(device: Any) -> None:
    device[0] = contexts.device.number


@entry(c_void_p)
def cuCtxPushCurrent(context: int) -> None:
    contexts.stack.append(context)


@entry(Handles)
def cuCtxPopCurrent(context: Any) -> None:
    if not contexts.stack:
        raise DriverError(INVALID_CONTEXT)
    context[0] = contexts.stack.pop()


@entry(c_void_p)
def cuCtxSetCurrent(context: int | None) -> None:
    contexts.stack[-1:] = [context] if context else []


@entry()
def cuCtxSynchronize() -> None:
    pass


@entry(c_void_p)
def cuStreamSynchronize(stream: int) -> None:
    pass


@entry(Sizes, Sizes)
def cuMemGetInfo(free: Any, total: Any) -> None:
    free[0] = contexts.device.free
    total[0] = contexts.device.memory


@entry(Words, c_size_t)
def cuMemAlloc(pointer: Any, size: int) -> None:
    pointer[0] = contexts.device.allocate(size)


@entry(c_uint64)
def cuMemFree(pointer: int) -> None:
    for device in machine.devices:
        if device.arrays.pop(pointer, None) is not None:
            return
    raise DriverError(INVALID_VALUE)


@entry(c_uint64, c_void_p, c_size_t)
def cuMemcpyHtoD(to: int, source: int, size: int) -> None:
    contexts.device.check(to, size)
    memmove(to, source, size)


@entry(c_void_p, c_uint64, c_size_t)
def cuMemcpyDtoH(to: int, source: int, size: int) -> None:
    contexts.device.check(source, size)
    memmove(to, source, size)


@entry(Handles, c_void_p, c_void_p, c_void_p, c_uint, c_void_p, c_void_p, c_uint)
def cuLibraryLoadData(library: Any, code: int, *options: Any) -> None:
    library[0] = keep(Module(code))


@entry(Handles, c_void_p, c_char_p)
def cuLibraryGetKernel(kernel: Any, library: int, name: bytes) -> None:
    kernel[0] = keep(Function(held[library], name.decode()))


@entry(Numbers, c_int, c_void_p, c_int)
def cuKernelGetAttribute(value: Any, attribute: int, kernel: int, device: int) -> None:
    function = held[kernel]
    known = {MAX_THREADS: 1024, SHARED: function.shared, REGISTERS: function.registers}
    value[0] = known.get(attribute, 0)


@entry(Numbers, c_int, c_void_p)
def cuFuncGetAttribute(value: Any, attribute: int, kernel: int) -> None:
    cuKernelGetAttribute(value, attribute, kernel, 0)


@entry(Numbers, c_void_p, c_int, c_size_t)
def cuOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: Any, kernel: int, block: int, shared: int
) -> None:
    blocks[0] = contexts.device.blocks_at_once(held[kernel], block)


class LaunchConfig(Structure):
    """What the header calls CUlaunchConfig."""

    _fields_ = [
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared", c_uint),
        ("stream", c_void_p),
        ("attributes", c_void_p),
        ("attribute_count", c_uint),
    ]


@entry(POINTER(LaunchConfig), c_void_p, Handles, Handles)
def cuLaunchKernelEx(config: Any, kernel: int, parameters: Any, extra: Any) -> None:
    it = config[0]
    contexts.device.launch(held[kernel], tuple(it.grid), tuple(it.block), it.shared, parameters)


@entry(c_void_p, *[c_uint] * 7, c_void_p, Handles, Handles)
def cuLaunchKernel(kernel: int, *rest: Any) -> None:
    *sizes, shared, _, parameters, _ = rest
    grid = tuple(sizes[:3])
    block = tuple(sizes[3:])
    contexts.device.launch(held[kernel], grid, block, shared, parameters)
