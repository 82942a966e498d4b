"""The built-in data: regions, and runtimes with their locked requirements."""

from footplate.catalogue.runtimes import load

__all__ = ["load"]
