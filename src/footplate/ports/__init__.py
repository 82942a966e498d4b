"""Narrow protocols between the decisions and the world."""
