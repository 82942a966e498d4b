"""``footplate quotas``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from footplate.cli.defaults import DEFAULT_REGION
from footplate.cli.group import Entry, Group
from footplate.cli.listing import Listing, list_options, show_list
from footplate.cli.output_format import format_option, render, render_list
from footplate.cli.session import with_session
from footplate.domain.quotas import ANY, fold
from footplate.domain.resources import say_amount

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.cli.output_format import Layout, Resource
    from footplate.cli.session import Session
    from footplate.wire.footplate_v1.quotas import Quota, ResourceQuota


class LimitValue(click.ParamType[tuple[str, int]]):
    """The type of ``RESOURCE=LIMIT``; only the server knows which resources exist."""

    name = "limit"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        resource, _, amount = str(value).partition("=")
        try:
            return resource.strip(), int(amount)
        except ValueError:
            self.fail(f"{value!r} given; allowed: RESOURCE=NUMBER, such as vcpus=64", param, ctx)


P = ParamSpec("P")
R = TypeVar("R")


def quota_region_option(default: str = ANY) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Adds ``--region`` without the default region of jobs, so that quotas don't limit it."""
    return click.option(
        "--region",
        default=default,
        show_default=True,
        metavar="REGION",
        help="Region; '*' sets the limit in each region separately.",
    )


_LIST = {
    "PROJECT": "project",
    "REGION": "region",
    "RESOURCE": "resource",
    "LIMIT": "limit",
    "USED": "used",
    "SOURCE": "source",
}
"""Of a list, where project and region are those of the quota itself."""

_IN_FORCE = {
    "RESOURCE": "resource",
    "LIMIT": "limit",
    "USED": "used",
    "SOURCE": "source",
    "SET FOR PROJECT": "project",
    "IN REGION": "region",
}


def _row(resource: ResourceQuota) -> Resource:
    return {
        "project": resource.origin.project,
        "region": resource.origin.region,
        "resource": resource.name,
        "limit": resource.limit,
        "used": resource.used,
        "source": resource.origin.source,
    }


def _show_in_force(quota: Quota, layout: Layout) -> None:
    """Prints the limits on stdout; on stderr their origin, and the effect on running jobs."""
    if not layout.takes_rows:
        click.echo(render(quota.encode(), layout, {}))
        return
    resources = quota.resources()
    if not resources:
        everybody = ANY in (quota.project, quota.region)
        unused = "" if everybody else ", and the project's jobs use nothing"
        click.echo(f"No limits for {_place(quota)}{unused}.", err=True)
        return
    click.echo(f"In force for {_whose(quota)}:", err=True)
    rows = [{**_row(r), "limit": "none" if r.limit is None else r.limit} for r in resources]
    click.echo(render_list(rows, layout, _IN_FORCE))
    for resource in resources:
        if resource.limit is not None and (resource.used or 0) > resource.limit:
            used = say_amount(resource.name, resource.used or 0)
            click.echo(
                (
                    f"{used} in use, which is more than the limit. Running jobs continue; other "
                    "jobs wait until enough is free."
                ),
                err=True,
            )


def _whose(quota: Quota) -> str:
    without = (
        ", unless a project or region has its own limits"
        if ANY in (quota.project, quota.region)
        else ""
    )
    return f"{_place(quota)}{without}"


def _place(quota: Quota) -> str:
    project = "any project" if quota.project == ANY else f"project {quota.project}"
    region = "any region" if quota.region == ANY else quota.region
    return f"{project} in {region}"


@click.command("list")
@click.option("--region", metavar="REGION", help="Only limits that are set for this region.")
@list_options
@with_session
def list_(session: Session, listing: Listing, region: str | None) -> None:
    """List the limits that are set, of all projects; --project shows one.

    SOURCE says where a limit is from: SETTINGS are [[quotas]] tables of footplate.toml, STORED
    was set with `footplate quotas set`. USED is what is held now; with '*' it is blank, since
    each project, or region, counts by itself: see `footplate quotas describe`.

    \b
    Examples:
      footplate quotas list
      footplate quotas list --project=ads --format=json
    """
    chosen = click.get_current_context().get_parameter_source("project")
    project = session.project if chosen is ParameterSource.COMMANDLINE else None
    rows = [row for row in _rows(session) if _is(row, project, region)]
    found = listing.of(rows)
    show_list(found, listing, _LIST)
    if not rows:
        click.echo("  set one: footplate quotas set vcpus=64 --project=PROJECT", err=True)


def _rows(session: Session) -> list[Resource]:
    """Returns each limit once: at the quota that sets it, not where else it is in force."""
    with session.connect() as service:
        quotas = service.quotas.list()
    return [
        _row(resource)
        for quota in quotas
        for resource in quota.resources()
        if (resource.origin.project, resource.origin.region) == (quota.project, quota.region)
    ]


