"""Docker or Podman on this machine: discovery, pulls, builds, and removal of orphaned containers.

The ``docker`` package is imported only where an engine is used: it costs a quarter of a second.
"""
