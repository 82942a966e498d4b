"""The client: everything that the service offers over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING
from urllib.parse import quote

from footplate.client.http_client import Connection
from footplate.client.jobs import EveryJob, LocatedJobs, TrainingJobs, job_path
from footplate.client.persistent_resources import PersistentResources
from footplate.client.records import Job, LogLine
from footplate.client.storage import Storage
from footplate.domain.errors import InvalidArgument, NotFound, UnknownError
from footplate.domain.names import (
    CustomJobName,
    JobName,
    TrainingJobName,
    TrainingPipelineName,
    TuningJobName,
    backing_job_name,
)
from footplate.domain.stacks import Report
from footplate.wire.footplate_v1.events import Event
from footplate.wire.footplate_v1.status import Ending, Status
from footplate.wire.json_text import JsonObject, objects
from footplate.wire.restart_counts import MOST_NAMES

if TYPE_CHECKING:
    from footplate.client.jobs import FailedJob
    from footplate.client.quotas import Quotas
    from footplate.client.validation import Validations
    from footplate.wire.footplate_v1.trials import Measurement, TrialList
    from footplate.wire.footplate_v1.usage import ReplicaUsage


@dataclass(frozen=True)
class Regions:
    """The client for regions. It returns JSON with ``name``, ``backend``, ``facts``, ..."""

    _connection: Connection

    def list(self) -> list[JsonObject]:
        """Returns the regions; ``*`` stands for all regions that the settings don't name."""
        return objects(self._connection.call("GET", "/footplate/v1/regions").get("regions"))

    def check(self, region: str) -> JsonObject:
        """Checks a region's engine now, by a job there, too; returns the report. Raises NotFound.

        The server limits the time.
        """
        path = f"/footplate/v1/regions/{quote(region, safe='')}/check"
        return self._connection.call("GET", path, unlimited=True)


@dataclass(frozen=True)
class Offers:
    _connection: Connection

    def catalogue(self) -> JsonObject:
        """Returns the catalogue: lists of resources under machineTypes, accelerators and others."""
        return self._connection.call("GET", "/footplate/v1/catalogue")

    def locations(self, project: str) -> list[JsonObject]:
        """Returns ml v1's description of each region."""
        answer = self._connection.call("GET", f"/v1/projects/{quote(project, safe='')}/locations")
        return objects(answer.get("locations"))

    def location(self, project: str, region: str) -> JsonObject:
        """Returns ml v1's description of a region. Raises NotFound."""
        place = f"projects/{quote(project, safe='')}/locations/{quote(region, safe='')}"
        return self._connection.call("GET", f"/v1/{place}")


