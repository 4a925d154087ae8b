"""The contraction of 9x9 boards: one board by many threads, or many boards by one thread each."""
