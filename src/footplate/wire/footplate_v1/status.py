"""The answers about the service itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from footplate.wire.json_fields import read_counts, read_number, read_text
from footplate.wire.json_text import JsonObject, objects

if TYPE_CHECKING:
    from pydantic import JsonValue


@dataclass(frozen=True)
class Server:
    """One of the servers that share a database."""

    url: str
    pid: int
    version: str
    leads: bool

    @classmethod
    def decode(cls, resource: Mapping[str, JsonValue]) -> Server:
        return cls(
            url=read_text(resource, "url"),
            pid=read_number(resource, "pid"),
            version=read_text(resource, "version"),
            leads=resource.get("leads") is True,
        )


@dataclass(frozen=True)
class Status:
    """A service at a glance; ``active_jobs`` counts the jobs that haven't ended, by state.

    ``active_trials`` counts those of tuning jobs, by the states of their runs.
    """

    version: str
    url: str
    pid: int
    data_dir: str
    active_jobs: Mapping[str, int]
    active_trials: Mapping[str, int]
    servers: tuple[Server, ...] = ()
    """All that share the database, this one with them."""
    trouble: str = ""
    """What is wrong with its machine; empty: nothing."""
    regions: tuple[JsonObject, ...] = ()
    """Those that an engine has, as the list of regions has them."""

    def encode(self) -> JsonObject:
        return {
            "version": self.version,
            "url": self.url,
            "pid": self.pid,
            "dataDir": self.data_dir,
            "activeJobs": {**self.active_jobs},
            "activeTrials": {**self.active_trials},
            "servers": [asdict(server) for server in self.servers],
            "trouble": self.trouble,
            "regions": [*self.regions],
        }

    @classmethod
    def decode(cls, resource: Mapping[str, JsonValue]) -> Status:
        return cls(
            version=read_text(resource, "version"),
            url=read_text(resource, "url"),
            pid=read_number(resource, "pid"),
            data_dir=read_text(resource, "dataDir"),
            active_jobs=read_counts(resource.get("activeJobs")),
            active_trials=read_counts(resource.get("activeTrials")),
            servers=tuple(map(Server.decode, objects(resource.get("servers")))),
            trouble=read_text(resource, "trouble"),
            regions=tuple(objects(resource.get("regions"))),
        )


@dataclass(frozen=True)
class Ending:
    """The end of a server.

    ``cancelled`` jobs were active; ``others`` are the URLs of the service's other servers.
    """

    cancelled: int
    others: tuple[str, ...] = ()

    def encode(self) -> JsonObject:
        others: JsonObject = {"otherServers": [*self.others]} if self.others else {}
        return {"cancelledJobs": self.cancelled, **others}

    @classmethod
    def decode(cls, resource: Mapping[str, JsonValue]) -> Ending:
        others = resource.get("otherServers")
        return cls(
            cancelled=read_number(resource, "cancelledJobs"),
            others=tuple(map(str, others)) if isinstance(others, list) else (),
        )
