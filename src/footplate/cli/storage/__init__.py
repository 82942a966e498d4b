"""``footplate storage``."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.group import Entry, Failure, Group
from footplate.cli.listing import Listing, list_options, show_list
from footplate.cli.option_values import offered
from footplate.cli.output_format import Layout
from footplate.cli.progress import Progress
from footplate.cli.session import with_session
from footplate.cli.storage.objects import is_pattern, level, matching, parse_urls, place, plan
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.cli.output_format import Resource
    from footplate.cli.session import Session
    from footplate.cli.storage.objects import Transfer
    from footplate.client.records import StoredObject
    from footplate.client.storage import Storage


@click.command("create")
@click.argument("urls", nargs=-1, required=True, metavar="gs://BUCKET...")
@click.option(
    "--location",
    "-l",
    default="",
    metavar="LOCATION",
    help=(
        "Region, dual-region or multi-region (US, EU, ASIA) of the buckets: jobs in other "
        "regions get a warning. The files are in the data directory in any case. [default: US]"
    ),
)
@click.option(
    "--bind",
    "target",
    default="",
    metavar="TARGET",
    help=(
        "What to serve as the bucket: gs://BUCKET or s3://BUCKET, with an optional prefix, or a "
        "folder of this machine. The command adds the binding to footplate.toml in the data "
        "directory, which the server reads when it starts."
    ),
)
@click.option("--read-only", is_flag=True, help="With --bind: make the bucket read-only.")
@with_session
def create(
    session: Session,
    urls: tuple[str, ...],
    location: str,
    target: str,
    read_only: bool,  # noqa: FBT001 - click's
) -> None:
    """Create buckets, or bind one to storage elsewhere.

    \b
    Examples:
      footplate storage buckets create gs://stage
      footplate storage buckets create gs://samples --bind gs://cloud-samples-data --read-only
    """
    if target:
        _bind(session, urls, location, target, read_only=read_only)
        return
    if read_only:
        raise click.UsageError("--read-only is allowed only with --bind.")
    with session.connect() as service:
        for url in urls:
            bucket = GcsUri.parse(url if "://" in url else f"gs://{url}", "bucket").bucket
            service.storage.create_bucket(session.project, bucket, location)
            click.echo(f"Created gs://{bucket}/", err=True)


def _bind(
    session: Session, urls: tuple[str, ...], location: str, target: str, *, read_only: bool
) -> None:
    if len(urls) > 1 or location:
        raise click.UsageError("--bind takes one bucket, and can't be combined with --location.")
    if session.url:
        raise click.UsageError(
            "--bind changes footplate.toml in the data directory: run the command on the "
            "server's machine, without --url and FOOTPLATE_URL."
        )
    # Imported here: a help text has no use for the settings.
    from footplate.cli.storage.binding import bind

    bucket = GcsUri.parse(urls[0] if "://" in urls[0] else f"gs://{urls[0]}", "bucket").bucket
    path = bind(session.settings().data_dir, bucket, target, read_only=read_only)
    click.echo(f"Bound gs://{bucket}/ to {target} in {path}.", err=True)
    click.echo(
        "The server serves this bucket after a restart: footplate down; footplate up", err=True
    )


@click.command("delete")
@click.argument(
    "urls", nargs=-1, required=True, metavar="gs://BUCKET...", shell_complete=offered("places")
)
@with_session
def delete(session: Session, urls: tuple[str, ...]) -> None:
    """Delete empty buckets; `footplate storage rm --recursive` deletes what is in them, too.

    \b
    Example:
      footplate storage buckets delete gs://stage
    """
    with session.connect() as service:
        for url in urls:
            bucket = GcsUri.parse(url if "://" in url else f"gs://{url}", "bucket").bucket
            service.storage.delete_bucket(bucket)
            click.echo(f"Removed gs://{bucket}/", err=True)


@click.command("list")
@list_options
@with_session
def list_(session: Session, listing: Listing) -> None:
    """List the buckets, and what they are bound to outside the data directory."""
    with session.connect() as service:
        buckets = service.storage.buckets(session.project)
    found = listing.of(bucket.resource for bucket in buckets)
    columns = {"NAME": "name", "PROJECT": "project", "CREATED": "timeCreated"}
    if any("target" in bucket.resource for bucket in buckets):
        columns |= {"BOUND_TO": "target", "READ_ONLY": "readOnly"}
    show_list(found, listing, columns)


_COLUMNS = {"SIZE": "size", "UPDATED": "updated", "OBJECT": "url"}
_URLS = Layout("value", ("url",))


@click.command("ls")
@click.argument(
    "places", nargs=-1, metavar="[gs://BUCKET[/PATH]...]", shell_complete=offered("places")
)
@click.option("--long", "-l", "long_form", is_flag=True, help="Show sizes and times, too.")
@click.option("--recursive", "-r", "-R", is_flag=True, help="List the objects in folders, too.")
@list_options
@with_session
def ls(
    session: Session,
    places: tuple[str, ...],
    listing: Listing,
    *,
    long_form: bool,
    recursive: bool,
) -> None:
    """List buckets, or the objects in one, a folder at a time.

    * and ? stand for what they do in a shell, ** for folders, too. Fields for --sort-by
    and --format are url, size and updated.

    \b
    Examples:
      footplate storage ls
      footplate storage ls -l gs://stage/census/
      footplate storage ls --recursive gs://stage --sort-by=~size
      footplate storage ls 'gs://stage/**.json'
    """
    uris = [GcsUri.parse(place, "place") for place in places]
    with session.connect() as service:
        if uris:
            rows = [row for uri in uris for row in _rows(service.storage, uri, recursive=recursive)]
        else:
            rows = [{"url": f"gs://{b.name}/"} for b in service.storage.buckets(session.project)]
        found = listing.of(rows)
    plain = listing.layout.kind == "table" and not long_form
    show_list(found, replace(listing, layout=_URLS) if plain else listing, _COLUMNS)


def _rows(storage: Storage, uri: GcsUri, *, recursive: bool) -> Iterator[Resource]:
    """Yields the rows of objects. Raises Failure if there are none."""
    if recursive and not uri.path:
        yield from map(_row, storage.objects(uri))
    elif recursive or "**" in uri.path:
        yield from map(_row, matching(storage, uri, recursive=recursive))
    elif is_pattern(uri.path):
        yield from map(_row, matching(storage, uri, recursive=False))
    else:
        yield from _in_folder(storage, uri)


def _in_folder(storage: Storage, uri: GcsUri) -> Iterator[Resource]:
    """Yields the rows of a folder's content, and of an object with this exact name."""
    exact = [o for o in storage.objects(uri) if o.name == uri.path] if uri.path else []
    yield from map(_row, exact)
    found = level(storage, uri)
    if found is None:
        if exact:
            return
        raise Failure(
            f"{uri} does not exist; `footplate storage ls gs://{uri.bucket}` lists the bucket"
        )
    for prefix in found.prefixes:
        yield {"url": f"gs://{uri.bucket}/{prefix}"}
    yield from map(_row, found.objects)


