"""The search of boards of any shape; ``nine`` has a faster one for 9x9 boards.

Read in this order: ``layout`` (how a board is packed) and ``pack``, ``settings``, ``singles``,
``locked`` and ``pairs`` (techniques), ``propagate``, ``branch`` (a guess splits a board in two),
``expand`` (from boards to a frontier), ``arguments`` and ``loop`` (the iterative counter),
``select`` (which of the two searches); ``cpu`` and ``cuda`` compile them, and a CUDA thread runs
``cuda_thread``.
"""
