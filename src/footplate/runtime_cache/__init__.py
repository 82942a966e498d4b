"""The runtimes in this machine's cache: lists, builds and removes them.

It works with or without a server: the locks that supervisors hold show what programs use.
"""

from footplate.runtime_cache.environments import Environments
from footplate.runtime_cache.listing import Environment, Here, Inventory

__all__ = ["Environment", "Environments", "Here", "Inventory"]
