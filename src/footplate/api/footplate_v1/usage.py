"""Routes of Footplate's own API: resource usage of a job's replicas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.domain.jobs import Job
from footplate.domain.names import JobName, parse_job_name
from footplate.domain.replica_names import choose_replica
from footplate.domain.tuning.trial_programs import check_runs_itself
from footplate.ports.usage import UsageHistory
from footplate.wire.footplate_v1.usage import JobUsage, ReplicaUsage
from footplate.wire.json_text import JsonObject

DEFAULT_POINTS = 60
MOST_POINTS = 1000
_ALL = 100_000
"""More points than are kept of any replica."""


def usage_routes(history: UsageHistory, get_job: Callable[[JobName], Job]) -> list[Route]:
    """Returns the routes; ``get_job`` raises NotFound."""
    api = _Usage(history, get_job)
    return [json_route("/footplate/v1/{name:path}/usage", {"GET": api.get})]


@dataclass(frozen=True)
class _Usage:
    _history: UsageHistory
    _get_job: Callable[[JobName], Job]

    def get(self, call: Call) -> JsonObject:
        """Returns the use of ``?replica=NAME`` (without it of all), in ``?points=NUMBER`` each.

        Leaves out replicas without data. Raises FailedPrecondition for a tuning job, which runs no
        program itself.
        """
        job = self._get_job(parse_job_name(call.path["name"]))
        check_runs_itself(job)
        most = call.number("points", DEFAULT_POINTS, 1, MOST_POINTS)
        names = job.spec.replica_names()
        if wanted := call.parameter("replica"):
            names = (choose_replica(wanted, names),)
        known = set(self._history.replicas(job.uid))
        found = []
        for name in names:
            points = self._history.read(job.uid, name, _ALL) if name in known else ()
            if points:
                found.append(ReplicaUsage.of(name, points, most, ended=job.state.terminal))
        return JobUsage(replicas=tuple(found)).encode()
