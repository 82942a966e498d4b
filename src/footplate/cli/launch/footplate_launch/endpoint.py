"""Reads the server's address that ``footplate run`` put into the environment."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

URL = "FOOTPLATE_RUN_URL"
GRPC = "FOOTPLATE_RUN_GRPC"
PROXY = "FOOTPLATE_RUN_PROXY"
ALLOWED = "FOOTPLATE_RUN_ALLOWED"
TOKEN = "FOOTPLATE_TOKEN"  # noqa: S105 - the name of a variable
PROJECT = "GOOGLE_CLOUD_PROJECT"


class Endpoint:
    """No dataclass: importing those takes longer than all else here.

    ``grpc`` is the ``HOST:PORT`` of the server's gRPC port; empty: it has none.
    """

    def __init__(self, url: str, token: str, project: str, grpc: str = "") -> None:
        self.url = url
        self.token = token
        self.project = project
        self.grpc = grpc

    @property
    def loopback(self) -> bool:
        host = self.url.partition("://")[2].rpartition(":")[0]
        return host in {"127.0.0.1", "localhost", "[::1]"}


def read_endpoint(environ: Mapping[str, str]) -> Endpoint:
    """Raises RuntimeError: the variable is gone; a program without it would be unguarded."""
    url = environ.get(URL, "").rstrip("/")
    if not url:
        raise RuntimeError(f"{URL} is missing from the environment")
    project, grpc = environ.get(PROJECT, "demo"), environ.get(GRPC, "")
    return Endpoint(url, environ.get(TOKEN, ""), project, grpc)
