"""Finds the service whose replicas are to suffer: its address, and its data directory here."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from footplate.client.service import Service
from footplate.domain.errors import Unavailable
from footplate.testing.service import RunningService

ServiceLike = RunningService | os.PathLike[str] | str
"""A service of a test's own; or the data directory, or the URL, of one that runs here."""


@dataclass(frozen=True)
class Place:
    """The location of a service. ``token`` is the one that it requires of clients, if it does."""

    data_dir: Path
    token: str | None = None

    def connect(self) -> Service:
        """Returns a client of the server that runs now; a restarted one may have another port.

        Raises:
            Unavailable: no server runs now.
        """
        try:
            url = json.loads((self.data_dir / "server.json").read_bytes())["url"]
        except (OSError, ValueError, KeyError, TypeError):  # none is announced
            raise Unavailable(f"no server runs with the data directory {self.data_dir}") from None
        return Service(str(url), self.token)


def find_place(service: ServiceLike, token: str | None) -> Place:
    """Returns the location of a service."""
    if isinstance(service, RunningService):
        variables = service.environment()
        return Place(service.data_dir, token or variables.get("FOOTPLATE_TOKEN"))
    if "://" in os.fspath(service):
        return _ask(os.fspath(service), token)
    place = Place(Path(service), token)
    if not (place.data_dir / "server.json").exists():
        raise ValueError(
            f"{place.data_dir} is not the data directory of a service: the folder has no "
            "server.json. `footplate status` shows where a service keeps its data"
        )
    return place


def _ask(url: str, token: str | None) -> Place:
    """Returns the service's location; checks that its data is on this machine."""
    with Service(url, token) as client:
        status = client.status()
    place = Place(Path(status.data_dir), token)
    try:
        pid = json.loads((place.data_dir / "server.json").read_bytes())["pid"]
    except (OSError, ValueError, KeyError, TypeError):  # none is announced
        pid = None
    if pid != status.pid:
        raise ValueError(
            f"the service at {url} keeps its data in {status.data_dir}, which isn't on this "
            "machine, or can't be read. Inject faults on the machine where the replicas run"
        )
    return place
