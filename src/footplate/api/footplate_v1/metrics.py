"""Route of Footplate's own API: the metrics that a job's programs reported."""

from __future__ import annotations

from collections.abc import Callable

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.domain.jobs import Job
from footplate.domain.metric_series import MOST_POINTS, ReportedMetrics
from footplate.domain.names import JobName, parse_job_name
from footplate.domain.tuning.trial_programs import check_runs_itself
from footplate.wire.footplate_v1.metrics import metrics_json
from footplate.wire.json_text import JsonObject

DEFAULT_POINTS = 100


def metrics_routes(
    read: Callable[[Job], ReportedMetrics], get_job: Callable[[JobName], Job]
) -> list[Route]:
    """Returns the route; ``read`` returns a job's metrics so far, ``get_job`` raises NotFound."""

    def get(call: Call) -> JsonObject:
        """Returns at most ``?points=NUMBER`` of each series.

        Where ``more`` is true the next answer has more.

        Raises FailedPrecondition for a tuning job or a pipeline, which run no program themselves.
        """
        job = get_job(parse_job_name(call.path["name"]))
        check_runs_itself(job)
        points = call.number("points", DEFAULT_POINTS, 2, MOST_POINTS)
        return metrics_json(read(job), points)

    return [json_route("/footplate/v1/{name:path}/metrics", {"GET": get})]
