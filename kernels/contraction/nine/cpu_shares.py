"""The stages of the shares of 9x9 boards, compiled for the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, typeof, types

from gpusudoku.kernels.contraction.nine.arrays import make_workspace
from gpusudoku.kernels.contraction.nine.environments import collect, make_found
from gpusudoku.kernels.contraction.nine.ledger import make_ledger
from gpusudoku.kernels.contraction.nine.naming import make_naming, name_entries
from gpusudoku.kernels.contraction.nine.roles import choose_turn
from gpusudoku.kernels.contraction.nine.shares import sweep_narrow, sweep_wide
from gpusudoku.kernels.contraction.nine.slabs import make_slabs
from gpusudoku.kernels.contraction.nine.symmetries import find_symmetries
from gpusudoku.kernels.contraction.nine.turns import Known, make_turn, make_turn_arrays
from gpusudoku.kernels.contraction.nine.words import make_words
from gpusudoku.kernels.kernel import Kernel, kernel


class ShareStages:
    """The stages after those that make the tensors; see ``NineStages``.

    ``tables`` is Numba's type of the ``Tables``.
    """

    def __init__(self, tables: Any) -> None:
        made = make_workspace()
        arrays = make_turn_arrays(made.roles)
        turn, parts = typeof(arrays), [typeof(part) for part in arrays]
        _, lists, numbering, roles, _, _, tensors, _, symmetries, _ = typeof(made).types
        words, naming = typeof(make_words()), typeof(make_naming())
        environment, found = int64[::1], typeof(make_found())
        self.choose_turn = kernel(int64, lists, numbering, roles, seconds=0.8)(choose_turn)
        self.name_entries = kernel(lists, numbering, words, naming, seconds=0.5)(name_entries)
        masks = typeof(np.zeros((6, 9), np.uint8))
        self.find_symmetries = kernel(masks, tables, symmetries, seconds=0.5)(find_symmetries)
        known = types.NamedTuple([tables, lists, numbering, naming], Known)
        self.make_turn = kernel(int64, known, symmetries, turn, seconds=1.0)(make_turn)
        swept = *parts, tensors, int64[::1], environment
        place = f"{__name__}.sweep_narrow", f"{__name__}.sweep_wide"
        narrow = typeof(make_slabs(wide=False)), typeof(make_ledger(wide=False))
        wide = typeof(make_slabs(wide=True)), typeof(make_ledger(wide=True))
        self.sweep_narrow = kernel(*swept, *narrow, seconds=2.8, place=place[0])(sweep_narrow)
        self.sweep_wide = kernel(*swept, *wide, seconds=2.8, place=place[1])(sweep_wide)
        collected = int64, tables, numbering, naming, parts[0], parts[3], environment, found
        self.collect = kernel(*collected, seconds=0.5)(collect)

    def of_one_board(self) -> list[Kernel]:
        """What the shares of one board take, except the wide sweep, which few boards need."""
        return [self.choose_turn, self.name_entries, self.find_symmetries, self.make_turn,
                self.sweep_narrow, self.collect]  # fmt: skip
