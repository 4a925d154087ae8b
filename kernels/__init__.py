"""The hot loops and nothing else, written once and compiled for the CPU and for CUDA.

Read in this order: ``layout`` (how a board is packed into words), ``singles``, ``locked`` and
``pairs`` (the techniques), ``branch`` (guessing splits a board in two), ``search`` (the iterative
counter), ``widen`` (from boards to a frontier), then the search of 9x9 boards: ``nine_planes``,
``lanes``, ``nine_step``, ``nine_search``; then ``searches`` (which of the two), ``cpu`` and
``cuda``, which compile them. ``README.md`` goes through all of it.
Those of the contraction, which ``docs/contraction.md`` derives: ``nine`` and what it names for 9x9
boards, with ``nine_cuda`` for GPUs; ``maps`` and ``join`` for boards of any shape.

Every ``build_`` function is a template: it takes the geometry and the compiler's decorator and
returns a function in which the geometry is a constant.
"""
