"""The container engine of this machine: where it is, pulls, builds, and what jobs left in it.

The ``docker`` package is imported only where an engine is used: it costs a quarter of a second.
"""
