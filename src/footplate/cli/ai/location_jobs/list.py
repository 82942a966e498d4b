"""``list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.ai.location_jobs.job_kind import STATES
from footplate.cli.lists.jobs import print_jobs, with_restarts
from footplate.cli.lists.listing import Listing, list_options, uri_option
from footplate.cli.lists.server_filter import prefilter
from footplate.cli.session_options import region_option, with_session

if TYPE_CHECKING:
    from footplate.cli.ai.location_jobs.job_kind import Kind, N
    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.session import Session


def list_command(
    kind: Kind[N], text: str = "List the jobs of a project, newest first."
) -> click.Command:
    examples = (
        "",
        "--filter='state=JOB_STATE_FAILED AND createTime>-p1d' --limit=5",
        "--filter='displayName~^census AND labels.team=vision' --format=json",
        "--sort-by=~endTime --format='csv(name.basename(),displayName,state)'",
    )

    @click.command("list", help=kind.help(text, "list", *examples))
    @uri_option
    @list_options
    @region_option()
    @with_session
    def command(session: Session, region: str, listing: Listing) -> None:
        listing = listing.with_states(STATES)
        with session.connect() as service:
            jobs = kind.jobs(service).list(
                session.project,
                region,
                condition=prefilter(listing.condition),
                page_size=listing.page_size,
            )
            found = listing.of(job.resource for job in jobs)
            found = with_restarts(service, found, listing, _uri_of)
        where = f" in project {session.project}, {region}; --project and --region name others"
        print_jobs(found, listing, where, kind.columns, _uri_of)

    return command


def _uri_of(resource: Resource) -> str:
    return str(resource["name"])
