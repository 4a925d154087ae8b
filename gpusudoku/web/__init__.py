"""The page on which one edits a board and sees its solutions: a local server, and a widget.

``questions``, ``answers`` and ``desk``, which has threads work at them, know nothing of how a
question comes and an answer goes. ``app``, ``events`` and ``serving`` have them over HTTP,
``conversation`` and ``notebook`` by the messages of a widget. ``page`` is what a browser gets;
``joined`` makes one module of it for notebooks.
"""
