"""Shells in running replicas, as a terminal has them."""
