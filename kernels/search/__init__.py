"""The search of boards of any shape; ``nine`` has a faster one for 9x9 boards.

Read in this order: ``layout`` (how a board is packed), ``settings``, ``singles``, ``locked`` and
``pairs`` (the techniques), ``propagate``, ``branch`` (a guess splits a board in two), ``expand``
(from boards to a frontier), ``loop`` (the iterative counter), ``select`` (which of the two
searches); ``cpu`` and ``cuda`` compile them (a CUDA thread runs ``cuda_thread``).
"""
