"""Plans: how a board is to be counted, what that costs, and running it on an engine."""
