"""The benchmark suite: ``suite`` measures, ``comparison`` and ``figures`` show the results."""
