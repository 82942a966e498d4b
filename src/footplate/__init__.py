"""Footplate: a self-hosted training service behind the AI Platform and Vertex AI APIs."""

__version__ = "0.1.0.dev0"
