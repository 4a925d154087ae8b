"""The stages of the shares of 9x9 boards, compiled for the CPU."""

from __future__ import annotations

import numpy as np

from gpusudoku.kernels.arguments import Kind, float64, int64, kind_of
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

    ``tables`` is the type of the ``Tables``.
    """

    def __init__(self, tables: Kind) -> None:
        made = make_workspace()
        arrays = make_turn_arrays(made.roles)
        turn, parts = kind_of(arrays), [kind_of(part) for part in arrays]
        _, lists, numbering, roles, _, _, tensors, _, symmetries, _ = kind_of(made)
        words, naming = kind_of(make_words()), kind_of(make_naming())
        environment, found = int64[::1], kind_of(make_found())
        self.choose_turn = kernel(int64, lists, numbering, roles, returns=float64, seconds=0.3)(
            choose_turn
        )
        self.name_entries = kernel(lists, numbering, words, naming, seconds=1.2)(name_entries)
        masks = kind_of(np.zeros((6, 9), np.uint8))
        self.find_symmetries = kernel(masks, tables, symmetries, returns=int64, seconds=0.9)(
            find_symmetries
        )
        known = Known(tables, lists, numbering, naming)
        self.make_turn = kernel(int64, known, symmetries, turn, returns=int64, seconds=1.7)(
            make_turn
        )
        swept = *parts, tensors, int64[::1], environment
        place = f"{__name__}.sweep_narrow", f"{__name__}.sweep_wide"
        narrow = kind_of(make_slabs(wide=False)), kind_of(make_ledger(wide=False))
        wide = kind_of(make_slabs(wide=True)), kind_of(make_ledger(wide=True))
        self.sweep_narrow = kernel(*swept, *narrow, seconds=7.2, place=place[0])(sweep_narrow)
        self.sweep_wide = kernel(*swept, *wide, seconds=6.4, place=place[1])(sweep_wide)
        collected = int64, tables, numbering, naming, parts[0], parts[3], environment, found
        self.collect = kernel(*collected, seconds=1.2)(collect)

    def of_one_board(self) -> list[Kernel]:
        """What the shares of one board take, except the wide sweep, which few boards need."""
        return [self.choose_turn, self.name_entries, self.find_symmetries, self.make_turn,
                self.sweep_narrow, self.collect]  # fmt: skip
