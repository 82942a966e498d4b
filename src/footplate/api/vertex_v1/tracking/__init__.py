"""MetadataService and TensorboardService."""

from footplate.api.vertex_v1.tracking.routes import tracking_routes

__all__ = ["tracking_routes"]
