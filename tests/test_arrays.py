"""Arrays of other libraries: as boards, and as results.

PyTorch and JAX are used where they are installed. Stand-ins take their place elsewhere, and that of
CuPy, whose arrays are on a GPU.
"""

from __future__ import annotations

import pickle
import sys
from contextlib import nullcontext
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gpusudoku
from gpusudoku import InputError
from tests.boards import LINE_4X4

count = partial(gpusudoku.count, device="cpu")
count_many = partial(gpusudoku.count_many, device="cpu")
solve = partial(gpusudoku.solve, device="cpu")
solve_many = partial(gpusudoku.solve_many, device="cpu")
solutions = partial(gpusudoku.solutions, device="cpu")

BOARD = gpusudoku.parse("1....2....3.....")
ROWS = np.array([BOARD.cells, np.zeros(16, int), gpusudoku.parse("1....2....3....4").cells])
COUNTS = [6, 288, 2]
LARGE = np.array([[1, *[0] * 80]], np.uint8)
"""A board with more solutions than 64 bits hold."""


class Exported:
    """An array that other libraries can read only by DLPack."""

    def __init__(self, values: Any, device: int = 1, error: Exception | None = None) -> None:
        self.values = np.asarray(values)
        self.device = device
        self.error = error

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, **options: Any) -> Any:
        if self.error is not None:
            raise self.error
        return self.values.__dlpack__(**options)

    def __len__(self) -> int:
        return len(self.values)


class OldExported(Exported):
    """An array with the first version of DLPack: its exports are read-only."""

    def __dlpack__(self) -> Any:
        return self.values.__dlpack__()


class OfInterface:
    """An array on a GPU that has only the CUDA array interface."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    __cuda_array_interface__ = property(lambda self: {})


class OnGpu(Exported):
    """The array of the stand-in for CuPy below."""

    def __init__(self, values: Any, number: int = 0) -> None:
        super().__init__(values, 2)
        self.shape = self.values.shape
        self.dtype = self.values.dtype
        self.device = SimpleNamespace(id=number)  # type: ignore[assignment]

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")

    __cuda_array_interface__ = property(lambda self: {})

    def __setitem__(self, key: Any, value: Any) -> None:
        assert type(value) is OnGpu
        self.values[key] = value.values

    def tolist(self) -> Any:
        return self.values.tolist()


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace CuPy; ``used`` lists the numbers of the devices that were made current."""
    module: Any = ModuleType("cupy")
    module.used = []

    def use_device(number: int) -> Any:
        module.used.append(number)
        return nullcontext()

    def asarray(array: Any) -> OnGpu:
        return OnGpu(array.values if hasattr(array, "values") else array.copy())

    module.ndarray = OnGpu
    module.cuda = SimpleNamespace(Device=use_device)
    module.asarray = asarray
    module.from_dlpack = asarray
    module.asnumpy = lambda array: array.values.copy()
    monkeypatch.setitem(sys.modules, "cupy", module)
    return module


def numbers_of(array: Any) -> Any:
    """Return the numbers of an array of any library, as lists."""
    return array.values.tolist() if isinstance(array, Exported) else array.tolist()


