"""The contraction of boards of any shape: a join over the maps of stacks and bands."""
