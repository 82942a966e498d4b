"""Finds the address of the server of a data directory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.errors import Unavailable
from footplate.replica.isolation.procfs import is_there

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.settings import Settings


@dataclass(frozen=True)
class Target:
    """A server, and the token that it requires."""

    url: str
    token: str | None


def find_server(settings: Settings) -> Target:
    """The server that leads; where that one was killed, another one that lives."""
    files = [settings.data_dir / "server.json", *settings.data_dir.glob("servers/*.json")]
    found = [server for server in map(_announced, files) if server is not None]
    if not found:
        raise Unavailable(
            f"no Footplate server runs with the data directory {settings.data_dir}; "
            "start one with `footplate up`, or pass its address with --url or --data-dir"
        )
    url, _ = next((server for server in found if is_there(server[1])), found[0])
    return Target(url, settings.token)


def _announced(path: Path) -> tuple[str, int] | None:
    """The address and the process of a registered server."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return str(document["url"]), int(document.get("pid") or 0)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
