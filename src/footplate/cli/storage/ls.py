"""``footplate storage ls``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.formats.grammar import read_format
from footplate.cli.group import Failure
from footplate.cli.lists.listing import Listing, list_options, show_list
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session
from footplate.cli.storage.matching import is_pattern, level, matching
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.session import Session
    from footplate.client.records import StoredObject
    from footplate.client.storage import Storage

_COLUMNS = {"SIZE": "size", "UPDATED": "updated", "OBJECT": "url"}
_URLS = read_format("value(url)")


@click.command("ls")
@click.argument(
    "places", nargs=-1, metavar="[gs://BUCKET[/PATH]...]", shell_complete=offered("places")
)
@click.option("--long", "-l", "long_form", is_flag=True, help="Sizes and times, too.")
@click.option("--recursive", "-r", "-R", is_flag=True, help="What is in folders, too.")
@list_options
@with_session
def command(
    session: Session,
    places: tuple[str, ...],
    listing: Listing,
    *,
    long_form: bool,
    recursive: bool,
) -> None:
    """List buckets, or the objects in one, a folder at a time.

    * and ? stand for what they do in a shell, ** for folders, too. Fields for --filter and
    --format are url, size and updated.

    \b
    Examples:
      footplate storage ls
      footplate storage ls -l gs://stage/census/
      footplate storage ls --recursive gs://stage --filter='size>1000000'
      footplate storage ls 'gs://stage/**.json'
    """
    uris = [GcsUri.parse(place, "place") for place in places]
    with session.connect() as service:
        if uris:
            rows = [row for uri in uris for row in _rows(service.storage, uri, recursive=recursive)]
        else:
            rows = [{"url": f"gs://{b.name}/"} for b in service.storage.buckets(session.project)]
        found = listing.of(rows)
    plain = listing.layout.is_plain_table and not long_form
    show_list(found, listing.printed(_URLS) if plain else listing, _COLUMNS)


def _rows(storage: Storage, uri: GcsUri, *, recursive: bool) -> Iterator[Resource]:
    """Raises Failure: there is nothing."""
    if recursive and not uri.path:
        yield from map(_row, storage.objects(uri))
    elif recursive or "**" in uri.path:
        yield from map(_row, matching(storage, uri, recursive=recursive))
    elif is_pattern(uri.path):
        yield from map(_row, matching(storage, uri, recursive=False))
    else:
        yield from _in_folder(storage, uri)


def _in_folder(storage: Storage, uri: GcsUri) -> Iterator[Resource]:
    """An object of this very name is a match, too."""
    exact = [o for o in storage.objects(uri) if o.name == uri.path] if uri.path else []
    yield from map(_row, exact)
    found = level(storage, uri)
    if found is None:
        if exact:
            return
        raise Failure(
            f"nothing exists at {uri}; `footplate storage ls gs://{uri.bucket}` lists all"
        )
    for prefix in found.prefixes:
        yield {"url": f"gs://{uri.bucket}/{prefix}"}
    yield from map(_row, found.objects)


def _row(stored: StoredObject) -> Resource:
    return {"url": stored.uri, "size": stored.size_bytes, "updated": stored.update_time}
