"""Values for tab completion, from the running service.

It must be quick, and never in the way: without a service, or with one that doesn't answer at
once, nothing is offered, and nothing is said.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

from footplate.catalogue.runtimes import load
from footplate.cli.defaults import DEFAULT_PROJECT, DEFAULT_REGION, PROJECT_VARIABLES
from footplate.cli.jobs.kinds import KINDS, TRAINING
from footplate.cli.session import Session
from footplate.cli.trials.fields import fields
from footplate.domain.names import TuningJobName
from footplate.wire.json_text import objects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import click

    from footplate.client.service import Service
    from footplate.domain.names import JobName

    Offered = Iterable[tuple[str, str]]
    """Values, each with a word on it."""
    Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_TIMEOUT_S = 1.0
_MOST = 200
_PLACE = "gs://"
_QUOTED = frozenset(" ,~'\"")
"""A field whose name has one of these is written with quotes."""


def _completion(
    find: Callable[[Service, click.Context, str], Offered],
) -> Complete:
    """Returns a completion that offers the results of ``find`` that begin with the word."""

    def complete(
        ctx: click.Context, _parameter: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        try:
            with _session(ctx).connect(timeout_s=_TIMEOUT_S) as service:
                found = [*islice(find(service, ctx, incomplete), _MOST)]
        except Exception:  # any error: completion has no use for it
            return []
        return _begun(found, incomplete)

    return complete


def _begun(found: Offered, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(v, help=text) for v, text in found if v.startswith(incomplete)]


def _session(ctx: click.Context) -> Session:
    """Returns a session from the environment and the command line so far."""
    given = ctx.params
    named = (os.environ.get(name) for name in PROJECT_VARIABLES)
    project = given.get("project") or next(filter(None, named), DEFAULT_PROJECT)
    url = given.get("url") or os.environ.get("FOOTPLATE_URL")
    return Session(project, url, given.get("data_dir") or os.environ.get("FOOTPLATE_DATA_DIR"))


def _name(ctx: click.Context, text: str) -> JobName:
    """Returns the name of the job that ``text`` stands for in the command's group."""
    session, region = _session(ctx), ctx.params.get("region") or DEFAULT_REGION
    group = ctx.parent.info_name if ctx.parent else ""
    kind = next((k for k in KINDS.values() if k.group.endswith(f" {group}")), TRAINING)
    name: JobName = session.job(kind, text, region)
    return name


def _job(ctx: click.Context) -> JobName:
    """Returns the job on the command line.

    After an option without a value, click leaves the job among the remaining arguments.
    """
    return _name(ctx, str(ctx.params.get("job") or next(iter(ctx.args), "")))


def _jobs(service: Service, ctx: click.Context, _incomplete: str) -> Offered:
    for job in service.jobs_beside(_name(ctx, "any")):
        shown = str(job.resource.get("displayName") or "")
        yield job.name.job_id, " ".join(filter(None, (job.state.value, shown)))


def _every_job(service: Service, ctx: click.Context, _incomplete: str) -> Offered:
    """Yields jobs of all kinds in the project and region of the command line."""
    place = {name: str(ctx.params.get(name) or "") for name in ("project", "region")}
    for job in service.every_job.list(place):
        text = " ".join(str(job.get(name) or "") for name in ("state", "project", "displayName"))
        yield str(job["jobId"]), text.strip()


def _searches(service: Service, ctx: click.Context, _incomplete: str) -> Offered:
    """Yields the tuning jobs of the API that the command uses."""
    for job in service.jobs_beside(_name(ctx, "any")):
        given = job.resource.get("trainingInput")
        tunes = isinstance(given, dict) and "hyperparameters" in given
        if tunes or isinstance(job.name, TuningJobName):
            yield job.name.job_id, job.state.value


def _trial_fields(service: Service, ctx: click.Context, incomplete: str) -> Offered:
    """Completes the last field of a list, without fields that would need quotes."""
    before, comma, last = incomplete.rpartition(",")
    descending = "~" if last.startswith("~") else ""
    for field in fields(service.trials(_job(ctx))):
        if not _QUOTED & set(field.name):
            yield f"{before}{comma}{descending}{field.name}", ""


def _trials(service: Service, ctx: click.Context, _incomplete: str) -> Offered:
    for trial in service.trials(_job(ctx)).trials:
        yield str(trial.number), trial.state


def _replicas(service: Service, ctx: click.Context, _incomplete: str) -> Offered:
    for usage in service.usage(_job(ctx), points=1):
        yield usage.replica, ""


def _regions(service: Service, _ctx: click.Context, _incomplete: str) -> Offered:
    return _catalogue(service, "regions")


def _machine_types(service: Service, _ctx: click.Context, _incomplete: str) -> Offered:
    return _catalogue(service, "machineTypes")


def _accelerators(service: Service, _ctx: click.Context, incomplete: str) -> Offered:
    """Completes accelerators in the spelling that was begun; gcloud's is ``nvidia-tesla-t4``."""
    for name, text in _catalogue(service, "accelerators"):
        yield (name if incomplete[:1].isupper() else name.lower().replace("_", "-")), text


def _catalogue(service: Service, kind: str) -> Iterator[tuple[str, str]]:
    for entry in objects(service.offers.catalogue().get(kind)):
        yield str(entry["name"]), ""


def _projects(service: Service, _ctx: click.Context, _incomplete: str) -> Offered:
    """Completes projects: those with quotas, and the default one. The service lists no others."""
    known = {quota.project for quota in service.quotas.list()} - {"*"}
    for project in sorted({*known, DEFAULT_PROJECT}):
        yield project, ""


def _places(service: Service, ctx: click.Context, incomplete: str) -> Offered:
    """Completes buckets and, after a bucket's name, its content, one level at a time."""
    session = _session(ctx)
    place = incomplete.removeprefix("gs://")
    bucket, slash, path = place.partition("/")
    if not slash:
        for found in service.storage.buckets(session.project):
            yield f"gs://{found.name}/", ""
        return
    folder = path.rpartition("/")[0]
    prefix = f"{folder}/" if folder else ""
    level = service.storage.level(bucket, prefix)
    for name in (*level.prefixes, *(stored.name for stored in level.objects)):
        yield f"gs://{bucket}/{name}", ""


def files(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Completes files of this machine, which the shell itself finds."""
    return [CompletionItem(incomplete, type="file")]


def places_or_files(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Completes places in buckets if any match, or else files."""
    if incomplete and incomplete[: len(_PLACE)] == _PLACE[: len(incomplete)]:
        return places(ctx, parameter, incomplete) or files(ctx, parameter, incomplete)
    return files(ctx, parameter, incomplete)


places = _completion(_places)


def runtime_versions(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Completes the built-in runtime versions; needs no running service."""
    found = [(v, f"Python {o.runtime.python}") for o in load().offers for v in o.versions]
    return _begun(found, incomplete)


COMPLETIONS: Mapping[str, Complete] = {
    "jobs": _completion(_jobs),
    "every_job": _completion(_every_job),
    "searches": _completion(_searches),
    "trials": _completion(_trials),
    "trial_fields": _completion(_trial_fields),
    "replicas": _completion(_replicas),
    "regions": _completion(_regions),
    "machine_types": _completion(_machine_types),
    "accelerators": _completion(_accelerators),
    "projects": _completion(_projects),
    "places": places,
    "files": files,
    "places_or_files": places_or_files,
    "runtime_versions": runtime_versions,
}
