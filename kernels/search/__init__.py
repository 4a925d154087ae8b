"""The search of boards of any shape: many boards take each step together.

Read in this order: ``shape`` (how a board is packed, and settings), ``machine`` (what runs a step),
``units`` (counting in rows, columns and boxes), ``step`` and ``techniques`` (simplifying all lanes
at once), ``choose`` (which cell to guess), ``moves`` (what is done to one board, and packing),
``arguments`` and ``lanes`` (the loop of a CPU thread, and a round of a frontier), ``thread`` (the
loop of a CUDA thread). ``cpu`` and ``cuda`` compile all of it.
"""
