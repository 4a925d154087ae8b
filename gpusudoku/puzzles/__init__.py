"""Puzzles: made from random grids, reduced to minimal ones, and rated."""
