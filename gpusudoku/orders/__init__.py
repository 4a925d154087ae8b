"""Orders: the solutions of one board, numbered, each to be had by its number.

``choose`` decides who numbers them. ``few`` has all in memory, ``nine`` is the contraction of 9x9
boards, ``ascending`` counts prefixes; ``sampling`` draws numbers.
"""