def assert_boards_are_read(make: Any) -> None:
    """Assert that all functions read one board and many from such arrays."""
    [solution, second_solution] = solutions(BOARD)[:2]
    for cells in (BOARD.cells, BOARD.grid):
        assert count(make(cells)) == 6
        assert gpusudoku.Board(make(cells)) == BOARD
        assert solve(make(cells)).puzzle == BOARD
    assert gpusudoku.parse(LINE_4X4) == gpusudoku.Board([make(row) for row in np.array(
        [int(cell) if cell.isdigit() else 0 for cell in LINE_4X4]).reshape(4, 4)])  # fmt: skip
    all_solutions = solutions(make(BOARD.cells))
    assert all_solutions.rank(make(second_solution.cells)) == 1
    assert make(solution.grid) in all_solutions
    assert make(BOARD.grid) not in all_solutions
    for rows in (ROWS, ROWS.reshape(-1, 4, 4)):
        assert [int(result) for result in count_many(make(rows))] == COUNTS
        assert [int(result) for result in count_many([make(row) for row in rows])] == COUNTS
        assert [result.unique for result in solve_many(make(rows))] == [False] * 3
    assert [result.error is None for result in count_many(make(ROWS + 2), on_error="record")] == [
        False, True, False
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32])
@pytest.mark.parametrize("kind", [Exported, OldExported])
def test_boards_in_main_memory(kind: Any, dtype: Any) -> None:
    assert_boards_are_read(lambda values: kind(np.asarray(values).astype(dtype)))
    assert_boards_are_read(lambda values: kind(np.repeat(values, 2, -1).astype(dtype)[..., ::2]))
    assert_boards_are_read(lambda values: kind(np.asfortranarray(values, dtype), 3))  # pinned


def test_boards_on_a_gpu(cupy: Any) -> None:
    assert_boards_are_read(lambda values: Exported(values, 2))
    assert_boards_are_read(lambda values: Exported(values, 13))
    assert_boards_are_read(OfInterface)
    assert_boards_are_read(OnGpu)


def test_boards_on_a_gpu_that_copy_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """No CuPy is needed for arrays of PyTorch, JAX and Numba."""
    monkeypatch.setitem(sys.modules, "cupy", None)

    class OfTorch(OnGpu):
        def cpu(self) -> Any:
            return Exported(self.values)

    class OfJax(OnGpu):
        def __array__(self, *_: Any, **__: Any) -> Any:
            return self.values

    assert_boards_are_read(OfTorch)
    assert_boards_are_read(OfJax)
    for array in (OnGpu(BOARD.cells), Exported(BOARD.cells, 2), OfInterface(BOARD.cells)):
        with pytest.raises(InputError, match=r"GPU memory: copy it .*, or install CuPy"):
            count(array)  # type: ignore[arg-type]


def test_arrays_that_cannot_be_read() -> None:
    lines = "Can't export tensors that require gradient, use tensor.detach()\nand more"
    for array, message in (
        (Exported(ROWS, 8), r"^an array on a device of kind 8 in DLPack, which is neither main"),
        (Exported(ROWS, 10), r"^an array on a device of kind 10 in DLPack"),
        (
            Exported(ROWS, error=BufferError(lines)),
            r"unknown type\): .* tensor.detach\(\)$",
        ),
        (Exported(ROWS, error=ZeroDivisionError("odd")), r"^cannot read the array .*: odd$"),
        (Exported(np.array(["1....2....3....."])), r"^cannot read the array .*: DLPack only supp"),
    ):
        for function in (count, count_many, solve, solve_many, solutions, gpusudoku.Board):
            with pytest.raises(InputError, match=message) as caught:
                function(array)
            assert caught.value.__cause__ is None
        with pytest.raises(InputError, match=r"^board 1: "):
            list(count_many([BOARD, array]))
    for values, message in (
        (ROWS[0].astype(complex), "r1c1 holds .*: cells must be integers"),
        (ROWS[0] > 0, "r1c1 holds True: cells must be integers"),
        (ROWS[0] / 2, "r1c1 holds 0.5: cells must be integers"),
        (ROWS[0] - 2, "r1c2 holds -2: digits run from 1 to 4"),
        (ROWS, "3 rows of 16 cells"),
        (ROWS.reshape(3, 1, 4, 4), "an array of 4 dimensions, expected one board"),
        (5, "expected a board as text or as rows of cells, found 5"),
    ):
        with pytest.raises(InputError, match=message):
            count(Exported(values))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^board 0: "):
        list(count_many(Exported(ROWS.reshape(3, 2, 2, 4))))  # type: ignore[arg-type]


def test_results_are_numpys_unless_an_array_of_a_library_was_given() -> None:
    all_solutions = solutions(Exported(BOARD.cells))  # type: ignore[arg-type]
    assert type(all_solutions.sample(2)) is type(all_solutions.shares()) is np.ndarray
    assert all_solutions.shares().dtype == object
    assert type(count_many(Exported(ROWS)).numbers()) is np.ndarray  # type: ignore[arg-type]


