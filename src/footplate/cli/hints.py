"""Hints for what was not found: a job, or a command."""

from __future__ import annotations

import difflib
from itertools import islice
from typing import TYPE_CHECKING

import click

from footplate.cli.jobs.kinds import list_command
from footplate.cli.session import LOOKED_FOR
from footplate.domain.errors import NotFound, ServiceError
from footplate.domain.formatting import nearest
from footplate.domain.names import TrainingJobName

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from footplate.cli.session import Session
    from footplate.client.records import Job
    from footplate.domain.names import JobName

_LOOKED_AT = 500
"""Jobs, newest first, among which one of a like name is sought."""
_TIMEOUT_S = 5.0
_MOST = 3
"""Of things that are named at once."""


def way_out(error: ServiceError, ctx: click.Context) -> str:
    """Returns lines to add to ``error`` if the job of the command line was not found."""
    looked_for = ctx.meta.get(LOOKED_FOR)
    if looked_for is None or not isinstance(error, NotFound):
        return ""
    session, name = looked_for
    if f"{name} " not in error.message:
        return ""
    lines = ["", *_guess(session, name), f"  list them: {list_command(name, session.flags)}"]
    return "\n".join(lines)


def _guess(session: Session, name: JobName) -> Iterator[str]:
    try:
        elsewhere = _elsewhere(session, name)
    except ServiceError:
        elsewhere = []
    if elsewhere:
        yield f"  these other jobs have the id: {', '.join(elsewhere)}"
        yield f"  show one: footplate jobs describe {elsewhere[0]}"
        return
    try:
        beside = list(islice(_beside(session, name), _LOOKED_AT))
    except ServiceError:
        return
    known = [job.name.job_id for job in beside]
    shown = [job for job in beside if job.resource.get("displayName") == name.job_id]
    hint = nearest(name.job_id, known, "jobs") if known else ""
    if shown:
        newest = shown[0].name
        yield f"  the job {newest} has this display name{_and_more(len(shown) - 1)}"
    elif hint.startswith("did you mean"):
        yield f"  {hint}"
    elif not known:
        others = "choose another project with --project"
        if not isinstance(name, TrainingJobName):
            others = "choose others with --project and --region"
        yield f"  {name.collection} has no jobs; {others}"


def _elsewhere(session: Session, name: JobName) -> list[str]:
    """Returns the names of some jobs with this id, whatever their kind, project and region."""
    condition = f'jobId="{name.job_id}"'
    with session.connect(timeout_s=_TIMEOUT_S) as service:
        found = islice(service.every_job.list({}, condition=condition), _MOST)
        return [str(job["name"]) for job in found]


def _and_more(count: int) -> str:
    return f", and {count} older job{'s' * (count > 1)}" if count else ""


def _beside(session: Session, name: JobName) -> Iterator[Job]:
    with session.connect(timeout_s=_TIMEOUT_S) as service:
        yield from service.jobs_beside(name)


_GCLOUD = "leave the word gcloud out: `footplate` takes the words that follow gcloud"
_STORAGE = "buckets are in `footplate storage`"
_TRAINING_ONLY = "Footplate trains models, but neither keeps nor serves them"
_MODELS = "`gcloud ai models` lists and changes models, under `footplate env`"
_MAKERS = "`ai-platform jobs submit` and `ai custom-jobs create` make jobs"
UNSUPPORTED_COMMANDS: Mapping[str, Mapping[str, str]] = {
    "footplate": {"gcloud": _GCLOUD, "gsutil": _STORAGE, "logs": "see `footplate jobs logs`"},
    "ai": {
        **dict.fromkeys(("endpoints", "model-garden", "indexes"), _TRAINING_ONLY),
        "models": _MODELS,
    },
    "ai-platform": dict.fromkeys(("models", "versions", "predict", "explain"), _TRAINING_ONLY),
    "jobs": {
        **dict.fromkeys(("submit", "create", "run"), _MAKERS),
        "stream-logs": "`footplate jobs logs --follow` follows a job",
        "delete": "`footplate jobs delete` takes jobs of all kinds",
        "prune": "`footplate jobs prune` takes jobs of all kinds",
    },
    "hp-tuning-jobs": {
        "import": "create a study and its trials with a client of Vizier, and give the study's "
        "id to `create --learn-from`"
    },
    "storage": {
        "mb": "`footplate storage buckets create` makes a bucket",
        "mv": "use `cp`, then `rm`",
    },
}
"""By group: what others have of that name, and what there is in its place."""


def hint(group: click.Group, ctx: click.Context, word: str) -> str:
    """Returns a sentence about an unknown command, with a space before it; or ''."""
    absent = UNSUPPORTED_COMMANDS.get(group.name or "", {}).get(word)
    if absent is not None:
        return f" {absent[0].upper()}{absent[1:]}."
    names = group.list_commands(ctx)
    near = difflib.get_close_matches(word, names, n=1)
    if near:
        return f" Did you mean {near[0]!r}?"
    deeper = [" ".join(path) for path in _deeper(group, ctx, word)]
    if 0 < len(deeper) <= _MOST:
        return f" Did you mean {' or '.join(map(repr, deeper))}?"
    return f" Did you mean '{names[0]} {word}'?" if len(names) == 1 else ""


def _deeper(group: click.Group, ctx: click.Context, word: str) -> Iterator[tuple[str, ...]]:
    """Yields the groups below this one that have a command of that name."""
    for name in group.list_commands(ctx):
        below = group.get_command(ctx, name)
        if not isinstance(below, click.Group):
            continue
        if word in below.list_commands(ctx):
            yield name, word
        else:
            yield from ((name, *path) for path in _deeper(below, ctx, word))
