"""The search of boards of any shape: many boards take each step together.

Read in this order: ``shape`` (how a board is packed), ``machine`` (what runs a step), ``units``
(counting in rows, columns and boxes), ``step`` and ``techniques`` (simplifying all lanes at once),
``settings``, ``choose`` (which cell to guess) and ``moves`` (what is done to one board),
``arguments`` and ``lanes`` (the loop of a CPU thread, and a round of a frontier), ``thread`` (the
loop of a CUDA thread). ``pack`` packs boards, ``cpu`` and ``cuda`` compile all of it, and ``few``
does without compiling for a few boards.
"""
