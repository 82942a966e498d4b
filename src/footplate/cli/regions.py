"""``footplate regions``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from footplate.cli.group import Entry, Group
from footplate.cli.listing import Listing, list_options, show_list
from footplate.cli.option_values import offered
from footplate.cli.output_format import format_option, render_list
from footplate.cli.session import with_session
from footplate.cli.terminal_text import disarm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.output_format import Layout, Resource
    from footplate.cli.session import Session

_COLUMNS = {
    "REGION": "name",
    "BACKEND": "backend",
    "WHERE": "where",
    "MACHINE_TYPES": "machineTypes",
    "ACCELERATORS": "accelerators",
    "STATE": "state",
}
_OTHERS = "*"


def _row(region: Resource) -> Resource:
    names = {key: ",".join(_texts(region, key)) for key in ("machineTypes", "accelerators")}
    return {**region, **names, "state": _state(region)}


def _state(region: Resource) -> str:
    if "reachable" not in region:
        return "here"
    if not region["reachable"]:
        return "does not answer"
    return "problems" if region.get("problems") else "answers"


def _texts(region: Resource, key: str) -> list[str]:
    found = region.get(key)
    return [str(text) for text in found] if isinstance(found, list) else []


@click.command("list")
@list_options
@with_session
def list_(session: Session, listing: Listing) -> None:
    """List the regions that are bound to an engine, and where jobs of all others run.

    Regions are bound by [[regions]] tables of footplate.toml. '*' stands for all that have none.
    MACHINE_TYPES and ACCELERATORS are those that the engine has a name for ('*': all); jobs with
    others are refused. JSON has the engine's nodes and queue, too.

    \b
    Examples:
      footplate regions list
      footplate regions list --format=json
    """
    with session.connect() as service:
        found = service.regions.list()
    show_list(listing.of(found), listing, _COLUMNS, row=_row)


@click.command("check")
@click.argument("regions", nargs=-1, metavar="[REGION...]", shell_complete=offered("regions"))
@format_option("table")
@with_session
def check(session: Session, regions: tuple[str, ...], layout: Layout) -> None:
    """Ask the engines of regions what they have, and what is wrong; by default of all.

    Shows nodes and queue as the engine reports them now, what a probe job of a second finds on a
    node (Python, folders, uv, the way to the service, GPUs, containers), and each problem with the
    way out: the engine doesn't answer, or has no such partition. The exit code is 1 if there is
    any.

    \b
    Examples:
      footplate regions check
      footplate regions check europe-west4 --format=json
    """
    with session.connect() as service:
        names = regions or tuple(
            str(region["name"]) for region in service.regions.list() if region["name"] != _OTHERS
        )
        found = [service.regions.check(name) for name in names]
    if layout.kind == "table":
        _show(found)
    else:
        rows = [_row(region) for region in found] if layout.takes_rows else found
        click.echo(render_list(rows, layout, _COLUMNS))
    if any(region.get("problems") for region in found):
        sys.exit(1)


def _show(found: Sequence[Resource]) -> None:
    if not found:
        click.echo("No region is bound to an engine: all jobs run on this machine.", err=True)
        click.echo("  bind a region with a [[regions]] table in footplate.toml", err=True)
    for region in found:
        click.echo(f"{region['name']}: {region['where']}, {_state(region)}")
        facts = [disarm(text, plain=True).partition(": ") for text in _texts(region, "facts")]
        width = max((len(thing) for thing, _, _ in facts), default=0)
        for thing, _, text in facts:
            click.echo(f"  {thing:<{width}}  {text}")
        for text in _texts(region, "problems"):
            click.secho(f"  problem: {disarm(text, plain=True)}", fg="yellow")


command = Group(
    "regions",
    (
        Entry("list", list_, "List the engines that regions are bound to."),
        Entry("check", check, "Check the engines, and show their machines."),
    ),
    help="""Where jobs run: on this machine, or on an engine that a region is bound to.

    A [[regions]] table of footplate.toml binds a region to Slurm, Kubernetes or Ray, and says
    what machine types and accelerators mean there. A job chooses the engine by its region, and
    needs no other change.
    """,
)