class Service:
    """A client of the server at ``url``; close it, or use it in a ``with`` block."""

    def __init__(self, url: str, token: str | None = None, timeout_s: float = 60.0) -> None:
        self._connection = Connection(url, token, timeout_s)
        self.url = self._connection.url
        self.training_jobs = TrainingJobs(self._connection)
        self.custom_jobs = LocatedJobs(self._connection, CustomJobName)
        self.tuning_jobs = LocatedJobs(self._connection, TuningJobName)
        self.every_job = EveryJob(self._connection)
        self.storage = Storage(self._connection)
        self.offers = Offers(self._connection)
        self.persistent_resources = PersistentResources(self._connection)
        self.regions = Regions(self._connection)

    @property
    def validations(self) -> Validations:
        # Imported here: pydantic takes longer than everything else that most commands need.
        from footplate.client.validation import Validations

        return Validations(self._connection)

    @property
    def quotas(self) -> Quotas:
        # Imported here: see ``validations``.
        from footplate.client.quotas import Quotas

        return Quotas(self._connection)

    def __enter__(self) -> Service:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def health(self) -> JsonObject:
        """Returns the answer of ``/healthz``. Raises NoServer."""
        return self._connection.call("GET", "/healthz")

    def certificate_authority(self) -> str:
        """Returns the certificate, in PEM, that clients of the gRPC port must trust."""
        answer = self._connection.call("GET", "/footplate/v1/certificateAuthority")
        return str(answer["certificate"])

    def status(self) -> Status:
        """Returns an overview of the service. Raises NoServer."""
        return Status.decode(self._connection.call("GET", "/footplate/v1/status"))

    def end(self) -> Ending:
        """Cancels every active job, and stops this server when the last one has ended."""
        answer = self._connection.call("POST", "/footplate/v1/down", body={})
        return Ending.decode(answer)

    def down(self) -> int:
        """Stops the service like ``end``; returns how many jobs were active."""
        return self.end().cancelled

    def program(self, name: JobName) -> TrainingJobName | CustomJobName | TuningJobName:
        """Returns the job that runs a pipeline's program; any other job's name itself.

        Raises NotFound.
        """
        if not isinstance(name, TrainingPipelineName):
            return name
        spec = self.every_job.details(name)["spec"]
        return backing_job_name(name, tunes=isinstance(spec, dict) and bool(spec.get("tuning")))

    def job(self, name: JobName) -> Job:
        """Returns the job from either API; for a pipeline, the job that runs its program. Raises
        NotFound.
        """
        name = self.program(name)
        if isinstance(name, TrainingJobName):
            return self.training_jobs.get(name)
        if isinstance(name, CustomJobName):
            return self.custom_jobs.get(name)
        return self.tuning_jobs.get(name)

    def jobs_beside(
        self, name: JobName, *, condition: str = "", page_size: int | None = None
    ) -> Iterator[Job]:
        """Yields jobs of the same kind and place that match ``condition``, newest first."""
        name = self.program(name)
        if isinstance(name, TrainingJobName):
            return self.training_jobs.list(name.project, condition=condition, page_size=page_size)
        located = self.custom_jobs if isinstance(name, CustomJobName) else self.tuning_jobs
        return located.list(name.project, name.location, condition=condition, page_size=page_size)

    def cancel(self, name: JobName) -> None:
        """Cancels a job; does nothing if it has ended. Raises NotFound."""
        name = self.program(name)
        if isinstance(name, TrainingJobName):
            self.training_jobs.cancel(name)
        elif isinstance(name, CustomJobName):
            self.custom_jobs.cancel(name)
        else:
            self.tuning_jobs.cancel(name)

    def delete(self, name: CustomJobName | TuningJobName) -> None:
        """Deletes a job. Raises FailedPrecondition if it hasn't ended."""
        if isinstance(name, CustomJobName):
            self.custom_jobs.delete(name)
        else:
            self.tuning_jobs.delete(name)

    def logs(
        self,
        name: JobName,
        *,
        cursor: int = 0,
        follow: bool = False,
        replica: str = "",
        trial: int | None = None,
    ) -> Iterator[LogLine]:
        """Yields the lines after ``cursor`` in order of arrival; ``follow`` continues to the job's
        end.

        ``replica`` selects a replica's lines, and ``trial`` those of a tuning job's trial, followed
        to the trial's end. Raises NotFound if the job, replica or trial doesn't exist.
        """
        path = job_path(name, "/footplate/v1") + "/logs"
        params = {"cursor": str(cursor), "follow": "true" if follow else "false"}
        if replica:
            params["replica"] = replica
        if trial is not None:
            params["trial"] = str(trial)
        for resource in self._connection.lines(path, params):
            yield LogLine.read(resource)

    def usage(
        self, name: JobName, *, replica: str = "", points: int | None = None
    ) -> tuple[ReplicaUsage, ...]:
        """Returns the usage of all replicas or one, in ``points`` each. Raises NotFound."""
        # Imported here: see ``validations``.
        from footplate.wire.footplate_v1.usage import JobUsage

        asked = {"replica": replica, "points": "" if points is None else str(points)}
        params = {name: value for name, value in asked.items() if value}
        path = f"{job_path(name, '/footplate/v1')}/usage"
        return JobUsage.decode(self._connection.call("GET", path, params=params)).replicas

    def trials(self, name: JobName, condition: str = "", order_by: str = "") -> TrialList:
        """The trials of a tuning job so far that match a filter, in an order.

        Raises NotFound, or InvalidArgument: filter or order is wrong.
        """
        # Imported here: see ``validations``.
        from footplate.wire.footplate_v1.trials import TrialList

        given = {"filter": condition, "orderBy": order_by}
        params = {key: value for key, value in given.items() if value}
        return TrialList.decode(self._connection.call("GET", _trials_path(name), params=params))

    def measurements(self, name: JobName, number: int) -> tuple[Measurement, ...]:
        """Returns what a trial of the job has reported so far. Raises NotFound."""
        # Imported here: see ``validations``.
        from footplate.wire.footplate_v1.trials import Measurements

        answer = self._connection.call("GET", f"{_trials_path(name)}/{number}/measurements")
        return Measurements.decode(answer).measurements

    def stacks(self, name: JobName, replicas: Sequence[str] = ()) -> Report:
        """Collects the stacks of all replicas, or of ``replicas`` only; takes some seconds at most.

        Raises:
            NotFound: there is no such job, or it has no such replica.
            FailedPrecondition: no program of it runs.
        """
        # Imported here: see ``validations``.
        from footplate.wire.stacks import read_report

        path = f"{job_path(name, '/footplate/v1')}:stacks"
        body: JsonObject = {"replicas": [*replicas]} if replicas else {}
        answer = self._connection.call("POST", path, body=body)
        try:
            return read_report(answer)
        except InvalidArgument as error:
            raise UnknownError(f"the server sent an invalid answer: {error}") from None

    def restarts(self, names: Sequence[str]) -> dict[str, int]:
        """Returns how often jobs were restarted, by resource name, without zeros."""
        found: dict[str, int] = {}
        for start in range(0, len(names), MOST_NAMES):
            body: JsonObject = {"names": [*names[start : start + MOST_NAMES]]}
            counts = self._connection.call("POST", "/footplate/v1/restarts", body=body)
            if isinstance(each := counts.get("restarts"), dict):
                found |= {name: int(str(count)) for name, count in each.items()}
        return found

    def newest_job_time(self) -> str:
        """Returns when the newest of all jobs was created; '' if none exists."""
        # Imported here: few need it.
        from footplate.client.jobs import newest_job_time

        return newest_job_time(self._connection)

    def failed_jobs(self, after: str = "") -> list[FailedJob]:
        """Returns the newest failed jobs created ``after`` a time, with their last lines."""
        # Imported here: as above.
        from footplate.client.jobs import read_failed_jobs

        return read_failed_jobs(self._connection, after)

    def hours(self, name: JobName) -> JsonObject | None:
        """Returns ``machineHours`` and ``acceleratorHours`` so far by type, and their ``cost`` in
        ``currency``, where the server has prices; None: it is too old to know.
        """
        try:
            return self._connection.call("GET", f"{job_path(name, '/footplate/v1')}/hours")
        except NotFound:
            return None

    def machine_hours(self, project: str, start_date: str, end_date: str) -> list[JsonObject]:
        """Returns each project's use on each day. The server chooses for empty arguments."""
        asked = {"project": project, "startDate": start_date, "endDate": end_date}
        params = {name: value for name, value in asked.items() if value}
        found = self._connection.call("GET", "/footplate/v1/machineHours", params=params)
        return objects(found.get("days"))

    def events(self, name: JobName, *, after: int = 0) -> Iterator[Event]:
        """Yields the events so far, after number ``after``."""
        path = job_path(name, "/footplate/v1") + "/events"
        for resource in self._connection.lines(path, {"after": str(after)}):
            yield Event.decode(resource)


def _trials_path(name: JobName) -> str:
    return f"{job_path(name, '/footplate/v1')}/trials"
