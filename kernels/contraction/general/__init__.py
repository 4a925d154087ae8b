"""The loops of the contraction of boards of any shape: ``lists``, then ``join``."""
