"""How often jobs started again, asked for many at once."""

MOST_NAMES = 500
"""Of jobs in one question."""
