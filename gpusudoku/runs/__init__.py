"""Long runs: in parts, with checkpoints, on a cluster."""
