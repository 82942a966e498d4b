"""Ray as an engine, by the HTTP API of its jobs."""

from footplate.backends.ray.engine import RayEngine, RaySettings

__all__ = ["RayEngine", "RaySettings"]
