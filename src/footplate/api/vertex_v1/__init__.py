"""aiplatform v1 and v1beta1 over HTTP."""

from footplate.api.vertex_v1.routes import vertex_routes

__all__ = ["vertex_routes"]
