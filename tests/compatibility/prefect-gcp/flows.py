"""The flow of the deployments: it ends, or fails."""

from prefect import flow, get_run_logger


@flow
def greet(name: str = "world") -> None:
    get_run_logger().warning("Hello, %s!", name)


@flow
def fail() -> None:
    raise ValueError("no rows")


@flow
def wait() -> None:
    """Its job only waits, and never begins it."""


@flow
def broken() -> None:
    """Its job fails before it begins it."""


@flow
def refused() -> None:
    """Its job names no machine that there is."""
