"""The loops of the contraction of boards of any shape.

Read ``arrays`` first, then ``lists`` and ``join``. ``kernels.kernel`` compiles them.
"""
