"""Tuning jobs: suggests, runs and evaluates trials, and decides when a search ends."""
