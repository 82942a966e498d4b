"""Jobs, objects, log lines and events as the HTTP API returns them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from footplate.domain.errors import UnknownError
from footplate.domain.job_states import State
from footplate.domain.names import (
    CustomJobName,
    GcsUri,
    TrainingJobName,
    TuningJobName,
    parse_job_name,
)
from footplate.wire.json_text import objects

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

N = TypeVar("N", CustomJobName, TuningJobName)


@dataclass(frozen=True)
class TrainingJob:
    """A job of the API ml v1; ``resource`` is the server's JSON."""

    name: TrainingJobName
    state: State
    error_message: str
    create_time: str
    resource: Mapping[str, JsonValue]

    @classmethod
    def read(cls, project: str, resource: Mapping[str, JsonValue]) -> TrainingJob:
        return cls(
            name=TrainingJobName(project, _text(resource, "jobId")),
            state=_state(_text(resource, "state"), resource),
            error_message=_text(resource, "errorMessage"),
            create_time=_text(resource, "createTime"),
            resource=resource,
        )


@dataclass(frozen=True)
class LocatedJob(Generic[N]):
    """A job of the API aiplatform; ``resource`` is the server's JSON."""

    name: N
    display_name: str
    state: State
    error_message: str
    create_time: str
    resource: Mapping[str, JsonValue]

    @classmethod
    def read(cls, kind: type[N], resource: Mapping[str, JsonValue]) -> LocatedJob[N]:
        """Returns the job. Raises UnknownError for a name that isn't of the class ``kind``."""
        name = parse_job_name(_text(resource, "name"))
        if not isinstance(name, kind):
            raise UnknownError(
                f"the server sent the name {str(name)!r}, which is not a {kind.__name__}"
            )
        error = resource.get("error")
        state = _text(resource, "state").removeprefix("JOB_STATE_")
        return cls(
            name=name,
            display_name=_text(resource, "displayName"),
            state=_state("PREPARING" if state == "PENDING" else state, resource),
            error_message=_text(error, "message") if isinstance(error, dict) else "",
            create_time=_text(resource, "createTime"),
            resource=resource,
        )


CustomJob = LocatedJob[CustomJobName]
TuningJob = LocatedJob[TuningJobName]

Job = TrainingJob | CustomJob | TuningJob


@dataclass(frozen=True)
class LogLine:
    """A line that a replica printed; ``cursor`` continues after it."""

    cursor: int
    timestamp: str
    severity: str
    replica: str
    attempt: int
    message: str
    restart: int = 0
    """Which start of the replica in the attempt printed it, from 0."""
    trial: str = ""
    """The number of the trial that printed it; empty where no trial did."""

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> LogLine:
        return cls(
            cursor=_number(resource, "cursor"),
            timestamp=_text(resource, "timestamp"),
            severity=_text(resource, "severity") or "DEFAULT",
            replica=_text(resource, "replica"),
            attempt=_number(resource, "attempt"),
            message=_text(resource, "message"),
            restart=_number(resource, "restart"),
            trial=_text(resource, "trial"),
        )


@dataclass(frozen=True)
class Event:
    """An event of a job. ``number`` counts a job's events from 1."""

    number: int
    time: str
    kind: str
    message: str
    attempt: int
    replica: str

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> Event:
        return cls(
            number=_number(resource, "number"),
            time=_text(resource, "time"),
            kind=_text(resource, "kind"),
            message=_text(resource, "message"),
            attempt=_number(resource, "attempt"),
            replica=_text(resource, "replica"),
        )


@dataclass(frozen=True)
class Ending:
    """The answer to a shutdown: how many active jobs were ``cancelled``, and the ``others``,
    URLs of other servers.
    """

    cancelled: int
    others: tuple[str, ...] = ()

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> Ending:
        others = resource.get("otherServers")
        return cls(
            cancelled=_number(resource, "cancelledJobs"),
            others=tuple(map(str, others)) if isinstance(others, list) else (),
        )


@dataclass(frozen=True)
class ServerInfo:
    """One of the servers that share a database."""

    url: str
    pid: int
    leads: bool


@dataclass(frozen=True)
class Status:
    """An overview of a service. ``active_jobs`` counts the jobs that haven't ended, by state.

    ``active_trials`` counts those of tuning jobs, by the states of their runs.
    """

    version: str
    url: str
    pid: int
    data_dir: str
    active_jobs: Mapping[str, int]
    active_trials: Mapping[str, int]
    servers: tuple[ServerInfo, ...] = ()
    """All that share the database, this one with them."""
    trouble: str = ""
    """What is wrong with its machine; empty: nothing."""
    regions: tuple[dict[str, JsonValue], ...] = ()
    """Those that an engine has, as ``Regions.list`` answers."""

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> Status:
        return cls(
            version=_text(resource, "version"),
            url=_text(resource, "url"),
            pid=_number(resource, "pid"),
            data_dir=_text(resource, "dataDir"),
            active_jobs=_counts(resource.get("activeJobs")),
            active_trials=_counts(resource.get("activeTrials")),
            servers=tuple(
                ServerInfo(_text(each, "url"), _number(each, "pid"), each.get("leads") is True)
                for each in objects(resource.get("servers"))
            ),
            trouble=_text(resource, "trouble"),
            regions=tuple(objects(resource.get("regions"))),
        )


@dataclass(frozen=True)
class Bucket:
    name: str
    create_time: str
    resource: Mapping[str, JsonValue]

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> Bucket:
        return cls(_text(resource, "name"), _text(resource, "timeCreated"), resource)


@dataclass(frozen=True)
class StoredObject:
    """An object's metadata. ``crc32c`` is in the API's form: big-endian, base64."""

    bucket: str
    name: str
    size_bytes: int
    crc32c: str
    update_time: str

    @property
    def place(self) -> GcsUri:
        return GcsUri(self.bucket, self.name)

    @property
    def uri(self) -> str:
        return str(self.place)

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> StoredObject:
        return cls(
            bucket=_text(resource, "bucket"),
            name=_text(resource, "name"),
            size_bytes=_number(resource, "size"),
            crc32c=_text(resource, "crc32c"),
            update_time=_text(resource, "updated"),
        )


def _text(resource: Mapping[str, JsonValue], key: str) -> str:
    value = resource.get(key)
    return "" if value is None else str(value)


def _counts(found: JsonValue) -> dict[str, int]:
    counts = found if isinstance(found, dict) else {}
    return {state: _number(counts, state) for state in counts}


def _number(resource: Mapping[str, JsonValue], key: str) -> int:
    """Returns the number at ``key``; 0 if absent. JSON holds int64 as strings."""
    try:
        return int(_text(resource, key) or 0)
    except ValueError:
        raise UnknownError(f"the server sent {key}={resource.get(key)!r}, not a number") from None


def _state(text: str, resource: Mapping[str, JsonValue]) -> State:
    try:
        return State(text)
    except ValueError:
        raise UnknownError(f"the server sent the unknown state {resource.get('state')!r}") from None
