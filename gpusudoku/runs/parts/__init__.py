"""Runs in parts that know nothing of each other, for job arrays."""
