"""Distributing work among threads, and interrupting it. Independent of Sudoku."""
