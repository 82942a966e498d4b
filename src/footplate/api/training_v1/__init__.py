"""ml v1 over HTTP."""

from footplate.api.training_v1.routes import training_routes

__all__ = ["training_routes"]
