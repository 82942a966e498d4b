"""``footplate catalogue``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.group import Entry, Group
from footplate.cli.listing import Listing, list_options, show_list
from footplate.cli.option_values import enum_name, offered
from footplate.cli.session import with_session
from footplate.domain.errors import InvalidArgument, Unavailable
from footplate.domain.formatting import nearest, quoted
from footplate.wire.json_text import objects

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from footplate.cli.output_format import Resource
    from footplate.cli.session import Session
    from footplate.wire.json_text import JsonObject


def catalogue(session: Session) -> JsonObject:
    """Returns the server's catalogue.

    Without a server it returns that of the settings, with a note on stderr.

    Raises:
        Unavailable: the server that --url names doesn't answer.
    """
    try:
        with session.connect() as service:
            return service.offers.catalogue()
    except Unavailable:
        if session.url:
            raise
    # Imported here: only who has no server needs them.
    from footplate.catalogue import load_catalogue
    from footplate.wire.catalogue import encode_catalogue

    file = session.settings().catalogue
    found = encode_catalogue(load_catalogue(file))
    whose = f"the built-in catalogue with {file}" if file else "the built-in catalogue"
    click.echo(f"No server runs; this list comes from {whose}.", err=True)
    return found


def entries(document: JsonObject, kind: str) -> list[Resource]:
    """Returns the catalogue's entries of one kind, such as machineTypes."""
    return [*objects(document.get(kind))]


def known_name(document: JsonObject, kind: str, given: str) -> str:
    """Returns ``given`` if the catalogue has such an entry. Raises InvalidArgument if it hasn't."""
    names = [str(entry["name"]) for entry in entries(document, kind)]
    if given not in names:
        hint = nearest(given, names, kind)
        raise InvalidArgument(f"there is no {quoted(given)} in the catalogue; {hint}")
    return given


def accelerator_name(document: JsonObject, given: str) -> str:
    """Returns the accelerator that ``given`` spells, as ``nvidia-tesla-t4``. Raises
    InvalidArgument.
    """
    return known_name(document, "accelerators", enum_name(given))


def show(
    resources: Sequence[Resource],
    listing: Listing,
    columns: Mapping[str, str],
    row: Callable[[Resource], Resource],
) -> None:
    """Prints the cells of ``row`` in a table, and in other formats the resources themselves."""
    show_list(listing.of(resources), listing, columns, row=row, fold=True)


def texts(value: object) -> list[str]:
    """Returns the items of a list, or the keys of an object, as text."""
    return [str(item) for item in value] if isinstance(value, list | dict) else []


P = ParamSpec("P")
R = TypeVar("R")

_MACHINE_COLUMNS = {
    "NAME": "name",
    "VCPUS": "vcpus",
    "MEMORY_GB": "memoryGb",
    "ACCELERATORS": "accelerators",
}
_FAMILIES = ("COMPUTE_ENGINE", "LEGACY", "TPU")


def accelerator_option(function: Callable[P, R]) -> Callable[P, R]:
    return click.option(
        "--accelerator",
        metavar="TYPE",
        shell_complete=offered("accelerators"),
        help="Only machine types that take or include this accelerator, such as nvidia-tesla-t4.",
    )(function)


@click.command("machine-types")
@accelerator_option
@click.option(
    "--family",
    type=click.Choice(_FAMILIES, case_sensitive=False),
    help="Only machine types of this family; all replicas of a job must have the same family.",
)
@list_options
@with_session
def machine_types(
    session: Session, listing: Listing, family: str | None, accelerator: str | None
) -> None:
    """List machine types, and how many of which accelerators they take.

    A count with + is included: the type has them without being asked.

    \b
    Examples:
      footplate catalogue machine-types --accelerator=nvidia-tesla-t4
      footplate catalogue machine-types --family=legacy
      footplate catalogue machine-types --format='value(name)'
    """
    list_machine_types(session, listing, accelerator, [family.upper()] if family else _FAMILIES)


def list_machine_types(
    session: Session, listing: Listing, accelerator: str | None, families: Collection[str]
) -> None:
    document = catalogue(session)
    name = accelerator_name(document, accelerator) if accelerator else None
    found = [
        machine
        for machine in entries(document, "machineTypes")
        if machine["family"] in families and (name is None or name in _accelerators(machine))
    ]
    show(found, listing, _MACHINE_COLUMNS, lambda machine: _machine_row(machine, name))


def _machine_row(machine: Resource, only: str | None) -> Resource:
    cells = [
        f"{name}: {counts}"
        for name, counts in _accelerators(machine).items()
        if only in (None, name)
    ]
    return {**machine, "accelerators": ", ".join(cells)}


def _accelerators(machine: Resource) -> dict[str, str]:
    """Returns the valid counts of each accelerator, as text; included accelerators have a plus."""
    taken, included = machine.get("accelerators"), machine.get("included")
    counts: dict[str, list[str]] = {}
    if isinstance(taken, dict):
        counts = {name: texts(valid) for name, valid in taken.items()}
    if isinstance(included, dict):
        name, count = str(included["accelerator"]), str(included["count"])
        counts[name] = [f"+{count}", *(c for c in counts.get(name, ()) if c != count)]
    return {name: " ".join(found) for name, found in counts.items()}


_ACCELERATOR_COLUMNS = {"NAME": "name", "KIND": "kind", "MEMORY_GB": "memoryGb"}


