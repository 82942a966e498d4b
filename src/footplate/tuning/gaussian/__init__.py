"""Gaussian processes: what a few measurements say of all the other points."""
