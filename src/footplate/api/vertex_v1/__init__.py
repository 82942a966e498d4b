"""aiplatform v1 and v1beta1 over HTTP."""

from footplate.api.vertex_v1.datasets import dataset_routes
from footplate.api.vertex_v1.model_routes import model_routes
from footplate.api.vertex_v1.persistent_resources import persistent_resource_routes
from footplate.api.vertex_v1.routes import vertex_routes
from footplate.api.vertex_v1.tracking import tracking_routes
from footplate.api.vertex_v1.vizier_routes import vizier_routes

__all__ = [
    "dataset_routes",
    "model_routes",
    "persistent_resource_routes",
    "tracking_routes",
    "vertex_routes",
    "vizier_routes",
]
