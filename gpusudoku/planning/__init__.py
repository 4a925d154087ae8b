"""Plans: how a board is to be counted, what that costs, and running it on an engine.

``choose`` makes the plan of one board, ``batch`` that of many; ``search`` and ``contraction`` are
the two kinds of plan.
"""
