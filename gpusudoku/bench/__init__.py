"""The benchmark suite: engines and settings side by side, on the same boards, in one run.

``cases`` says what is measured, ``running`` measures it, ``summary`` turns runs into rows,
``tables`` and ``plots`` show them, ``machine`` describes what ran them.
"""
