"""``gpusudoku.kernels``: the hot loops and nothing else; in a checkout the folder ``kernels``.

They are written once and compiled for the CPU and for CUDA. ``search`` visits solutions,
``contraction`` counts without visiting; what is special to 9x9 boards is in a folder ``nine`` of
each. They share ``bits``, ``jit`` and ``kernel``. ``README.md`` goes through all of it.

Every ``build_`` function is a template: it takes the geometry and the compiler's decorator and
returns a function in which the geometry is a constant. Loops that do not depend on the geometry are
plain functions with ``kernel.kernel``, which gives them the types of their arguments.
"""
