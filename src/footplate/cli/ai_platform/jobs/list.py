"""``footplate ai-platform jobs list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.ai_platform.jobs.columns import COLUMNS, STATES, TUNED
from footplate.cli.lists.jobs import print_jobs, with_restarts
from footplate.cli.lists.listing import Listing, list_options, uri_option
from footplate.cli.lists.server_filter import prefilter
from footplate.cli.session_options import with_session
from footplate.cli.trials.summary import is_tuning

if TYPE_CHECKING:
    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.session import Session


@click.command("list")
@uri_option
@list_options
@with_session
def command(session: Session, listing: Listing) -> None:
    """List the jobs of a project, newest first.

    TUNES is the metric of a tuning job; the jobs of its trials are in no list. RESTARTS says how
    often replicas started again, if any did.

    \b
    Examples:
      footplate ai-platform jobs list
      footplate ai-platform jobs list --filter='state=FAILED AND createTime>-p1d' --limit=5
      footplate ai-platform jobs list --filter='jobId~^census_ AND labels.team=vision'
      footplate ai-platform jobs list --sort-by=~endTime --format='csv(jobId,state,endTime)'
    """
    listing = listing.with_states(STATES)

    def uri_of(resource: Resource) -> str:
        return str(session.training_job(str(resource["jobId"])))

    with session.connect() as service:
        jobs = service.training_jobs.list(
            session.project, condition=prefilter(listing.condition), page_size=listing.page_size
        )
        found = listing.of(job.resource for job in jobs)
        found = with_restarts(service, found, listing, uri_of)
    tuned = any(is_tuning(resource) for resource in found)
    columns = {**COLUMNS, **TUNED} if tuned else COLUMNS
    print_jobs(
        found,
        listing,
        f" in project {session.project}; --project names another one",
        columns,
        uri_of,
    )
