"""Discovery documents, of which Google's clients make their methods at run time."""

from footplate.api.discovery_v1.routes import Described, discovery_routes

__all__ = ["Described", "discovery_routes"]