def _is(row: Resource, project: str | None, region: str | None) -> bool:
    return project in (None, row["project"]) and region in (None, row["region"])


@click.command("describe")
@quota_region_option(DEFAULT_REGION)
@format_option("table")
@with_session
def describe(session: Session, layout: Layout, region: str) -> None:
    """Show what a project may hold in a region, and what its jobs hold there now.

    Of several limits for a resource the most specific one counts: the project's in the region,
    then the project's in '*', then that of '*' in the region, then that of '*' in '*'.

    \b
    Examples:
      footplate quotas describe --project=ads --region=us-central1
      footplate quotas describe --project='*' --region='*'
      footplate quotas describe --format='value(used.NVIDIA_TESLA_T4)'
    """
    with session.connect() as service:
        quota = service.quotas.get(session.project, region)
    _show_in_force(quota, layout)


@click.command("set")
@click.argument("limits", nargs=-1, required=True, type=LimitValue(), metavar="RESOURCE=LIMIT...")
@quota_region_option()
@format_option("table")
@with_session
def set_(
    session: Session, limits: tuple[tuple[str, int], ...], layout: Layout, region: str
) -> None:
    """Limit what the jobs of a project may hold at once; show what is in force then.

    Limits of other resources stay as they are. Running jobs continue, even over a lower limit;
    jobs that wait may start at once under a higher one. 0 keeps a project from a resource.

    \b
    Examples:
      footplate quotas set NVIDIA_TESLA_T4=4 vcpus=64 --project=ads --region=us-central1
      footplate quotas set nvidia-tesla-k80=0 --project=ads
      footplate quotas set jobs=10 --project='*'
    """
    resources = [resource for resource, _ in limits]
    for resource in resources:
        if resources.count(resource) > 1:
            raise click.UsageError(f"{resource!r} is given twice")
    with session.connect() as service:
        quota = service.quotas.change(session.project, region, dict(limits))
    _show_in_force(quota, layout)


@click.command("unset")
@click.argument("resources", nargs=-1, metavar="[RESOURCE...]")
@click.option("--all", "everything", is_flag=True, help="All limits of this project and region.")
@quota_region_option()
@format_option("table")
@with_session
def unset(
    session: Session, resources: tuple[str, ...], layout: Layout, region: str, *, everything: bool
) -> None:
    """Take back limits that were set; show what is in force then.

    A limit of footplate.toml, or one set for '*', counts again where it was overridden.

    \b
    Examples:
      footplate quotas unset vcpus --project=ads --region=us-central1
      footplate quotas unset --all --project=ads
    """
    if everything == bool(resources):
        raise click.UsageError("name the resources, or give --all")
    with session.connect() as service:
        if everything:
            quota = service.quotas.remove(session.project, region)
        else:
            quota = service.quotas.change(session.project, region, dict.fromkeys(resources))
    _show_in_force(quota, layout)
    _tell_what_stays(quota, {fold(resource) for resource in resources})


def _tell_what_stays(quota: Quota, asked: set[str]) -> None:
    """Prints which limits remain and why, of the resources ``asked`` (empty: all)."""
    here = (quota.project, quota.region, "SETTINGS")
    stay = [n for n, o in sorted(quota.origins.items()) if (o.project, o.region, o.source) == here]
    names = [name for name in stay if not asked or fold(name) in asked]
    if names:
        text = (
            f"A table [[quotas]] of footplate.toml still limits {', '.join(names)}; "
            "change the limit there."
        )
        click.echo(text, err=True)


command = Group(
    "quotas",
    (
        Entry("list", list_, "List the limits that are set."),
        Entry("describe", describe, "Show what a project may use, and uses now."),
        Entry("set", set_, "Limit what a project may use."),
        Entry("unset", unset, "Take limits back."),
    ),
    help="""How much the jobs of one project may use at once in one region.

    Resources are vcpus, jobs, and each type of accelerator by its name, such as
    NVIDIA_TESLA_T4 (nvidia-tesla-t4 works, too). Without a quota only the machines limit a
    project. A job waits while other jobs use up its project's quota; the service refuses a job
    that asks for more than the whole quota.

    \b
    footplate quotas set NVIDIA_TESLA_T4=4 vcpus=64 --project=ads --region=us-central1
    footplate quotas set jobs=10 --project='*'         ten jobs for each project separately
    footplate quotas describe --project=ads
    footplate quotas unset vcpus --project=ads --region=us-central1

    The database keeps the limits that these commands set. They apply at once, and override
    [[quotas]] tables of footplate.toml.
    """,
)
