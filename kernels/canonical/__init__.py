"""Kernels of canonical forms: of puzzles of any shape, and of full grids."""
