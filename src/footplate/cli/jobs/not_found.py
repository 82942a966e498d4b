"""Hints for a job that was not found: where else to look."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from footplate.cli.jobs.kinds import list_command
from footplate.cli.session import LOOKED_FOR
from footplate.domain.errors import NotFound, ServiceError
from footplate.domain.formatting import nearest
from footplate.domain.names import TrainingJobName

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

    from footplate.cli.session import Session
    from footplate.client.records import Job
    from footplate.domain.names import JobName

_LOOKED_AT = 500
"""Jobs, newest first, among which one of a like name is sought."""
_TIMEOUT_S = 5.0


def way_out(error: ServiceError, ctx: click.Context) -> str:
    """Lines to add to ``error`` if the job of the command line was not found."""
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
        beside = list(islice(_beside(session, name), _LOOKED_AT))
    except ServiceError:
        return
    known = [job.name.job_id for job in beside]
    shown = [job for job in beside if job.resource.get("displayName") == name.job_id]
    hint = nearest(name.job_id, known, "jobs") if known else ""
    if shown:
        newest = shown[0].name
        yield f"  it is the display name of {newest}{_and_more(len(shown) - 1)}"
    elif hint.startswith("did you mean"):
        yield f"  {hint}"
    elif not known:
        others = "--project names another project"
        if not isinstance(name, TrainingJobName):
            others = "--project and --region name others"
        yield f"  there are no jobs in {name.collection}; {others}"


def _and_more(count: int) -> str:
    return f", and of {count} older" if count else ""


def _beside(session: Session, name: JobName) -> Iterator[Job]:
    with session.connect(timeout_s=_TIMEOUT_S) as service:
        yield from service.jobs_beside(name)
