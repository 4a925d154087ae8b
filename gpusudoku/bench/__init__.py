"""Engines and settings side by side on the same boards: ``suite`` measures, ``figures`` draws."""
