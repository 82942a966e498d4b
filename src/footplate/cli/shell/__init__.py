"""Shells in running replicas, connected to a terminal."""
