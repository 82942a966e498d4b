"""Where Footplate is, as ``footplate run`` said it in the environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

URL = "FOOTPLATE_RUN_URL"
TOKEN = "FOOTPLATE_TOKEN"  # noqa: S105 - the name of a variable
PROJECT = "GOOGLE_CLOUD_PROJECT"


@dataclass(frozen=True)
class Endpoint:
    url: str
    token: str
    project: str

    @property
    def loopback(self) -> bool:
        host = self.url.partition("://")[2].rpartition(":")[0]
        return host in {"127.0.0.1", "localhost", "[::1]"}


def read_endpoint(environ: Mapping[str, str]) -> Endpoint:
    """Raises RuntimeError: the variable is gone; a program without it would be unguarded."""
    url = environ.get(URL, "").rstrip("/")
    if not url:
        raise RuntimeError(f"{URL} is missing from the environment")
    return Endpoint(url, environ.get(TOKEN, ""), environ.get(PROJECT, "demo"))
