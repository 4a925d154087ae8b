"""The loops of the contraction, which ``docs/contraction.md`` derives."""
