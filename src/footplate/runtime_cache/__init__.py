"""The runtimes in this machine's cache: lists, builds and removes them.

It works with or without a server: what programs use is told by the locks that their supervisors
hold, whoever started them.
"""

from footplate.runtime_cache.environments import Environments
from footplate.runtime_cache.listing import Environment, Here, Inventory

__all__ = ["Environment", "Environments", "Here", "Inventory"]