def _row(stored: StoredObject) -> Resource:
    return {"url": stored.uri, "size": stored.size_bytes, "updated": stored.update_time}


@click.command("cp")
@click.argument(
    "sources",
    nargs=-1,
    required=True,
    metavar="SOURCE...",
    shell_complete=offered("places_or_files"),
)
@click.argument("target", metavar="DESTINATION", shell_complete=offered("places_or_files"))
@click.option("--recursive", "-r", "-R", is_flag=True, help="Copy folders, with all files in them.")
@with_session
def cp(session: Session, sources: tuple[str, ...], target: str, *, recursive: bool) -> None:
    """Copy files into a bucket, out of one, or from one to another.

    What is there already is replaced.

    \b
    Examples:
      footplate storage cp data.csv gs://stage/data/
      footplate storage cp --recursive data gs://stage
      footplate storage cp 'gs://stage/census/*.json' .
    """
    with session.connect() as service:
        places = [place(source) for source in sources]
        transfers = plan(service.storage, places, target, recursive=recursive)
        with Progress("Copying", len(transfers)) as progress:
            for transfer in transfers:
                progress.step(f"Copying {transfer.source} to {transfer.target}")
                _copy(service.storage, transfer)


def _copy(storage: Storage, transfer: Transfer) -> None:
    source, target = transfer.source, transfer.target
    if isinstance(source, Path):
        if isinstance(target, Path):
            raise click.UsageError(
                "neither path is in a bucket: to copy files of this machine, use cp"
            )
        storage.upload_file(target, source)
    elif isinstance(target, Path):
        storage.download_file(source, target)
    else:
        storage.copy(source, target)


_objects_argument = click.argument(
    "urls",
    nargs=-1,
    required=True,
    metavar="gs://BUCKET/OBJECT...",
    shell_complete=offered("places"),
)


@click.command("cat")
@_objects_argument
@with_session
def cat(session: Session, urls: tuple[str, ...]) -> None:
    """Print objects, as they are.

    \b
    Example:
      footplate storage cat gs://stage/census/metrics.json
    """
    out = sys.stdout.buffer
    with session.connect() as service:
        for url in urls:
            for chunk in service.storage.download(GcsUri.parse(url, "url")):
                out.write(chunk)
    out.flush()


@click.command("rm")
@_objects_argument
@click.option(
    "--recursive",
    "-r",
    "-R",
    is_flag=True,
    help="Delete all objects below a folder; for gs://BUCKET, the bucket as well.",
)
@with_session
def rm(session: Session, urls: tuple[str, ...], *, recursive: bool) -> None:
    """Delete objects. Nothing brings them back.

    \b
    Examples:
      footplate storage rm gs://stage/census/old.json
      footplate storage rm --recursive gs://stage/census
      footplate storage rm 'gs://stage/**.tmp'
    """
    uris = parse_urls(urls)
    for uri in uris:
        if not uri.path and not recursive:
            raise click.UsageError(
                f"{uri} is a bucket; --recursive deletes the bucket with all its objects"
            )
    with session.connect() as service:
        for uri in uris:
            whole = recursive and not uri.path.strip("/")
            found = (
                [*service.storage.objects(uri)]
                if whole
                else matching(service.storage, uri, recursive=recursive)
            )
            for stored in found:
                service.storage.delete(stored.place)
                click.echo(f"Removed {stored.uri}", err=True)
            if whole:
                service.storage.delete_bucket(uri.bucket)
                click.echo(f"Removed gs://{uri.bucket}/", err=True)


_BUCKETS = Group(
    "buckets",
    (
        Entry("create", create, "Create a bucket."),
        Entry("delete", delete, "Delete an empty bucket."),
        Entry("list", list_, "List buckets."),
    ),
    help="Create, list and delete buckets.",
)


command = Group(
    "storage",
    (
        Entry("buckets", _BUCKETS, "Create, list and delete buckets."),
        Entry("ls", ls, "List buckets, or the objects in one."),
        Entry("cp", cp, "Copy files to and from buckets."),
        Entry("cat", cat, "Print an object."),
        Entry("rm", rm, "Delete objects."),
    ),
    help="""Manage buckets and their objects.

    A bucket is a folder of the service, and holds the packages and job directories of jobs.
    """,
)
