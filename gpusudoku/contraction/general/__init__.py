"""The contraction of boards of any shape: a join over the lists of stacks and bands.

Read in this order: ``entry_lists`` and ``graph`` (the lists), ``boxes`` (which maps fit),
``symmetries`` (orbits with equal sums), ``join`` (the sum) and ``parts`` (boards too expensive for
one sum). From the sum to solutions lead ``line_maps`` (the maps one by one), ``order`` and
``shares``.
"""
