"""``footplate ai persistent-resources``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.group import Entry, Group
from footplate.cli.listing import Listing, list_options, show_list
from footplate.cli.option_values import DictValue, RepeatableOption, enum_name
from footplate.cli.output_format import format_option, render
from footplate.cli.session import region_option, with_session
from footplate.cli.terminal_text import disarm
from footplate.domain.errors import InvalidArgument
from footplate.domain.names import PersistentResourceName, parse_persistent_resource_name

if TYPE_CHECKING:
    from footplate.cli.output_format import Layout
    from footplate.cli.session import Session
    from footplate.wire.json_text import JsonObject

_COLUMNS = {
    "NAME": "name",
    "STATE": "state",
    "MACHINES": "resourcePools.machineSpec.machineType",
    "COUNT": "resourcePools.replicaCount",
    "USED": "resourcePools.usedReplicaCount",
    "CREATED": "createTime",
}
_POOL_KEYS = (
    *("machine-type", "replica-count", "min-replica-count", "max-replica-count"),
    *("accelerator-type", "accelerator-count", "disk-type", "disk-size"),
)
_resource_argument = click.argument("resource", metavar="RESOURCE")


@click.command("create")
@click.option(
    "--persistent-resource-id", "resource_id", required=True, metavar="ID", help="Its id."
)
@click.option(
    "--resource-pool-spec",
    "pools",
    required=True,
    multiple=True,
    type=DictValue(_POOL_KEYS),
    metavar="KEY=VALUE,...",
    help=f"Machines of one type; repeat the option for more. Keys: {', '.join(_POOL_KEYS)}.",
)
@click.option("--display-name", default="", metavar="NAME", help="A name for people.")
@click.option(
    "--labels",
    cls=RepeatableOption,
    type=DictValue(),
    metavar="KEY=VALUE,...",
    help="Labels of the resource.",
)
@region_option()
@with_session
def create(
    session: Session,
    resource_id: str,
    pools: tuple[dict[str, str], ...],
    display_name: str,
    labels: dict[str, str] | None,
    region: str,
) -> None:
    """Reserve machines for jobs.

    It waits until its machines are free, as a job would. Jobs run on it that name it with
    --persistent-resource-id.

    \b
    Examples:
      footplate ai persistent-resources create --persistent-resource-id=night \\
          --resource-pool-spec=machine-type=n1-standard-8,replica-count=2
    """
    name = PersistentResourceName(session.project, region, resource_id)
    resource: JsonObject = {"resourcePools": [_pool(pool) for pool in pools]}
    if display_name:
        resource["displayName"] = display_name
    if labels:
        resource["labels"] = {**labels}
    with session.connect() as service:
        waits = service.persistent_resources.create(name, resource)
    click.echo(f"Created {name}.", err=True)
    if waits:
        click.echo(disarm(waits), err=True)


def _pool(given: dict[str, str]) -> JsonObject:
    """Returns a pool's spec. Raises InvalidArgument if a key is missing, or no number."""
    if "machine-type" not in given:
        raise _wrong("machine-type is missing")
    machine: JsonObject = {"machineType": given["machine-type"]}
    if "accelerator-type" in given:
        machine["acceleratorType"] = enum_name(given["accelerator-type"])
        machine["acceleratorCount"] = _whole(given, "accelerator-count", "1")
    pool: JsonObject = {"machineSpec": machine}
    if "min-replica-count" in given or "max-replica-count" in given:
        pool["autoscalingSpec"] = {
            "minReplicaCount": str(_whole(given, "min-replica-count")),
            "maxReplicaCount": str(_whole(given, "max-replica-count")),
        }
    else:
        pool["replicaCount"] = str(_whole(given, "replica-count"))
    disk: JsonObject = {}
    if "disk-type" in given:
        disk["bootDiskType"] = given["disk-type"]
    if "disk-size" in given:
        disk["bootDiskSizeGb"] = _whole(given, "disk-size")
    return {**pool, "diskSpec": disk} if disk else pool


def _whole(given: dict[str, str], key: str, default: str = "") -> int:
    text = given.get(key, default)
    if not text:
        raise _wrong(f"{key} is missing")
    if not (text.isascii() and text.isdigit()):
        raise _wrong(f"{key}={text} is no number")
    return int(text)


def _wrong(said: str) -> InvalidArgument:
    return InvalidArgument(f"--resource-pool-spec: {said}")


@click.command("list")
@list_options
@region_option()
@with_session
def list_(session: Session, listing: Listing, region: str) -> None:
    """List the persistent resources of a project in a region.

    \b
    Examples:
      footplate ai persistent-resources list
      footplate ai persistent-resources list --format='value(name,state)'
    """
    with session.connect() as service:
        resources = service.persistent_resources.list(session.project, region, listing.page_size)
        found = listing.of(resources)
    show_list(found, listing, _COLUMNS)


@click.command("describe")
@_resource_argument
@region_option()
@format_option("yaml")
@with_session
def describe(session: Session, resource: str, layout: Layout, region: str) -> None:
    """Show a persistent resource, and how many of its machines jobs use.

    \b
    Examples:
      footplate ai persistent-resources describe night
    """
    name = _name(session, resource, region)
    with session.connect() as service:
        found = service.persistent_resources.get(name)
    click.echo(render(found, layout, _COLUMNS))


@click.command("delete")
@_resource_argument
@region_option()
@with_session
def delete(session: Session, resource: str, region: str) -> None:
    """Give the machines back. Jobs that run on it, or wait for it, are cancelled first.

    \b
    Examples:
      footplate ai persistent-resources delete night
    """
    name = _name(session, resource, region)
    with session.connect() as service:
        service.persistent_resources.delete(name)
    click.echo(f"{name} will be deleted when its jobs have ended.", err=True)


@click.command("reboot")
@_resource_argument
@region_option()
@with_session
def reboot(session: Session, resource: str, region: str) -> None:
    """Remove the environments that its jobs have left; the next jobs build them anew.

    It is refused while jobs run on it.

    \b
    Examples:
      footplate ai persistent-resources reboot night
    """
    name = _name(session, resource, region)
    with session.connect() as service:
        service.persistent_resources.reboot(name)
    click.echo(f"Reboots {name}.", err=True)


def _name(session: Session, text: str, region: str) -> PersistentResourceName:
    """Returns the resource's name from an id or a full name. Raises NotFound."""
    if "/" in text:
        return parse_persistent_resource_name(text)
    return PersistentResourceName(session.project, region, text)


command = Group(
    "persistent-resources",
    (
        Entry("create", create, "Reserve machines for jobs."),
        Entry("list", list_, "List persistent resources."),
        Entry("describe", describe, "Show a persistent resource."),
        Entry("reboot", reboot, "Remove the environments of the resource's jobs."),
        Entry("delete", delete, "Delete a persistent resource, and free its machines."),
    ),
    help="""Machines that stay reserved for a project's jobs, with their environments.

    \b
    footplate ai persistent-resources create --persistent-resource-id=night \\
        --resource-pool-spec=machine-type=n1-standard-8,replica-count=2
    footplate ai custom-jobs create --persistent-resource-id=night ...
    """,
)
