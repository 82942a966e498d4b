"""Client of stack traces of running jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.client.jobs import job_path
from footplate.domain.errors import InvalidArgument, UnknownError
from footplate.wire.stacks import read_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.client.http_client import Connection
    from footplate.domain.names import JobName
    from footplate.domain.stacks import Report
    from footplate.wire.json_text import JsonObject


@dataclass(frozen=True)
class Collected:
    """A collected report; ``resource`` is the server's JSON."""

    report: Report
    resource: JsonObject


@dataclass(frozen=True)
class Stacks:
    _connection: Connection

    def collect(self, name: JobName, replicas: Sequence[str] = ()) -> Collected:
        """Collects the stacks of all replicas or of ``replicas``, which takes a few seconds at
        most.

        Raises:
            NotFound: there is no such job, or it has no such replica.
            FailedPrecondition: no program of the job runs.
        """
        path = job_path(name, "/footplate/v1") + ":stacks"
        body: JsonObject = {"replicas": [*replicas]} if replicas else {}
        resource = self._connection.call("POST", path, body=body)
        try:
            return Collected(read_report(resource), resource)
        except InvalidArgument as error:
            raise UnknownError(f"the server sent an invalid answer: {error}") from None
