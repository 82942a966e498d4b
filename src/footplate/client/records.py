"""Jobs, objects, log lines and events as the HTTP API returns them."""

from __future__ import annotations

from collections.abc import Mapping
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
from footplate.wire.json_fields import read_number, read_text

if TYPE_CHECKING:
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
            name=TrainingJobName(project, read_text(resource, "jobId")),
            state=_state(read_text(resource, "state"), resource),
            error_message=read_text(resource, "errorMessage"),
            create_time=read_text(resource, "createTime"),
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
        """Reads a job; ``kind`` is of its name: the server names no other job here."""
        name = parse_job_name(read_text(resource, "name"))
        if not isinstance(name, kind):
            raise UnknownError(
                f"the server sent the name {str(name)!r}, which is not a {kind.__name__}"
            )
        error = resource.get("error")
        state = read_text(resource, "state").removeprefix("JOB_STATE_")
        return cls(
            name=name,
            display_name=read_text(resource, "displayName"),
            state=_state("PREPARING" if state == "PENDING" else state, resource),
            error_message=read_text(error, "message") if isinstance(error, dict) else "",
            create_time=read_text(resource, "createTime"),
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
            cursor=read_number(resource, "cursor"),
            timestamp=read_text(resource, "timestamp"),
            severity=read_text(resource, "severity") or "DEFAULT",
            replica=read_text(resource, "replica"),
            attempt=read_number(resource, "attempt"),
            message=read_text(resource, "message"),
            restart=read_number(resource, "restart"),
            trial=read_text(resource, "trial"),
        )


@dataclass(frozen=True)
class Bucket:
    name: str
    create_time: str
    resource: Mapping[str, JsonValue]

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> Bucket:
        return cls(read_text(resource, "name"), read_text(resource, "timeCreated"), resource)


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
            bucket=read_text(resource, "bucket"),
            name=read_text(resource, "name"),
            size_bytes=read_number(resource, "size"),
            crc32c=read_text(resource, "crc32c"),
            update_time=read_text(resource, "updated"),
        )


def _state(text: str, resource: Mapping[str, JsonValue]) -> State:
    try:
        return State(text)
    except ValueError:
        raise UnknownError(f"the server sent the unknown state {resource.get('state')!r}") from None
