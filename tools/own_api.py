"""The operations of Footplate's own API: each route of ``/footplate/v1``, with its models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from footplate.domain import stacks
from footplate.wire.footplate_v1 import package_checks, quotas, trials, usage, verdicts
from footplate.wire.json_text import JsonObject
from tools import own_api_answers as answers

V1 = "/footplate/v1"
_JOB = f"{V1}/{{name:path}}"
_PROJECT = f"{V1}/projects/{{project}}"
_REGION = f"{_PROJECT}/locations/{{location}}"
_LOCATED = ("customJobs", "hyperparameterTuningJobs", "trainingPipelines")

PARAMETERS: dict[str, tuple[str, str]] = {
    "after": ("integer", "the number of the last event that is known"),
    "at": ("integer", "any position up to `size`; the page begins at the nearest line"),
    "attempt": ("integer", "lines of this attempt"),
    "back": ("boolean", "the lines before `cursor`, or before the end"),
    "contains": ("string", "lines with this text, in upper or lower case"),
    "cursor": ("integer", "the lines after this position"),
    "endDate": ("string", "the last day, in UTC; without it today"),
    "filter": ("string", "as in [all lists](cli.md#what-all-have-in-common)"),
    "follow": ("boolean", "the answer goes on until the job ends"),
    "kind": ("string", "`jobs` or a kind of Vertex AI's, such as `customJobs`"),
    "limit": ("integer", "lines of a page: 200 without it, at most 5000"),
    "makesBucket": ("boolean", "the client will create the bucket of `staging`, too"),
    "orderBy": ("string", "a field, perhaps with ` desc`; several with commas"),
    "pageSize": ("integer", "items of a page"),
    "pageToken": ("string", "of the page before"),
    "points": ("integer", "at most so many points of each series"),
    "project": ("string", "of this project alone"),
    "region": ("string", "of this region alone"),
    "replica": ("string", "of this replica alone"),
    "rule": ("string", "`halving`, `median`, `decayCurve` or `convex`"),
    "severity": ("string", "lines of this severity and graver ones"),
    "staging": ("string", "`gs://BUCKET/PREFIX`: what lies below it will be uploaded later"),
    "startDate": ("string", "the first day, in UTC; an answer has at most 92"),
    "trial": ("string", "the number of a trial of a tuning job: the lines of its job"),
    "uses": ("array", "`PATTERN:PLACE`, a match that the client found in the packages"),
}
"""The query parameters by name: type and meaning."""


@dataclass(frozen=True)
class Operation:
    """What a route does. ``lines``: the answer is one JSON object a line."""

    says: str
    answer: Any
    request: Any = None
    query: tuple[str, ...] = ()
    lines: bool = False


_PAGES = ("pageSize", "pageToken")
_STAGING = ("makesBucket", "staging", "uses")
_PROGRAMS = "Not of tuning jobs and pipelines, which run no program themselves."

SECTIONS: dict[str, dict[tuple[str, str], Operation]] = {
    "Jobs": {
        ("GET", f"{V1}/jobs"): Operation(
            "Lists the jobs of all kinds, projects and regions, newest first. Without `kind`, a "
            "training pipeline stands for the job that runs its program.",
            answers.JobPage,
            query=("project", "region", "kind", "filter", "orderBy", *_PAGES),
        ),
        ("GET", f"{_JOB}/details"): Operation(
            "Returns all that is known of a job.", answers.JobDetails
        ),
        ("GET", f"{V1}/collections"): Operation(
            "Lists the collections that have jobs.", answers.Collections
        ),
        ("GET", f"{V1}/changes"): Operation(
            "Returns a number that grows whenever a job changes.", answers.Changes
        ),
        **{
            (verb, path): operation
            for path in (
                f"{_PROJECT}/jobs/{{job_id}}",
                *(f"{_REGION}/{k}/{{job_id}}" for k in _LOCATED),
            )
            for verb, operation in (
                (
                    "PATCH",
                    Operation(
                        "Changes the labels and the note of a job. Missing fields stay.",
                        answers.JobDetails,
                        answers.JobPatch,
                    ),
                ),
                (
                    "DELETE",
                    Operation(
                        "Deletes a job that has ended, with its trials, log and usage.",
                        answers.Nothing,
                    ),
                ),
            )
        },
        ("POST", f"{V1}/restarts"): Operation(
            "Returns how often jobs were restarted.", answers.Restarts, answers.RestartsRequest
        ),
    },
    "Before a job": {
        **{
            ("POST", f"{path}:validate"): Operation(
                "Checks a job, and plans it, without submitting it. The body is that of the create "
                "request. What is wrong with the job is the answer, not an error.",
                verdicts.Verdict,
                JsonObject,
                _STAGING,
            )
            for path in (f"{_PROJECT}/jobs", *(f"{_REGION}/{kind}" for kind in _LOCATED))
        },
        **{
            ("POST", f"{path}:checkPackages"): Operation(
                "Resolves the packages of a job, without submitting it.",
                package_checks.PackageChecks,
                answers.PackageCheckRequest,
                _STAGING,
            )
            for path in (f"{_PROJECT}/jobs", *(f"{_REGION}/{kind}" for kind in _LOCATED))
        },
    },
    "Logs and events": {
        ("GET", f"{_JOB}/logs"): Operation(
            "Streams the lines of a job's programs. An empty line is a sign of life.",
            answers.LogLine,
            query=("cursor", "follow", "replica", "trial"),
            lines=True,
        ),
        ("GET", f"{_JOB}/lines"): Operation(
            "Returns a page of lines, from any place and in both directions. A page may have fewer "
            "lines than `limit`, or none, without being the last.",
            answers.LogPage,
            query=("cursor", "at", "back", "limit", "replica", "attempt", "severity", "contains"),
        ),
        ("GET", f"{_JOB}/events"): Operation(
            "Lists the events of a job.", answers.Event, query=("after",), lines=True
        ),
    },
    "Figures of a job": {
        ("GET", f"{_JOB}/usage"): Operation(
            f"Returns what the replicas of a job use and used. {_PROGRAMS}",
            usage.JobUsage,
            query=("replica", "points"),
        ),
        ("GET", f"{_JOB}/metrics"): Operation(
            f"Returns the metrics that the programs of a job reported. {_PROGRAMS}",
            answers.Metrics,
            query=("points",),
        ),
        ("GET", f"{_JOB}/hours"): Operation(
            "Returns the hours of machines and accelerators that a job has used.", answers.Hours
        ),
        ("POST", f"{_JOB}:stacks"): Operation(
            f"Collects the stack traces of a running job, and compares them. {_PROGRAMS}",
            stacks.Report,
            answers.StacksRequest,
        ),
    },
    "Trials of tuning jobs": {
        ("GET", f"{_JOB}/trials"): Operation(
            "Lists the trials of a tuning job, each with the reason why its point was tried.",
            trials.TrialList,
            query=("filter", "orderBy"),
        ),
        ("GET", f"{_JOB}/trials/{{number}}/measurements"): Operation(
            "Lists all measurements of a trial.", trials.Measurements
        ),
        ("GET", f"{_JOB}/curves"): Operation(
            "Returns the curves of all trials.", answers.Curves, query=("points",)
        ),
        ("GET", f"{_JOB}/replay"): Operation(
            "Returns which trials a rule of early stopping would have stopped.",
            answers.Replay,
            query=("rule",),
        ),
    },
    "Capacity": {
        ("GET", f"{V1}/catalogue"): Operation(
            "Returns the catalogue: machine types, accelerators, regions, scale tiers, runtimes.",
            answers.Catalogue,
        ),
        ("GET", f"{V1}/regions"): Operation(
            "Lists what regions are bound to, and how much of it is held.", answers.Regions
        ),
        ("GET", f"{V1}/regions/{{region}}/check"): Operation(
            "Asks a region's engine, which may take a minute.", answers.Region
        ),
        ("GET", f"{V1}/quotas"): Operation(
            "Lists the quotas that are set, those of `*` first.", quotas.Quotas
        ),
        ("GET", f"{_PROJECT}/locations/{{region}}/quota"): Operation(
            "Returns the limits in force for a project in a region. `*` stands for each.",
            quotas.Quota,
        ),
        ("PATCH", f"{_PROJECT}/locations/{{region}}/quota"): Operation(
            "Sets the limits that the body names.", quotas.Quota, answers.QuotaChange
        ),
        ("DELETE", f"{_PROJECT}/locations/{{region}}/quota"): Operation(
            "Removes all limits that were set. The answer has those in force then.", quotas.Quota
        ),
        ("GET", f"{V1}/machineHours"): Operation(
            "Returns the hours that jobs used, by day and project.",
            answers.DailyHours,
            query=("project", "startDate", "endDate"),
        ),
        ("GET", f"{V1}/places"): Operation(
            "Lists projects and regions that have experiments, TensorBoards, datasets or models.",
            answers.Places,
        ),
    },
    "The service": {
        ("GET", f"{V1}/status"): Operation("Returns the service at a glance.", answers.Status),
        ("POST", f"{V1}/down"): Operation(
            "Cancels all active jobs, and stops the server when the last one has ended.",
            answers.Ending,
        ),
        ("GET", f"{V1}/limits"): Operation(
            "Lists what this machine enforces on programs, and what it can't.",
            answers.MachineLimits,
        ),
        ("GET", f"{V1}/environments"): Operation(
            "Lists the environments of programs in the cache.", answers.Environments
        ),
        ("GET", f"{V1}/audit"): Operation(
            "Lists who changed what, newest first.", answers.AuditPage, query=_PAGES
        ),
        ("GET", f"{V1}/certificateAuthority"): Operation(
            "Returns the certificate that clients of gRPC and of the proxy trust.",
            answers.Authority,
        ),
        ("GET", f"{V1}/proxy"): Operation(
            "Returns where the proxy is, and which hosts it refused.", answers.Proxy
        ),
    },
}
"""By heading of the page, verb and route."""
OPERATIONS = {key: each for section in SECTIONS.values() for key, each in section.items()}
