"""Backends: where the replicas of a region run."""
