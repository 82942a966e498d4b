"""Shells in running replicas, over WebSocket."""

from footplate.api.shell_v1.routes import shell_routes

__all__ = ["shell_routes"]
