"""The search of boards of any shape: many boards take each step together.

Read in this order:

* ``shape``: how a board is packed, and the settings of a search
* ``machine``, ``cuda_machine``, ``tracing``: what runs a step
* ``units``: counting in rows, columns and boxes
* ``step``, ``techniques``: simplifying the boards of all lanes at once
* ``choose``: which cell to guess
* ``moves``: operations on one board, and packing
* ``arguments``, ``pool``, ``lanes``: the loop of a CPU thread, and a round of a frontier
* ``rows``, ``launch``, ``thread``: the loop of a CUDA thread
* ``cpu``, ``cuda``: compiling all of it

``minimise``, with ``trial_boards`` and ``swaps``, removes clues of puzzles. ``placements`` finds
the placements that leave a board one solution.
"""
