"""The JSON API of Cloud Storage, as far as jobs and their clients use it."""

from footplate.api.storage_v1.program_routes import program_routes
from footplate.api.storage_v1.routes import storage_routes

__all__ = ["program_routes", "storage_routes"]
