"""``gpusudoku.kernels``: the hot loops and nothing else; in a checkout the folder ``kernels``.

They are written once and compiled for the CPU and for CUDA. ``search`` visits solutions of boards
of any shape. ``contraction`` counts without visiting; its folder ``nine`` is for 9x9 boards. They
share ``bits``, ``kernel`` and the modules that compile. ``README.md`` explains all of them.

Every ``build_`` function is a template: it takes the geometry and the compiler's decorator, and
returns a function in which the geometry is a constant. Loops that do not depend on the geometry are
plain functions with the decorator ``kernel.kernel``, which declares the kinds of their arguments.
"""
