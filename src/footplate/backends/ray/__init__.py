"""Ray as an engine, by the HTTP API of its jobs."""

from footplate.backends.ray.engine import RayEngine
from footplate.backends.ray.job_package import RaySettings

__all__ = ["RayEngine", "RaySettings"]
