"""ml v1 over HTTP."""

from footplate.api.training_v1.routes import training_routes
from footplate.api.training_v1.studies import study_routes

__all__ = ["study_routes", "training_routes"]
