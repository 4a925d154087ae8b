"""The benchmark suite: engines and settings side by side, on the same boards, in one run.

``cases`` lists what is measured, ``engines`` counts it, ``running`` repeats and times that,
``summary`` turns runs into rows, ``tables`` and ``plots`` show them (``curves``, ``points`` and
``correlations`` draw what ``plots`` chooses, with ``drawing``), and ``model`` fits laws to
them. ``machine`` describes the machine, and ``live`` shows the table while it fills.
"""
