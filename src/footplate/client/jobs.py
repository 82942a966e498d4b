"""Client of jobs in both APIs: create, get, list, cancel."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic
from urllib.parse import quote

from footplate.client.http_client import Connection
from footplate.client.records import LocatedJob, N, TrainingJob
from footplate.domain.errors import Aborted
from footplate.domain.names import JobName, TrainingJobName
from footplate.wire.json_text import JsonObject, objects

if TYPE_CHECKING:
    from pydantic import JsonValue


# Reports jobs that failed: why, the last lines of each, and where there is more.

LINES_OF_A_JOB = 40
MOST_JOBS = 3
_GROUPS = {
    "jobs": "ai-platform jobs",
    "customJobs": "ai custom-jobs",
    "hyperparameterTuningJobs": "ai hp-tuning-jobs",
}


@dataclass(frozen=True)
class FailedJob:
    """A job that failed.

    ``program`` is the job whose log it is: of a training pipeline the one behind it.
    """

    name: str
    program: str
    message: str
    lines: Sequence[str]
    """At most LINES_OF_A_JOB, the last; with several replicas each line begins with its replica."""
    url: str
    """Of its page in the console."""

    def describe(self, flags: str = "") -> str:
        """Describes a failed job. ``flags`` are those by which commands find the server."""
        _, project, *_, kind, job_id = self.program.split("/")
        ml = kind == "jobs"
        named = [job_id, f"--project={project}"] if ml else [self.program]
        words = ["footplate", *_GROUPS[kind].split(), "stream-logs", *named, *shlex.split(flags)]
        count = len(self.lines)
        said = "It printed nothing." if not count else f"The last {count} lines of the job's log:"
        return "\n".join(
            [
                f"{self.name} failed: {self.message}",
                "The only line of the job's log:" if count == 1 else said,
                *(f"    {line}" for line in self.lines),
                f"The whole log: {shlex.join(words)}",
                f"In the console: {self.url}",
            ]
        )


def newest_job_time(connection: Connection) -> str:
    """Returns when the newest job was created, by the server's clock; '' if none exists."""
    for job in _list(connection, {"pageSize": "1"}):
        return str(job["createTime"])
    return ""


def read_failed_jobs(connection: Connection, after: str = "") -> list[FailedJob]:
    """Returns the newest MOST_JOBS failed jobs that were created ``after`` a time."""
    parts = ["state=FAILED", *([f'createTime>"{after}"'] if after else [])]
    query = {"filter": " AND ".join(parts), "pageSize": str(MOST_JOBS)}
    return [_read(connection, job) for job in _list(connection, query)]


def _read(connection: Connection, job: JsonObject) -> FailedJob:
    name = program = str(job["name"])
    if job["kind"] == "trainingPipelines":
        details = connection.call("GET", f"/footplate/v1/{quote(name)}/details")
        program = str(details["backing"])
    path = f"/footplate/v1/{quote(program)}/lines"
    params = {"back": "true", "limit": str(LINES_OF_A_JOB)}
    lines = objects(connection.call("GET", path, params=params).get("lines"))
    several = len({str(line["replica"]) for line in lines}) > 1
    texts = [
        f"{line['replica']}  {line['message']}" if several else str(line["message"])
        for line in lines
    ]
    url = f"{connection.url}/jobs/{quote(name)}"
    return FailedJob(name, program, str(job.get("message", "")), texts, url)


def _list(connection: Connection, query: dict[str, str]) -> list[JsonObject]:
    return objects(connection.call("GET", "/footplate/v1/jobs", params=query).get("jobs"))


_TRIES = 5


