"""Quotas as table rows, one for each resource."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.output_format import render, render_list
from footplate.domain.quotas import ANY
from footplate.domain.resources import say_amount

if TYPE_CHECKING:
    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.formats.format_spec import Layout
    from footplate.client.quotas import Quota, ResourceQuota

LIST = {
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


def row(resource: ResourceQuota) -> Resource:
    return {
        "project": resource.project,
        "region": resource.region,
        "resource": resource.name,
        "limit": resource.limit,
        "used": resource.used,
        "source": resource.source,
    }


def show_in_force(quota: Quota, layout: Layout) -> None:
    """On stdout what is in force; on stderr whose it is, and what it means for what runs."""
    if not layout.takes_rows:
        click.echo(render(quota.resource, layout, {}))
        return
    if not quota.resources:
        everybody = ANY in (quota.project, quota.region)
        unused = "" if everybody else ", and nothing is in use"
        click.echo(f"No limits for {_place(quota)}{unused}.", err=True)
        return
    click.echo(f"In force for {_whose(quota)}:", err=True)
    rows = [{**row(r), "limit": "none" if r.limit is None else r.limit} for r in quota.resources]
    click.echo(render_list(rows, layout, _IN_FORCE))
    for resource in quota.resources:
        if resource.limit is not None and (resource.used or 0) > resource.limit:
            used = say_amount(resource.name, resource.used or 0)
            click.echo(
                f"{used} in use: more than the limit. Jobs that hold them go on; "
                "others wait until there is room.",
                err=True,
            )


def _whose(quota: Quota) -> str:
    without = ", unless it has limits of its own" if ANY in (quota.project, quota.region) else ""
    return f"{_place(quota)}{without}"


def _place(quota: Quota) -> str:
    project = "any project" if quota.project == ANY else f"project {quota.project}"
    region = "any region" if quota.region == ANY else quota.region
    return f"{project} in {region}"
