"""Job logs, for Cloud Logging's clients and for Footplate's own."""

from footplate.api.logging_v2.job_lookup import JobFinder
from footplate.api.logging_v2.routes import logging_routes
from footplate.api.logging_v2.stream_logs import EndOfStream, Followers
from footplate.api.logging_v2.writing import EntryWriting

__all__ = ["EndOfStream", "EntryWriting", "Followers", "JobFinder", "logging_routes"]
