"""``gpusudoku.kernels``: the hot loops and nothing else; in a checkout the folder ``kernels``.

They are written once and compiled for the CPU and for CUDA. ``search`` visits solutions, in one way
for all shapes; ``contraction`` counts without visiting, and has a folder ``nine`` for 9x9 boards.
They share ``bits``, ``kernel`` and the modules that compile. ``README.md`` goes through all of it.

Every ``build_`` function is a template: it takes the geometry and the compiler's decorator and
returns a function in which the geometry is a constant. Loops that do not depend on the geometry are
plain functions with ``kernel.kernel``, which gives them the types of their arguments.
"""
