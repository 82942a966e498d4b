"""``footplate usage``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.listing import Listing, list_options, show_list
from footplate.cli.session import with_all_projects
from footplate.domain.machine_hours import say_amount, say_cost

if TYPE_CHECKING:
    from footplate.cli.output_format import Resource
    from footplate.cli.session import Session

_COLUMNS = {
    "DATE": "date",
    "PROJECT": "project",
    "MACHINE_HOURS": "machineHours",
    "ACCELERATOR_HOURS": "acceleratorHours",
    "COST": "cost",
}


def _row(day: Resource) -> Resource:
    sums = {key: _sum(day.get(key)) for key in ("machineHours", "acceleratorHours")}
    cost = say_cost(float(str(day["cost"])), str(day["currency"])) if "cost" in day else ""
    return {**day, **sums, "cost": cost}


def _sum(hours: object) -> str:
    return say_amount(sum(hours.values())) if isinstance(hours, dict) else ""


@click.command("usage")
@click.option("--start-date", default="", metavar="DATE", help="First day, such as 2026-11-01.")
@click.option(
    "--end-date",
    default="",
    metavar="DATE",
    help="Last day; the default is today. Without both dates, the last 30 days.",
)
@list_options
@with_all_projects
def command(session: Session, listing: Listing, start_date: str, end_date: str) -> None:
    """List the machine-hours and accelerator-hours of each day and project, oldest first.

    Days are those of UTC, at most 92 at once. A job counts from its first start to its end; jobs
    that were deleted are missing. COST needs prices in the settings. JSON has the hours by type.

    \b
    Examples:
      footplate usage
      footplate usage --project=vision --start-date=2026-11-01 --end-date=2026-11-30
      footplate usage --format=json
    """
    with session.connect() as service:
        found = service.machine_hours(session.project, start_date, end_date)
    show_list(listing.of(found), listing, _COLUMNS, row=_row)
