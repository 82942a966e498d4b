"""The composition root: wires settings, adapters, loops and the app."""

from footplate.server.isolation_probe import describe_machine
from footplate.server.orphaned_supervisors import end_left_behind, left_behind
from footplate.server.serving import serve

__all__ = ["describe_machine", "end_left_behind", "left_behind", "serve"]
