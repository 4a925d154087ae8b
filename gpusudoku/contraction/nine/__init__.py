"""The contraction of 9x9 boards: ``sum`` for one board by many threads, ``batch`` for many boards.

``shares`` and ``share_batch`` do the same for shares: what ``sweeper`` does on one thread, and what
``share_sums`` makes of it.

``device`` sums one board on a GPU, ``tables`` holds what is the same for every board. The loops are
in ``kernels/contraction/nine``.
"""