@click.command("accelerators")
@click.option(
    "--region", metavar="REGION", help="Only accelerators that a zone of this region has."
)
@list_options
@with_session
def accelerators(session: Session, listing: Listing, region: str | None) -> None:
    """List accelerators; MEMORY_GB is of one device, REGIONS how many have it.

    \b
    Examples:
      footplate catalogue accelerators
      footplate catalogue accelerators --region=us-central1
    """
    document = catalogue(session)
    found = entries(document, "accelerators")
    if region is None:
        show(found, listing, {**_ACCELERATOR_COLUMNS, "REGIONS": "regions"}, _accelerator_row)
        return
    zones = _zones_by_accelerator(document, region)
    there = [accelerator for accelerator in found if str(accelerator["name"]) in zones]
    columns = {**_ACCELERATOR_COLUMNS, "ZONES": "zones"}
    show(there, listing, columns, lambda a: {**a, "zones": ", ".join(zones[str(a["name"])])})


def _accelerator_row(accelerator: Resource) -> Resource:
    return {**accelerator, "regions": len(texts(accelerator.get("regions")))}


def _zones_by_accelerator(document: JsonObject, region: str) -> dict[str, list[str]]:
    """Returns the zones of the region by accelerator."""
    known_name(document, "regions", region)
    found: dict[str, list[str]] = {}
    for one in entries(document, "regions"):
        zones = one.get("zones")
        if one["name"] == region and isinstance(zones, dict):
            for zone, accelerators in zones.items():
                for name in texts(accelerators):
                    found.setdefault(name, []).append(zone)
    return found


_REGION_COLUMNS = {"NAME": "name", "ZONES": "zones", "ACCELERATORS": "accelerators"}


@click.command("regions")
@click.option(
    "--accelerator",
    "accelerators",
    multiple=True,
    metavar="TYPE",
    shell_complete=offered("accelerators"),
    help=(
        "Only regions with a zone that has this accelerator; if given several times, one "
        "zone has all of the accelerators."
    ),
)
@list_options
@with_session
def regions(session: Session, listing: Listing, accelerators: tuple[str, ...]) -> None:
    """List regions, their zones, and the accelerators that these have.

    All accelerators of a job have to be found in one zone. With --accelerator only the zones
    that have them are shown.

    \b
    Examples:
      footplate catalogue regions
      footplate catalogue regions --accelerator=nvidia-tesla-t4 --accelerator=nvidia-tesla-k80
      footplate catalogue regions --format=json
    """
    document = catalogue(session)
    wanted = {accelerator_name(document, name) for name in accelerators}
    found = [region for region in entries(document, "regions") if _zones(region, wanted)]
    show(found, listing, _REGION_COLUMNS, lambda region: _region_row(region, wanted))


def _region_row(region: Resource, wanted: set[str]) -> Resource:
    return {
        "name": region["name"],
        "zones": ", ".join(_zones(region, wanted)),
        "accelerators": ", ".join(texts(region.get("accelerators"))),
    }


def _zones(region: Resource, wanted: set[str]) -> list[str]:
    """Returns the zones of the region that have all wanted accelerators."""
    zones = region.get("zones")
    found = zones.items() if isinstance(zones, dict) else ()
    return [zone for zone, accelerators in found if wanted <= set(texts(accelerators))]


_TIER_COLUMNS = {
    "NAME": "name",
    "MASTER": "master",
    "WORKERS": "worker",
    "PARAMETER_SERVERS": "parameterServer",
}


@click.command("scale-tiers")
@list_options
@with_session
def scale_tiers(session: Session, listing: Listing) -> None:
    """List the scale tiers of ml v1 and the clusters that they stand for.

    CUSTOM isn't one of them: there the job names its machines.

    \b
    Example:
      footplate catalogue scale-tiers
    """
    show(entries(catalogue(session), "scaleTiers"), listing, _TIER_COLUMNS, _tier_row)


def _tier_row(tier: Resource) -> Resource:
    return {
        "name": tier["name"],
        **{role: _machines(tier.get(role)) for role in ("master", "worker", "parameterServer")},
    }


def _machines(machine: object) -> str:
    """Returns text such as ``4 x n1-highcpu-8`` or ``n1-standard-8 + 1 NVIDIA_TESLA_K80``."""
    if not isinstance(machine, dict):
        return ""
    text = str(machine["machineType"])
    if "acceleratorType" in machine:
        text += f" + {machine['acceleratorCount']} {machine['acceleratorType']}"
    return f"{machine['count']} x {text}" if "count" in machine else text


command = Group(
    "catalogue",
    (
        Entry("machine-types", machine_types, "List machine types."),
        Entry("accelerators", accelerators, "List accelerators."),
        Entry("regions", regions, "List regions, and the accelerators of their zones."),
        Entry("scale-tiers", scale_tiers, "List scale tiers, and the machines of each tier."),
        Entry("check", "catalogue_check", "Check a catalogue file of your own."),
    ),
    help="""What jobs can ask for: machine types, accelerators, regions, scale tiers.

    \b
    footplate catalogue machine-types --accelerator=nvidia-tesla-t4
    footplate catalogue regions --accelerator=nvidia-tesla-t4
    footplate catalogue check own.toml

    The commands ask the running server; without a server, they show the catalogue of the settings.
    """,
)
