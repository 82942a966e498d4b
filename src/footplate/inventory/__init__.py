"""What of the catalogue's runtimes this machine's cache has: told, made, and removed.

It works with or without a server: what programs use is told by the locks that their supervisors
hold, whoever started them.
"""

from footplate.inventory.environments import Environments
from footplate.inventory.listing import Environment, Here, Inventory

__all__ = ["Environment", "Environments", "Here", "Inventory"]
