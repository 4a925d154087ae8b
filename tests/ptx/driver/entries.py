"""The functions of the driver's library, with the interface of C.

These are the functions that numba-cuda, cuda.bindings and cuda.core call in the tests. Streams are
synchronous: each call is finished when it returns. Only the error of a kernel is reported later.
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
UNAFFECTED = ("cuInit", "cuDriver", "cuDevice", "cuCtxGet", "cuCtxP", "cuCtxSet", "cuGetError")
"""The first letters of functions that work even after an error on the card."""
# The numbers of attributes of a function in the driver's header.
MAX_THREADS = 0
SHARED = 1
REGISTERS = 4

Numbers = POINTER(c_int)
Words = POINTER(c_uint64)
Sizes = POINTER(c_size_t)
Handles = POINTER(c_void_p)
Texts = POINTER(c_char_p)

entries: dict[str, Any] = {}
objects: dict[int, Any] = {}
"""Modules and functions by their handles."""
handles = count(1)


def address(name: str) -> int:
    """Return the address of a function; 0 if there is no function of that name."""
    if name not in entries:
        return 0
    return cast(entries[name], c_void_p).value or 0


def entry(*types: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a function of the library, which returns 0 or the code of an error to C.

    ``types`` are the types of its parameters in C.
    """

    def add_entry(function: Callable[..., None]) -> Callable[..., None]:
        name = function.__name__

        def call(*arguments: Any) -> int:
            try:
                code = machine.failure(name)
                if not code and contexts.stack and not name.startswith(UNAFFECTED):
                    code = contexts.device.error_code
                if not code:
                    function(*arguments)
            except DriverError as error:
                return error.code
            except BaseException:  # an exception must not reach C
                traceback.print_exc()
                return UNKNOWN
            return code

        entries[name] = CFUNCTYPE(c_int, *types)(call)
        return function

    return add_entry


def add_object(new_object: Any) -> int:
    """Store a module or function; return its new handle."""
    handle = next(handles)
    objects[handle] = new_object
    return handle


@cache
def text_of(code: int) -> bytes:
    """Return the name of an error; the cache keeps it alive, since C gets a pointer to it."""
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
def cuMemcpyHtoD(target: int, source: int, size: int) -> None:
    contexts.device.check(target, size)
    memmove(target, source, size)


@entry(c_void_p, c_uint64, c_size_t)
def cuMemcpyDtoH(target: int, source: int, size: int) -> None:
    contexts.device.check(source, size)
    memmove(target, source, size)


@entry(Handles, c_void_p, c_void_p, c_void_p, c_uint, c_void_p, c_void_p, c_uint)
def cuLibraryLoadData(library: Any, code: int, *options: Any) -> None:
    library[0] = add_object(Module(code))


@entry(Handles, c_void_p, c_char_p)
def cuLibraryGetKernel(kernel: Any, library: int, name: bytes) -> None:
    kernel[0] = add_object(Function(objects[library], name.decode()))


@entry(Numbers, c_int, c_void_p, c_int)
def cuKernelGetAttribute(value: Any, attribute: int, kernel: int, device: int) -> None:
    function = objects[kernel]
    attributes = {MAX_THREADS: 1024, SHARED: function.shared, REGISTERS: function.registers}
    value[0] = attributes.get(attribute, 0)


@entry(Numbers, c_int, c_void_p)
def cuFuncGetAttribute(value: Any, attribute: int, kernel: int) -> None:
    cuKernelGetAttribute(value, attribute, kernel, 0)


@entry(Numbers, c_void_p, c_int, c_size_t)
def cuOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: Any, kernel: int, block: int, shared: int
) -> None:
    blocks[0] = contexts.device.blocks_at_once(objects[kernel], block)


class LaunchConfig(Structure):
    """The struct CUlaunchConfig of the header."""

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
    launch = config[0]
    grid = tuple(launch.grid)
    block = tuple(launch.block)
    contexts.device.launch(objects[kernel], grid, block, launch.shared, parameters)


@entry(c_void_p, *[c_uint] * 7, c_void_p, Handles, Handles)
def cuLaunchKernel(kernel: int, *arguments: Any) -> None:
    *sizes, shared, _stream, parameters, _extra = arguments
    grid = tuple(sizes[:3])
    block = tuple(sizes[3:])
    contexts.device.launch(objects[kernel], grid, block, shared, parameters)
