"""Restart counts of many jobs in one request."""

MOST_NAMES = 500
"""Of jobs in one question."""
