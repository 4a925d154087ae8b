"""The benchmark suite: engines and settings side by side, on the same boards, in one run.

``running`` lists the cases and measures them, ``tables`` turns runs into rows, text and a law,
``figures`` draws them, and ``machine`` describes the machine.
"""
