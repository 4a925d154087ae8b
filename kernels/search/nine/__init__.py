"""The search of 9x9 boards, many in step: ``planes``, ``step``, ``loop``."""
