"""Samples a program's resource usage and its idle time."""
