"""Routes of Footplate's own API: jobs of all kinds together, and all that is known of one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.control.costs import Costs, Use
from footplate.control.job_lists import JobLists, Place
from footplate.control.jobs import Jobs
from footplate.domain.daily_hours import MOST_DAYS, Days
from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.formatting import quoted
from footplate.domain.jobs import Job
from footplate.domain.names import (
    CustomJobName,
    JobName,
    TrainingJobName,
    TrainingPipelineName,
    TuningJobName,
    parse_job_name,
    pipeline_name,
    pipeline_uid,
    unknown_region,
)
from footplate.wire.filters.jobs import parse_filter
from footplate.wire.footplate_v1.job_patches import read_job_patch
from footplate.wire.footplate_v1.jobs import PAGES, VOCABULARY, brief_json, details_json
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.list_order import parse_order
from footplate.wire.paging import format_token, parse_token

# Routes of Footplate's own API: what jobs hold, have used, and cost.

DEFAULT_DAYS = 30


def hours_routes(costs: Costs, get_job: Callable[[JobName], Job]) -> list[Route]:
    """Returns the routes; ``get_job`` raises NotFound."""
    api = _Hours(costs, get_job)
    return [
        json_route("/footplate/v1/machineHours", {"GET": api.daily}),
        json_route("/footplate/v1/{name:path}/hours", {"GET": api.of_job}),
    ]


@dataclass(frozen=True)
class _Hours:
    _costs: Costs
    _get_job: Callable[[JobName], Job]

    def of_job(self, call: Call) -> JsonObject:
        """Returns the hours that a job has used so far, by type, and their cost."""
        return _use_json(self._costs.used(self._get_job(parse_job_name(call.path["name"]))))

    def daily(self, call: Call) -> JsonObject:
        """Returns hours by day of UTC and project.

        ``?project=&startDate=2026-11-01&endDate=2026-11-30`` chooses them.

        Both dates are included, at most 92 days; the default is the last 30. Deleted jobs aren't
        counted.
        """
        days = read_days(
            call.parameter("startDate", "start_date"),
            call.parameter("endDate", "end_date"),
            self._costs.today(),
        )
        found = self._costs.daily(days, call.parameter("project") or "")
        return {
            "startDate": days.first.isoformat(),
            "endDate": days.last.isoformat(),
            "timeZone": "UTC",
            "days": [
                {"date": day.isoformat(), "project": project, **_use_json(use)}
                for day, project, use in found
            ],
        }


def read_days(start: str | None, end: str | None, today: date) -> Days:
    """Returns the days between two dates. Raises InvalidArgument if there are none, too many, or
    future days.
    """
    last = _read_date("endDate", end, today) or today
    fallback = date.fromordinal(max(1, last.toordinal() - DEFAULT_DAYS + 1))
    first = _read_date("startDate", start, today) or fallback
    least = last - timedelta(days=min(MOST_DAYS, last.toordinal()) - 1)
    if not least <= first <= last:
        rule = (
            f"allowed: a day from {least} to {last}, because an answer has at most {MOST_DAYS} days"
        )
        raise InvalidArgument.of((Violation("startDate", f"{first} given; {rule}"),))
    return Days(first, last)


def _read_date(field: str, text: str | None, today: date) -> date | None:
    if not text:
        return None
    try:
        found = date.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found > today:
        rule = f"allowed: today ({today} in UTC) or an earlier day"
        raise InvalidArgument.of((Violation(field, f"{describe(text)} given; {rule}"),))
    return found


def _use_json(use: Use) -> JsonObject:
    return {
        "machineHours": {**use.hours.machines},
        "acceleratorHours": {**use.hours.accelerators},
        **_cost(use),
    }


def per_hour_json(use: Use) -> JsonObject:
    """Returns how many machines and accelerators a job holds, and what they cost per hour."""
    hours = use.hours
    return {
        "machines": round(sum(hours.machines.values())),
        "accelerators": round(sum(hours.accelerators.values())),
        **_cost(use),
    }


def _cost(use: Use) -> JsonObject:
    return {} if use.cost is None else {"cost": use.cost, "currency": use.currency}


_NEWER = "<"
"""With this begins what a token holds that leads to newer jobs; no key of a store does."""


_LOCATED = (CustomJobName, TuningJobName, TrainingPipelineName)
KINDS = ("jobs", *(kind.KIND for kind in _LOCATED))
_TRAINING = 3
"""Parts of a collection that has no region: ``projects/P/jobs``."""


def jobs_routes(
    lists: JobLists,
    jobs: Jobs,
    costs: Costs,
    changes: Callable[[], int],
    regions: Collection[str],
) -> list[Route]:
    """Returns the routes; ``changes`` returns a number that grows with each write to a job.

    ``regions`` are the known ones.
    """
    api = _JobsApi(lists, jobs, costs, changes, regions)
    return [
        json_route("/footplate/v1/jobs", {"GET": api.list}),
        json_route("/footplate/v1/collections", {"GET": api.collections}),
        json_route("/footplate/v1/changes", {"GET": api.changes}),
        *_changes(api),
        json_route("/footplate/v1/{name:path}/details", {"GET": api.details}),
        *hours_routes(costs, jobs.get),
    ]


def _changes(api: _JobsApi) -> list[Route]:
    """Returns a route for each kind of job: the audit log reads changes from the routes' paths."""
    located = "/footplate/v1/projects/{project}/locations/{location}"
    paths = {f"{located}/{kind.KIND}/{{job_id}}": kind for kind in _LOCATED}
    training = "/footplate/v1/projects/{project}/jobs/{job_id}"
    return [
        json_route(path, {"DELETE": partial(api.delete, kind), "PATCH": partial(api.patch, kind)})
        for path, kind in {training: TrainingJobName, **paths}.items()
    ]


