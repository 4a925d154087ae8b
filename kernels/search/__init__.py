"""The search of boards of any shape: many boards take each step together.

Read the modules in this order: ``shape`` (how a board is packed; settings), ``machine`` (what runs
a step), ``units`` (counting in rows, columns and boxes), ``step`` and ``techniques`` (simplifying
all lanes at once), ``choose`` (which cell to guess), ``moves`` (functions for single boards, and
packing), ``arguments`` and ``lanes`` (the loop of a CPU thread, and a round of a frontier),
``thread`` (the loop of a CUDA thread). ``cpu`` and ``cuda`` compile all of it.

Two other searches use the same steps: ``minimise``, with ``trial_boards`` and ``swaps``, removes
clues of puzzles, and ``placements`` finds the placements that leave a board one solution.
"""
