"""The page where you edit a board and see its solutions: a local server, and a notebook widget.

``questions``, ``answers`` and ``request_queue`` do not depend on the transport. ``app`` and
``serving`` transport questions and answers over HTTP, ``notebook`` over the messages of a widget.
``page`` has the files for the browser, which ``notebook`` joins into one module.
"""
