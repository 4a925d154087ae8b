"""The contraction of boards of any shape: a join over the maps of stacks and bands.

Read in this order: ``maps`` and ``graph`` (the lists), ``boxes`` (which maps fit), ``symmetries``
(which count alike), ``join`` (the sum) and ``parts`` (boards too expensive for one sum); ``words``,
``order`` and ``shares`` lead from the sum to solutions.
"""
