"""Reports jobs that failed: why, the last lines of each, and where there is more."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from footplate.wire.json_text import objects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.client.http_client import Connection
    from footplate.wire.json_text import JsonObject

LINES = 40
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
    """The last LINES at most; of a job with several replicas each begins with the replica."""
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
    params = {"back": "true", "limit": str(LINES)}
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
