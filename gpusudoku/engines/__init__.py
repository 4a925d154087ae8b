"""Engines: each runs searches and contractions on its own kind of device, behind ``Engine``."""
