"""The contraction of boards of any shape: a join over the maps of stacks and bands.

Read in this order: ``maps``, ``counters`` and ``graph`` (the lists), ``boxes`` (which maps fit),
``orbits`` (which count alike), ``index``, ``orientation``, ``join`` (the sum) and ``parts`` (boards
too expensive for one sum).
"""
