"""The composition root: settings to adapters to loops to the app."""

from footplate.server.absence import end_left_behind, left_behind
from footplate.server.limits import describe_machine
from footplate.server.serving import serve

__all__ = ["describe_machine", "end_left_behind", "left_behind", "serve"]
