"""The JSON API of Cloud Storage: what clients need to keep and fetch what jobs use and make."""

from footplate.api.storage_v1.programs import program_routes
from footplate.api.storage_v1.routes import storage_routes

__all__ = ["program_routes", "storage_routes"]
