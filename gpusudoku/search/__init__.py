"""The search: techniques by name, the frontier of partial boards, and an estimate of the work.

The loops that search are in ``kernels/search``; ``planning.search`` runs them on an engine.
"""
