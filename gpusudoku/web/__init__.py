"""The page where one edits a board and sees its solutions: a local server, and a widget.

``questions``, ``answers`` and ``request_queue`` know nothing of how questions arrive and answers
leave. ``app`` and ``serving`` carry them over HTTP, ``notebook`` by the messages of a widget.
``page`` is what a browser gets, and a notebook as one module.
"""
