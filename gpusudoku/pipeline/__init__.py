"""From boards read to results written, without a command line."""
