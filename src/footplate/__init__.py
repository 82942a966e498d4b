"""Footplate: a self-hosted training service behind the AI Platform and Vertex AI APIs."""

__version__: str


def __getattr__(name: str) -> str:
    """Returns the version, which the build wrote: supervisors on nodes have none, and ask not."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from footplate._version import VERSION

    return VERSION
