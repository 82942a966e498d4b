"""The lines of jobs, for Cloud Logging's clients and for our own."""

from footplate.api.logging_v2.followers import EndOfStream, Followers
from footplate.api.logging_v2.routes import logging_routes

__all__ = ["EndOfStream", "Followers", "logging_routes"]
