"""Job logs, for Cloud Logging's clients and for Footplate's own."""

from footplate.api.logging_v2.routes import logging_routes
from footplate.api.logging_v2.stream_logs import EndOfStream, Followers

__all__ = ["EndOfStream", "Followers", "logging_routes"]
