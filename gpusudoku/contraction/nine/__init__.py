"""The contraction of 9x9 boards: ``sum`` for one board by many threads, ``batch`` for many boards.

``device`` sums one board on a GPU, ``tables`` holds what is the same for every board. The loops are
in ``kernels/contraction/nine``.
"""
