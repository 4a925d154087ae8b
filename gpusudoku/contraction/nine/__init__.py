"""The contraction of 9x9 boards: ``sum`` of one by many threads or a GPU, ``batch`` of many.

``order`` has the solutions by number, ``shares`` counts those of every candidate. The loops are in
``kernels/contraction/nine``.
"""
