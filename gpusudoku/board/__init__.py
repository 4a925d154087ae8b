"""Boards: the shape of their boxes, one board, and many in one array."""
