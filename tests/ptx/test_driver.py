"""The program as it is, with Numba-cuda as it is, over a stand-in for NVIDIA's driver.

Real are the command line, the engine with its threads, its allocations and its copies, and all of
Numba-cuda: types, NVIDIA's compiler and linker, loading, launching, what becomes of arguments, and
the store of kernels. A stand-in is the driver: it has the host's memory for that of its cards, and
runs the PTX in the executor, with every access checked. CuPy is one, too: see ``driver/arrays``.
"""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gpusudoku import collection
from tests.boards import puzzle
from tests.compiler import COMPILING_SECONDS
from tests.ptx.driver.computer import NOTHING_COMPILED, Answer, Computer

pytestmark = pytest.mark.timeout(2 * COMPILING_SECONDS)

COUNT = f"{collection.entry('1c').count}\n"
CUDA = ["--device", "cuda"]
SEARCH = ["count", "@1c", *CUDA, "--method", "search"]
SUM = ["count", "@1c", *CUDA, "--method", "contraction"]
TWO: Any = {"cards": [[9, 0], [9, 0]]}


@pytest.fixture(scope="module")
def computer(tmp_path_factory: pytest.TempPathFactory) -> Computer:
    return Computer(tmp_path_factory.mktemp("driver"))


COMMANDS = [
    ["devices"],
    [*SEARCH, "--cross-check", "--stats"],
    ["count", "@1c", "--limit", "100", "--gpu", "1", "--method", "search"],
    ["count", "@2c", "@1c", *CUDA, "--method", "search"],
    ["enumerate", "@1b", *CUDA],
    [*SEARCH, "--gpu", "2"],
]
UNUSABLE = [
    ("cuDevicePrimaryCtxRetain", 0, 46, "cudaErrorDevicesUnavailable"),
    ("kernel", 1, 700, "ErrorIllegalAddress"),
]
"""What goes wrong when a card is tried, after how many calls that do not, with which code; and what
is said."""
LOST = [
    ("cuMemGetInfo", 0, 999, "999"),
    ("cuMemAlloc", 9, 2, "Out of memory allocating"),
    ("cuMemcpyHtoD", 9, 719, "cudaErrorLaunchFailure"),
    ("cuLaunchKernel", 4, 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"),
    ("kernel", 6, 719, "aunchFailure"),
]
"""What goes wrong while both cards count: one of them is lost."""
ANYTHING = [
    (name, n, code)
    for name, code, last in [
        ("cuMemAlloc", 2, 20),
        ("cuMemcpyHtoD", 700, 40),
        ("cuCtxSynchronize", 719, 60),
        ("cuLaunchKernel", 719, 12),
        ("kernel", 700, 12),
    ]
    for n in range(0, last, last // 3)
]
"""What goes wrong on the only card, at any moment; some so late that all is done before."""
ONE = [*SEARCH, "--gpu", "1"]


SMALL_BLOCKS = """
from gpusudoku.board import blocks
from gpusudoku.engines.cuda.engine import CudaEngine

CudaEngine.max_boards = 4
blocks.QUICK_BLOCK_SECONDS, blocks.SMALL_SECONDS = 1000.0, 0.0
"""
"""Lets a list have many blocks, which are counted side by side."""


class Answers(NamedTuple):
    unusable: list[Answer]
    lost: list[Answer]
    anything: list[Answer]
    both: Answer
    listing: Answer
    afterwards: Answer
    listed: list[str]


@pytest.fixture(scope="module")
def compiled(computer: Computer) -> None:
    """Let the kernels of a search be compiled, and compiled."""
    assert computer.gpusudoku(*SEARCH) == (0, COUNT, "")


@pytest.fixture(scope="module")
def answers(
    computer: Computer, compiled: None, tmp_path_factory: pytest.TempPathFactory
) -> Answers:
    """What is said in one process."""
    list_file = tmp_path_factory.mktemp("answers") / "listed.txt"
    listing = ["enumerate", "@1c", *CUDA, "-o", str(list_file)]
    commands: list[Any] = []
    for arguments, failures in (SEARCH, UNUSABLE), (SEARCH, LOST):
        commands += [(arguments, {name: [0] * n + [code]}) for name, n, code, _ in failures]
    commands += [(ONE, {name: [0] * n + [code]}) for name, n, code in ANYTHING]
    commands += [(SEARCH, {"kernel": [0] * 5 + [700, 719]})]
    commands += [(listing, {"kernel": [0] * 6 + [700]}), (SEARCH, {})]
    session_answers = iter(computer.session(commands, NOTHING_COMPILED, **TWO))
    parts = [list(islice(session_answers, len(part))) for part in (UNUSABLE, LOST, ANYTHING)]
    return Answers(*parts, *session_answers, list_file.read_text().splitlines())


@pytest.mark.usefixtures("compiled")
def test_commands(computer: Computer) -> None:
    """In one process, which compiles nothing; a card is lost, and the other goes on."""
    commands: list[Any] = [(arguments, {}) for arguments in COMMANDS]
    commands += [(SEARCH, {"kernel": [0] * 6 + [700]})]
    command_answers = computer.session(commands, NOTHING_COMPILED, **TWO)
    devices, search, limit, batch, enumeration, unknown, with_lost_card = command_answers
    usable = [line for line in devices.out.splitlines() if line.startswith("cuda")]
    assert usable == ["cuda  0: Stand-in 9.0", "cuda  1: Stand-in 9.0"]
    assert "compute capability 9.0, 0.25 GiB of memory, driver for CUDA up to 13.0" in devices.out
    assert search[:2] == (0, COUNT)
    assert "cross-check by device cpu, method contraction: the same count" in search.err
    assert "device: cuda, 2 GPUs" in search.err
    by_gpu = (
        r"the GPU \(Stand-in 9.0\), \d+ launches of \d+ threads, busy \d+% of the time; the CPU"
    )
    assert re.search(f"searched by: {by_gpu} made the frontier", search.err)
    assert limit == (0, "100+\n", "gpusudoku: device cuda (Stand-in 9.0)\n")
    assert [line.split(":")[1] for line in batch.out.split()] == ["32128", "132271"]
    assert enumeration.status == 0, enumeration.err
    boards = enumeration.out.split()
    assert len({*boards}) == len(boards) == collection.entry("1b").count
    assert all(len(board) == 81 for board in boards)
    assert unknown == (2, "", "gpusudoku: no GPU 2: GPUs are numbered from 0 to 1\n")
    assert with_lost_card[:2] == (0, COUNT)
    assert with_lost_card.err.endswith((" 0 continues\n", " 1 continues\n"))


@pytest.mark.usefixtures("compiled")
def test_blocks_side_by_side(computer: Computer, tmp_path: Path) -> None:
    """The same lines as the CPU writes, also if a card is lost meanwhile."""
    file = tmp_path / "list.txt"
    boards = [puzzle("3x3", 30 + seed % 5, seed) for seed in range(40)]
    file.write_text("".join(f"{board}\n" for board in boards))
    words = ["count", str(file), "--method", "search"]
    failures = {"kernel": [0] * 15 + [700]}
    commands: list[Any] = [([*words, "--device", "cpu"], {}), ([*words, *CUDA], {})]
    commands += [([*words, *CUDA], failures), ([*words, *CUDA, "--gpu", "0"], failures)]
    cpu, with_two_cards, with_lost_card, without_cards = computer.session(
        commands, NOTHING_COMPILED + SMALL_BLOCKS, **TWO
    )
    assert with_two_cards[:2] == with_lost_card[:2] == cpu[:2]
    assert len(cpu.out.splitlines()) == len(boards)
    assert with_two_cards.err.splitlines()[-1].startswith("gpusudoku: 40 boards: ")
    messages = [line for line in with_lost_card.err.splitlines() if "cannot be used" in line]
    assert [line.endswith("continues") for line in messages] == [True]
    assert (without_cards.status, "cannot be used" in without_cards.err) == (1, True)
    assert cpu.out.startswith(without_cards.out)


@pytest.mark.slow
def test_cards_that_fail_at_once(answers: Answers) -> None:
    """One line and exit status 1, whatever goes wrong."""
    for (*_, message), (status, out, err) in zip(UNUSABLE, answers.unusable, strict=True):
        assert (status, out, len(err.splitlines())) == (1, "", 1), err
        assert " cannot be used: " in err
        assert message in err
        assert len(err) < 300
    assert answers.afterwards == (0, COUNT, "")


@pytest.mark.slow
def test_a_card_is_lost(answers: Answers) -> None:
    """The exact count, exit status 0, and one line that says who went on."""
    for (*_, message), (status, out, err) in zip(LOST, answers.lost, strict=True):
        assert (status, out, len(err.splitlines())) == (0, COUNT, 1), err
        card = int(err.removeprefix("gpusudoku: GPU ")[0])
        assert err.startswith(f"gpusudoku: GPU {card} cannot be used: ")
        assert err.endswith(f"; GPU {1 - card} continues\n")
        assert message in err


@pytest.mark.slow
def test_both_cards_are_lost(answers: Answers) -> None:
    status, out, err = answers.both
    first_line, second_line = err.splitlines()
    assert (status, out) == (1, "")
    assert first_line.endswith(("; GPU 0 continues", "; GPU 1 continues"))
    assert " cannot be used: " in second_line


@pytest.mark.slow
def test_the_only_card_fails_at_any_moment(answers: Answers) -> None:
    """One line and exit status 1, or the exact count."""
    failed = 0
    for answer in answers.anything:
        lines = answer.err.splitlines()
        if answer.status == 0:
            assert answer == (0, COUNT, "")
            continue
        assert (answer.status, answer.out, len(lines)) == (1, "", 1)
        assert answer.err.startswith("gpusudoku: GPU 1 cannot be used: ")
        failed += 1
    assert failed > 5


@pytest.mark.slow
def test_a_listing_goes_on(answers: Answers) -> None:
    """Every solution is there once."""
    assert (answers.listing.status, len(answers.listing.err.splitlines())) == (0, 1)
    assert len({*answers.listed}) == len(answers.listed) == int(COUNT)
    assert all(len(line) == 81 for line in answers.listed)


def test_cards_that_cannot_be_used(computer: Computer) -> None:
    """Without a device asked for, the CPU counts: nothing is tried for what takes a moment."""
    old = [[9, 0], [6, 1]]
    answer = computer.gpusudoku("count", "@1c", "--stats", cards=old)
    assert answer[:2] == (0, COUNT)
    assert "; cuda where it is faster" in answer.err
    assert "; cuda about 1.5 s, with its start" in answer.err
    assert "device: cpu, " in answer.err
    assert computer.gpusudoku(*SEARCH, cards=old)[:2] == (0, COUNT)  # by the other one
    chosen_card = computer.gpusudoku(*SEARCH, "--gpu", "1", cards=old)
    assert chosen_card[:2] == (1, "")
    assert chosen_card.err.startswith("gpusudoku: GPU 1 cannot be used: ")
    reason = "the CUDA driver says CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): see nvidia-smi"
    without_driver = computer.gpusudoku(*SEARCH, failures={"cuInit": [803]})
    assert without_driver[:2] == (1, "")
    assert without_driver.err.startswith(
        f"gpusudoku: CUDA cannot be used: {reason}; the devices cpu"
    )


NO_ROW_STACK = """
import numba.np.arrayobj  # which asks for it by NumPy's version
import numpy

vars(numpy).pop("row_stack", None)
"""
"""What NumPy 2.5 lacks, and numba-cuda asks for."""
AFTERWARDS = """
import gpusudoku.kernels.compile_cuda

print(json.dumps(hasattr(numpy, "row_stack")))
"""


def test_numpy_without_what_numba_cuda_asks_for(computer: Computer, tmp_path: Path) -> None:
    cache = {"GPUSUDOKU_CACHE_DIR": str(tmp_path)}
    devices, search = computer.session([(["devices"], {}), (SEARCH, {})], NO_ROW_STACK, cache)
    assert "\ncuda  0: Stand-in 9.0\n" in devices.out
    assert search == (0, COUNT, "")
    assert computer.script(NO_ROW_STACK + AFTERWARDS) == [False]


BROKEN = """
sys.modules["numba.extending"] = None
"""


@pytest.mark.usefixtures("compiled")
def test_packages_that_cannot_be_imported(computer: Computer, tmp_path: Path) -> None:
    """It is said where a kernel has to be compiled; one that is kept does not need them."""
    cache = {"GPUSUDOKU_CACHE_DIR": str(tmp_path)}
    devices, search = computer.session([(["devices"], {}), (SEARCH, {})], BROKEN, cache)
    reason = "cannot be used: import of numba.extending halted"
    assert f"cuda  0: Stand-in 9.0 (not usable: numba-cuda {reason}" in devices.out
    assert search[:2] == (1, "")
    assert search.err.startswith(f"gpusudoku: GPU 0 {reason}")
    assert search.err.count("\n") == 1
    assert computer.session([(SEARCH, {})], BROKEN) == [(0, COUNT, "")]


BESIDES = """
import cupy
import numpy as np
from numba import cuda

from gpusudoku import Options, collection, count, count_many, cross_check, solutions
from gpusudoku.engines.make import make_engine
from tests.ptx.driver.machine import contexts

with cupy.cuda.Device(1):
    engine = make_engine(device="cuda", gpus=(0,))
    found = count(collection.load("1c"), engine=engine)
    print(json.dumps([found.count, contexts.device.number, len(contexts.stack)]))
    print(json.dumps(cross_check(found)))
    rows = np.zeros((2, 16), np.int64)
    rows[0, :4] = 1, 2, 3, 4
    boards, out = cupy.asarray(rows), cupy.zeros((3, 16), np.uint8)

numbers = count_many(boards, device="cpu").numbers()
found = solutions(cuda.to_device(rows[0]), device="cpu")
print(json.dumps([numbers.device.id, cupy.asnumpy(numbers).tolist(), found.count]))
same = found.sample(3, seed=1, out=out) is out
print(json.dumps([same, bool((cupy.asnumpy(out) == found.sample(3, seed=1)).all())]))


@cuda.jit
def put(numbers, at):
    numbers[at] = 7


numbers = cuda.to_device(np.zeros(4, np.int64))
for at in 3, 4, 3:
    try:
        put[1, 1](numbers, at)
        print(json.dumps(numbers.copy_to_host().tolist()))
    except Exception as error:
        print(json.dumps(str(error)))
"""


@pytest.mark.slow
def test_what_is_beside_the_program(computer: Computer) -> None:
    """A caller's device and arrays; Numba's list of GPUs; a kernel that writes out of bounds."""
    count, checked, numbers, outputs, correct, error, later = computer.script(BESIDES, **TWO)
    assert count == [collection.entry("1c").count, 1, 1]
    assert checked == "device cpu, method search"  # so it was contracted
    assert (numbers, outputs) == ([1, [12, 288], 12], [True, True])
    assert correct == [0, 0, 0, 7]
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in error
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in later


@pytest.mark.slow
def test_kernels_are_kept(computer: Computer, tmp_path: Path) -> None:
    """The second process compiles nothing, whatever the caches of others have."""
    cache = {"GPUSUDOKU_CACHE_DIR": str(tmp_path)}
    commands: list[Any] = [([*arguments, "--quiet"], {}) for arguments in (SEARCH, SUM)]
    assert computer.session(commands, variables=cache) == [(0, COUNT, "")] * 2
    assert computer.session(commands, NOTHING_COMPILED, cache) == [(0, COUNT, "")] * 2


@pytest.mark.slow
def test_different_cards(computer: Computer) -> None:
    """Each has code of its own, in one process and at the same time."""
    names = ["1c", "box2x3-many"]
    commands: list[Any] = [(SUM, {})]
    commands += [(["count", f"@{name}", *CUDA, "--method", "search"], {}) for name in names]
    total, *searches = computer.session(commands, cards=[[7, 5], [12, 0]])
    assert total.out == COUNT
    assert [int(search.out) for search in searches] == [
        collection.entry(name).count for name in names
    ]