@dataclass(frozen=True)
class TrainingJobs:
    """The client of ``/v1/projects/{project}/jobs``."""

    _connection: Connection

    def create(self, project: str, job: JsonObject) -> TrainingJob:
        path = f"/v1/projects/{quote(project)}/jobs"
        return TrainingJob.read(project, self._connection.call("POST", path, body=job))

    def get(self, name: TrainingJobName) -> TrainingJob:
        return TrainingJob.read(name.project, self._connection.call("GET", job_path(name)))

    def list(
        self, project: str, *, condition: str = "", page_size: int | None = None
    ) -> Iterator[TrainingJob]:
        """Yields jobs that match ``condition``, a filter of the service, newest first."""
        path = f"/v1/projects/{quote(project)}/jobs"
        for resource in self._connection.list(path, "jobs", _params(condition, page_size)):
            yield TrainingJob.read(project, resource)

    def cancel(self, name: TrainingJobName) -> None:
        """Cancels a job; does nothing if it has ended."""
        self._connection.call("POST", f"{job_path(name)}:cancel", body={})

    def relabel(
        self, name: TrainingJobName, labels: Mapping[str, str], etag: str = ""
    ) -> TrainingJob:
        """Replaces the labels; with ``etag`` only if the job still has this etag."""
        body: JsonObject = {"labels": dict(labels)}
        mask = "labels"
        if etag:
            body["etag"] = etag
            mask = "labels,etag"
        answer = self._connection.call(
            "PATCH", job_path(name), params={"updateMask": mask}, body=body
        )
        return TrainingJob.read(name.project, answer)

    def change_labels(
        self,
        name: TrainingJobName,
        *,
        put: Mapping[str, str],
        remove: Collection[str] = (),
        clear: bool = False,
    ) -> TrainingJob:
        """Removes labels (``remove``, or all) and sets others; keeps concurrent changes of other
        labels.

        Raises:
            NotFound: there is no such job.
            Aborted: other clients keep changing the job's labels.
        """
        for _ in range(_TRIES - 1):
            with suppress(Aborted):
                return self._change_labels(name, put, remove, clear=clear)
        return self._change_labels(name, put, remove, clear=clear)

    def _change_labels(
        self,
        name: TrainingJobName,
        put: Mapping[str, str],
        remove: Collection[str],
        *,
        clear: bool,
    ) -> TrainingJob:
        job = self.get(name)
        kept = {} if clear else _labels(job.resource, remove)
        return self.relabel(name, {**kept, **put}, str(job.resource.get("etag") or ""))


def _labels(resource: Mapping[str, JsonValue], removed: Collection[str]) -> dict[str, str]:
    found = resource.get("labels")
    labels = found if isinstance(found, dict) else {}
    return {key: str(value) for key, value in labels.items() if key not in removed}


@dataclass(frozen=True)
class LocatedJobs(Generic[N]):
    """The client of ``/v1/projects/{project}/locations/{location}/customJobs``, or its like.

    ``kind`` is the class of the jobs' names, which contain their location.
    """

    _connection: Connection
    _kind: type[N]

    def create(self, project: str, location: str, job: JsonObject) -> LocatedJob[N]:
        path = self._path(project, location)
        return LocatedJob.read(self._kind, self._connection.call("POST", path, body=job))

    def get(self, name: N) -> LocatedJob[N]:
        return LocatedJob.read(self._kind, self._connection.call("GET", job_path(name)))

    def list(
        self, project: str, location: str, *, condition: str = "", page_size: int | None = None
    ) -> Iterator[LocatedJob[N]]:
        """Yields jobs that match ``condition``, a filter of the service, newest first."""
        path = self._path(project, location)
        key = path.rpartition("/")[2]
        for resource in self._connection.list(path, key, _params(condition, page_size)):
            yield LocatedJob.read(self._kind, resource)

    def cancel(self, name: N) -> None:
        """Cancels a job; does nothing if it has ended."""
        self._connection.call("POST", f"{job_path(name)}:cancel", body={})

    def delete(self, name: N) -> None:
        self._connection.call("DELETE", job_path(name))

    def _path(self, project: str, location: str) -> str:
        return f"/v1/{quote(self._kind(project, location, '').collection)}"


@dataclass(frozen=True)
class EveryJob:
    """The client of ``/footplate/v1/jobs``: those of all kinds, projects and regions."""

    _connection: Connection

    def list(
        self,
        place: Mapping[str, str],
        *,
        condition: str = "",
        page_size: int | None = None,
    ) -> Iterator[JsonObject]:
        """Yields jobs that match ``condition``, newest first.

        ``place`` has ``project``, ``region`` and ``kind``; an empty one matches any.
        """
        params = _params(condition, page_size, place)
        return self._connection.list("/footplate/v1/jobs", "jobs", params)

    def details(self, name: JobName) -> JsonObject:
        return self._connection.call("GET", f"{job_path(name, '/footplate/v1')}/details")

    def resource(self, name: JobName) -> JsonObject:
        """Returns the job in the form of its own API."""
        return self._connection.call("GET", job_path(name))

    def cancel(self, name: JobName) -> None:
        """Cancels a job; does nothing if it has ended."""
        self._connection.call("POST", f"{job_path(name)}:cancel", body={})

    def delete(self, name: JobName) -> None:
        """Deletes a job. Raises FailedPrecondition if it hasn't ended."""
        self._connection.call("DELETE", job_path(name, "/footplate/v1"))


def job_path(name: JobName, prefix: str = "/v1") -> str:
    return f"{prefix}/{quote(str(name))}"


def _params(
    condition: str, page_size: int | None, place: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Returns the parameters of a list; empty ones are left out."""
    size = "" if page_size is None else str(page_size)
    given = {**(place or {}), "filter": condition, "pageSize": size}
    return {name: value for name, value in given.items() if value}
