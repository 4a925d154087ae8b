"""The contraction of 9x9 boards.

``sum`` counts one board on many threads or on a GPU, ``batch`` counts many boards. ``order`` finds
solutions by rank, and ``shares`` counts the solutions of every candidate. The loops are in
``kernels/contraction/nine``.
"""
