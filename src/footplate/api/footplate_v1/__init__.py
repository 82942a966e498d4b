"""Footplate's own API over HTTP."""

from footplate.api.footplate_v1.routes import About, footplate_routes

__all__ = ["About", "footplate_routes"]
