"""Footplate's own API over HTTP."""

from footplate.api.footplate_v1.routes import About, ServerView, footplate_routes

__all__ = ["About", "ServerView", "footplate_routes"]
