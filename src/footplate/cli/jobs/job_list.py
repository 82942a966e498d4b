"""Lists of jobs, with a note for each job that waits or has failed."""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from footplate.cli.jobs.kinds import PENDING
from footplate.cli.listing import show_none
from footplate.cli.output_format import Layout, cell, render_list
from footplate.cli.table import LEAST, total_width
from footplate.cli.terminal_text import clip
from footplate.domain.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from footplate.cli.listing import Listing
    from footplate.cli.output_format import Resource
    from footplate.client.service import Service

_REASONS = (PENDING, "errorMessage", "error.message", "waiting", "message")
_LONGEST_NOTE = 200
_SECONDS = len("2026-11-21T08:00:00")
_NOTE = {"NOTE": "noteToldOf"}
_RESTARTS = {"RESTARTS": "restarts"}
_NAMES = Layout("value", ("uri",))


def with_restarts(
    service: Service, found: list[Resource], listing: Listing, uri_of: Callable[[Resource], str]
) -> list[Resource]:
    """Returns the jobs, for a table each with how often it was restarted (``restarts``)."""
    if listing.uri or listing.layout.kind != "table" or not found:
        return found
    with suppress(ServiceError):  # an older service doesn't say
        again = service.restarts([uri_of(resource) for resource in found])
        return [{**each, "restarts": again.get(uri_of(each), "")} for each in found]
    return found


def print_jobs(
    found: Sequence[Resource],
    listing: Listing,
    where: str,
    columns: Mapping[str, str],
    uri_of: Callable[[Resource], str],
) -> None:
    """Prints jobs; with ``--uri`` only their names. ``where`` is for the message about none."""
    if not found:
        show_none(listing, where)
    elif listing.uri:
        names = [{"uri": uri_of(resource)} for resource in found]
        layout = listing.layout
        if layout.kind == "table":
            layout = _NAMES
        click.echo(render_list(names, layout, {"URI": "uri"}))
    else:
        click.echo(_listed(found, listing.layout, columns))


def _listed(found: Sequence[Resource], layout: Layout, columns: Mapping[str, str]) -> str:
    """Renders jobs; a table's last column says why jobs wait or failed, if any does."""
    if not layout.takes_rows:
        return render_list(found, layout, columns)
    found = [{**resource, "noteToldOf": _note(resource)} for resource in found]
    noted = any(resource["noteToldOf"] for resource in found)
    if any(resource.get("restarts") for resource in found):
        columns = {**columns, **_RESTARTS}
    on_terminal = layout.kind == "table" and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns
    if on_terminal and _width(found, columns, noted=noted) > width:
        columns = {"ID" if path == "name" else head: path for head, path in columns.items()}
        found = [{**resource, **_shortened(resource)} for resource in found]
    if noted:
        columns = {**columns, **_NOTE}
    text = render_list(found, layout, columns, fold=noted)
    if not on_terminal:
        return text
    return "\n".join(clip(line, width) for line in text.splitlines())


def _width(found: Sequence[Resource], columns: Mapping[str, str], *, noted: bool) -> int:
    rows = [[cell(resource, path) for path in columns.values()] for resource in found]
    return total_width([*columns], rows) + (LEAST + 2 if noted else 0)


def _shortened(resource: Resource) -> dict[str, str]:
    """Returns the cells for narrow terminals: those that distinguish the jobs of a list."""
    return {
        "name": cell(resource, "name").rpartition("/")[2],
        "state": cell(resource, "state").removeprefix("JOB_STATE_"),
        "createTime": cell(resource, "createTime")[:_SECONDS],
    }


def _note(resource: Resource) -> str:
    """Returns why a job waits, or the first line of why it failed."""
    reason = next(filter(None, (cell(resource, path) for path in _REASONS)), "")
    return clip(reason.partition("\n")[0], _LONGEST_NOTE)
