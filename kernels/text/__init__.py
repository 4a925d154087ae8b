"""Text in bulk: bytes that are read and written by the million, without an object for each line."""