def assert_results_are_of_the_library(make: Any, kind: Any) -> None:
    """Assert that results are arrays of the library, with the values of NumPy's results."""
    library_solutions = solutions(make(BOARD.cells))
    numpy_solutions = solutions(BOARD)
    for actual, expected in (
        (library_solutions.sample(9, 5), numpy_solutions.sample(9, 5)),
        (library_solutions.shares(), numpy_solutions.shares()),
        *zip(
            library_solutions.sample_blocks(9, 5), numpy_solutions.sample_blocks(9, 5), strict=True
        ),
        *zip(library_solutions.blocks(1, 5), numpy_solutions.blocks(1, 5), strict=True),
        *zip(library_solutions[4:0:-2].blocks(), numpy_solutions[4:0:-2].blocks(), strict=True),
        *zip(library_solutions[::2].blocks(), numpy_solutions[::2].blocks(), strict=True),
        (count_many(make(ROWS)).numbers(), np.array(COUNTS)),
    ):
        assert isinstance(actual, kind), type(actual)
        assert numbers_of(actual) == expected.tolist()
    assert [*library_solutions] == [*numpy_solutions]
    assert b"".join(library_solutions.lines()) == b"".join(numpy_solutions.lines())
    assert np.asarray(library_solutions[:2]).tolist() == [
        result.cells.tolist() for result in numpy_solutions[:2]
    ]
    assert type(pickle.loads(pickle.dumps(library_solutions)).sample(2)) is np.ndarray
    [block] = solve_many(make(ROWS)).blocks()
    assert isinstance(block, gpusudoku.ResultBlock)
    [expected] = solve_many(ROWS).blocks()
    for name in ("numbers", "solutions"):
        assert isinstance(getattr(block, name), kind)
        assert numbers_of(getattr(block, name)) == getattr(expected, name).tolist()
    assert [result.board for result in block] == [result.board for result in expected]
    assert [result.count for result in block.counts()] == [2, 2, 2]
    bad = count_many(make(ROWS + 2), on_error="record")
    assert bad.numbers().tolist()[::2] == [None, None]
    large = count_many(make(LARGE)).numbers()
    assert (type(large), large.dtype) == (np.ndarray, object)
    assert solutions(make(LARGE[0])).shares().dtype == object


def test_results_on_a_gpu(cupy: Any) -> None:
    assert_results_are_of_the_library(lambda values: OnGpu(values, 1), OnGpu)
    assert {*cupy.used} == {1}
    for make in (OnGpu, lambda values: OnGpu(values, 1)):
        assert_outputs_are_filled(make)
    with pytest.raises(InputError, match="out is a value of type Exported: expected an array of"):
        solutions(BOARD).sample(1, out=Exported(np.zeros((1, 16), np.uint8), 2))


def assert_outputs_are_filled(make: Any) -> None:
    all_solutions = solutions(BOARD)
    for out, fill, expected in (
        (make(np.zeros((9, 16), np.uint8)), lambda out: all_solutions.sample(9, 5, out=out),
         all_solutions.sample(9, 5)),
        (make(np.zeros((0, 16), np.uint8)), lambda out: all_solutions.sample(0, out=out),
         all_solutions.sample(0)),
        (make(np.zeros((16, 4), np.int64)), lambda out: all_solutions.shares(out=out),
         all_solutions.shares()),
        (make(np.zeros(3, np.int64)), lambda out: count_many(ROWS).numbers(out=out),
         np.array(COUNTS)),
    ):  # fmt: skip
        assert fill(out) is out
        assert numbers_of(out) == expected.tolist()
    for wrong, message in (
        (
            make(np.zeros((9, 15), np.uint8)),
            r"shape \(9, 15\) and the type uint8: expected \(9",
        ),
        (make(np.zeros((9, 16), np.int32)), r"and the type int32: expected \(9, 16\) and uint8$"),
    ):
        with pytest.raises(InputError, match=message):
            all_solutions.sample(9, out=wrong)
    with pytest.raises(InputError, match=r"and the type int64: expected \(81, 9\) and object$"):
        solutions(LARGE[0]).shares(out=make(np.zeros((81, 9), np.int64)))
    results = count_many(ROWS)
    with pytest.raises(InputError, match=r"shape \(4,\) and the type int64: expected \(3,\)"):
        results.numbers(out=make(np.zeros(4, np.int64)))
    assert results.numbers().tolist() == COUNTS  # they are not lost


