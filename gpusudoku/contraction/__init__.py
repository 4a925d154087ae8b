"""Counting without visiting solutions: a sum over the maps of the stacks of a board.

``docs/contraction.md`` derives the method. ``nine`` contracts 9x9 boards, ``general`` boards of any
shape. ``planning.contraction`` makes the cheapest ``Contraction`` (see ``protocol``) of a board.
"""
