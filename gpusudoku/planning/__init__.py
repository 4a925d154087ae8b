"""Plans: choosing how to count a board, or a batch, and running that on an engine."""
