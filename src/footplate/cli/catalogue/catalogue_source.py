"""Loads the catalogue for the commands, and prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.lists.listing import show_list
from footplate.cli.option_values import enum_name
from footplate.domain.errors import InvalidArgument, Unavailable
from footplate.domain.formatting import nearest, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.lists.listing import Listing
    from footplate.cli.session import Session
    from footplate.wire.json_text import JsonObject


def catalogue(session: Session) -> JsonObject:
    """The server's catalogue; without a server that of the settings, with a note on stderr.

    Raises:
        Unavailable: the server that --url names doesn't answer.
    """
    try:
        with session.connect() as service:
            return service.offers.catalogue()
    except Unavailable:
        if session.url:
            raise
    return _of_settings(session)


def _of_settings(session: Session) -> JsonObject:
    # Imported here: only who has no server needs them.
    from footplate.catalogue import load_catalogue
    from footplate.wire.catalogue import encode_catalogue

    file = session.settings().catalogue
    found = encode_catalogue(load_catalogue(file))
    whose = f"the built-in catalogue with {file}" if file else "the built-in catalogue"
    click.echo(f"No server runs; this is {whose}.", err=True)
    return found


def entries(document: JsonObject, kind: str) -> list[Resource]:
    """Those of one kind, such as machineTypes."""
    found = document.get(kind)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def known_name(document: JsonObject, kind: str, given: str) -> str:
    """Raises InvalidArgument: the catalogue has no such entry."""
    names = [str(entry["name"]) for entry in entries(document, kind)]
    if given not in names:
        hint = nearest(given, names, kind)
        raise InvalidArgument(f"there is no {quoted(given)} in the catalogue; {hint}")
    return given


def accelerator_name(document: JsonObject, given: str) -> str:
    """``nvidia-tesla-t4`` and ``NVIDIA_TESLA_T4`` alike. Raises InvalidArgument."""
    return known_name(document, "accelerators", enum_name(given))


def show(
    resources: Sequence[Resource],
    listing: Listing,
    columns: Mapping[str, str],
    row: Callable[[Resource], Resource],
) -> None:
    """In a table the cells of ``row``; in every other format the resources themselves."""
    show_list(listing.of(resources), listing, columns, row=row, fold=True)


def texts(value: object) -> list[str]:
    """The items of a list, or the keys of an object."""
    return [str(item) for item in value] if isinstance(value, list | dict) else []
