"""Counting without visiting solutions: a sum over the maps of the stacks of a board.

``docs/contraction.md`` derives it. ``nine`` is for 9x9 boards, ``general`` for boards of any shape;
``planning.contraction`` makes the cheapest one of a board, a ``Contraction`` of ``protocol``.
"""
