"""Tuning jobs: their search, and what follows from their trials. Pure."""