@dataclass(frozen=True)
class _JobsApi:
    _lists: JobLists
    _jobs: Jobs
    _costs: Costs
    _changes: Callable[[], int]
    _regions: Collection[str]

    def list(self, call: Call) -> JsonObject:
        """Lists jobs, newest first.

        ``?project=&region=&kind=&filter=&orderBy=&pageSize=&pageToken=`` choose them.

        The newest come first. Without ``kind``, a training pipeline stands for the job that runs
        its program. ``previousPageToken`` leads to newer jobs, as ``nextPageToken`` does to older
        ones; it's missing with another order.
        """
        place = Place(*(call.parameter(name) or "" for name in ("project", "region", "kind")))
        regions = self._known_regions()
        if place.region and place.region not in regions:
            raise unknown_region("region", place.region, regions)
        if place.kind not in ("", *KINDS):
            text = f"unknown kind {quoted(place.kind)}; allowed: {', '.join(KINDS)}"
            raise InvalidArgument.of((Violation("kind", text),))
        text = call.parameter("filter") or ""
        order = call.parameter("orderBy", "order_by") or ""
        asked = f"{place}?{text}" + (f"&{order}" if order else "")
        key = parse_token(call.parameter("pageToken", "page_token"), asked) or ""
        newer = key.startswith(_NEWER)
        page = self._lists.list(
            place,
            where=parse_filter(text, replace(VOCABULARY, regions=regions)),
            limit=PAGES.size(call.parameter("pageSize", "page_size")),
            before=key.removeprefix(_NEWER) if newer else None,
            after=None if newer else key or None,
            order=parse_order(order, VOCABULARY.fields),
            once=True,
        )
        answer: JsonObject = {
            "jobs": [
                brief_json(job, self._jobs.explain(job), self._per_hour(job)) for job in page.jobs
            ]
        }
        if page.next_key is not None:
            answer["nextPageToken"] = format_token(page.next_key, asked)
        if page.previous_key is not None:
            answer["previousPageToken"] = format_token(_NEWER + page.previous_key, asked)
        return answer

    def _known_regions(self) -> frozenset[str]:
        """Returns the regions of the catalogue, and those of jobs under an earlier catalogue."""
        parts = (name.split("/") for name in self._lists.collections())
        return frozenset({*self._regions, *(part[3] for part in parts if len(part) > _TRAINING)})

    def collections(self, _call: Call) -> JsonObject:
        return {"collections": [*self._lists.collections()]}

    def changes(self, _call: Call) -> JsonObject:
        """Returns a number that changes whenever a job changes."""
        return {"changes": self._changes()}

    def details(self, call: Call) -> JsonObject:
        job = self._jobs.get(parse_job_name(call.path["name"]))
        details = details_json(job, self._jobs.explain(job), self._per_hour(job))
        return details | self._find_pipeline(job)

    def _find_pipeline(self, job: Job) -> JsonObject:
        """Returns the pipeline whose program the job runs; {} if there is none."""
        if pipeline_uid(job.uid) is None:
            return {}
        name = pipeline_name(job.name)
        with suppress(NotFound):
            self._jobs.get(name)
            return {"pipeline": str(name)}
        return {}

    def delete(self, kind: Callable[..., JobName], call: Call) -> JsonObject:
        """Deletes a finished job of any kind: ``DELETE /footplate/v1/JOB_NAME``.

        Deletes its trials, log and usage too, and for a pipeline the job that runs its program.
        """
        self._jobs.delete(kind(**call.path), backing=True)
        return {}

    def patch(self, kind: Callable[..., JobName], call: Call) -> JsonObject:
        """Changes labels and note of a job: ``{"labels": {...}, "note": "..."}``.

        Google's Vertex AI API has no method for this. Missing fields stay unchanged.
        """
        patch = read_job_patch(call.body())
        job = self._jobs.annotate(kind(**call.path), patch.labels, patch.note)
        return details_json(job, self._jobs.explain(job), self._per_hour(job))

    def _per_hour(self, job: Job) -> JsonObject | None:
        use = self._costs.per_hour(job)
        return None if use is None else per_hour_json(use)
