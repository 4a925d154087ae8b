"""The contraction of 9x9 boards, stage by stage.

Read in this order: ``arrays``, ``maps``, ``plan``, ``tensors``, ``orbits``, ``dot``; ``cpu`` and
``cuda`` compile them.
"""
