"""``footplate catalogue machine-types``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.catalogue.catalogue_source import (
    accelerator_name,
    catalogue,
    entries,
    show,
    texts,
)
from footplate.cli.lists.listing import Listing, list_options
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.session import Session

P = ParamSpec("P")
R = TypeVar("R")

COLUMNS = {
    "NAME": "name",
    "VCPUS": "vcpus",
    "MEMORY_GB": "memoryGb",
    "ACCELERATORS": "accelerators",
}
FAMILIES = ("COMPUTE_ENGINE", "LEGACY", "TPU")


def accelerator_option(function: Callable[P, R]) -> Callable[P, R]:
    return click.option(
        "--accelerator",
        metavar="TYPE",
        shell_complete=offered("accelerators"),
        help="Only those that take this accelerator, or include it, such as nvidia-tesla-t4.",
    )(function)


@click.command("machine-types")
@accelerator_option
@click.option(
    "--family",
    type=click.Choice(FAMILIES, case_sensitive=False),
    help="Only those of a family; the replicas of a job are all of one.",
)
@list_options
@with_session
def command(
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
    list_machine_types(session, listing, accelerator, [family.upper()] if family else FAMILIES)


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
    show(found, listing, COLUMNS, lambda machine: _row(machine, name))


def _row(machine: Resource, only: str | None) -> Resource:
    cells = [
        f"{name}: {counts}"
        for name, counts in _accelerators(machine).items()
        if only in (None, name)
    ]
    return {**machine, "accelerators": ", ".join(cells)}


def _accelerators(machine: Resource) -> dict[str, str]:
    """Valid counts by accelerator, as text; what is included comes with a plus."""
    taken, included = machine.get("accelerators"), machine.get("included")
    counts: dict[str, list[str]] = {}
    if isinstance(taken, dict):
        counts = {name: texts(valid) for name, valid in taken.items()}
    if isinstance(included, dict):
        name, count = str(included["accelerator"]), str(included["count"])
        counts[name] = [f"+{count}", *(c for c in counts.get(name, ()) if c != count)]
    return {name: " ".join(found) for name, found in counts.items()}
