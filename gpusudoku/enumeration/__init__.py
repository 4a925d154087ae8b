"""Solutions by number: in memory, by a contraction, or by counts of prefixes."""