def test_outputs() -> None:
    assert_outputs_are_filled(lambda values: values)
    assert_outputs_are_filled(lambda values: np.repeat(values, 2, -1)[..., ::2])
    assert_outputs_are_filled(Exported)
    frozen = np.zeros((1, 16), np.uint8)
    frozen.setflags(write=False)
    for wrong, message in (
        (frozen, "out is an array that cannot be written"),
        (OldExported(np.zeros((1, 16), np.uint8)), "out is an array that cannot be written"),
        ([[0] * 16], r"expected an array of NumPy, PyTorch or CuPy"),
        ("x", "out is 'x': expected an array of NumPy, PyTorch or CuPy"),
    ):
        with pytest.raises(InputError, match=message):
            solutions(BOARD).sample(1, out=wrong)


def test_slices_are_exported() -> None:
    array = np.from_dlpack(solutions(BOARD)[1:3])
    assert array.tolist() == np.asarray(solutions(BOARD)[1:3]).tolist()
    assert [int(result) for result in count_many(solutions(BOARD)[:2])] == [1, 1]


def test_pytorch() -> None:
    torch = pytest.importorskip("torch")
    make = lambda values: torch.from_numpy(np.array(values))  # noqa: E731
    assert_boards_are_read(make)
    assert_boards_are_read(lambda values: make(np.repeat(values, 2, -1))[..., ::2])
    assert_results_are_of_the_library(make, torch.Tensor)
    assert_outputs_are_filled(make)
    assert_outputs_are_filled(lambda values: make(np.repeat(values, 2, -1))[..., ::2])
    rows = torch.from_dlpack(solutions(BOARD)[1:3])
    assert rows.tolist() == np.asarray(solutions(BOARD)[1:3]).tolist()
    numbers = count_many(make(ROWS)).numbers()
    assert (numbers.dtype, numbers.device.type) == (torch.int64, "cpu")
    [block] = solve_many(make(ROWS)).blocks()
    for select in block.select, block.chosen:  # type: ignore[union-attr]
        assert len(select(block.numbers > 1)) == 3
    for wrong, message in (
        (torch.zeros(16, requires_grad=True), r"torch.float32\): .*use tensor.detach"),
        (torch.zeros(16, dtype=torch.bfloat16), r"torch.bfloat16\): "),
        (torch.zeros(16, device="meta"), r"torch.float32\): .*meta"),
        (torch.zeros(4, 4).to_sparse(), r"torch.float32\): "),
    ):
        with pytest.raises(InputError, match=rf"^cannot read the array \(Tensor, {message}"):
            count(wrong)


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    make = jax.numpy.asarray
    assert_boards_are_read(make)
    assert_results_are_of_the_library(make, jax.Array)
    # 32 bits do not hold this count, and JAX would give the lowest of its bits.
    large_count = count_many(make(np.array([[*range(1, 10), *[0] * 72]]))).numbers()
    assert large_count.dtype == (np.int64 if type(large_count) is np.ndarray else jax.numpy.int64)
    assert int(large_count[0]) == 18383222420692992
    with pytest.raises(InputError, match="out is an array that cannot be written"):
        solutions(BOARD).sample(1, out=make(np.zeros((1, 16), np.uint8)))
    with pytest.raises(InputError, match=r"^cannot read the array "):
        jax.jit(count)(make(BOARD.cells))
