"""The page on which one edits a board and sees its solutions: a local server, and a widget.

``questions`` and ``answers`` know nothing of how a question comes and an answer goes; ``app`` has
them over HTTP, ``widget`` in a notebook. ``page`` is what a browser gets, the same for both.
"""
