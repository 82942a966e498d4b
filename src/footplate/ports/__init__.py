"""Ports: narrow interfaces between the logic and the world."""
