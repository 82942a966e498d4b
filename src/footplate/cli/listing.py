"""gcloud's options of a list as one value, and their effects."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.option_values import ListValue
from footplate.cli.output_format import TABLE, Layout, format_option, read, render_list, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pydantic import JsonValue

    from footplate.cli.output_format import Resource

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Listing:
    """The order of listed resources, how many at most (None: all), and the format."""

    layout: Layout = TABLE
    orders: tuple[str, ...] = ()
    """Paths of fields, the first of which counts most; ``~`` before one: descending."""
    limit: int | None = None
    page_size: int | None = None
    uri: bool = False

    def of(self, resources: Iterable[Resource]) -> list[Resource]:
        """Returns resources sorted and then limited, as gcloud does. Without an order it reads only
        ``limit``.
        """
        if self.orders:
            resources = self._sorted(list(resources))
        return list(islice(resources, self.limit))

    def _sorted(self, found: list[Resource]) -> list[Resource]:
        """Sorts resources, those without the field last. Warns if no resource has the field."""
        for order in reversed(self.orders):
            path = order.removeprefix("~")
            there = [r for r in found if read(r, path) is not None]
            lacking = [r for r in found if read(r, path) is None]
            if lacking and not there:
                click.echo(
                    f"Note: --sort-by: no entry of this list has the field {path}.", err=True
                )
            there.sort(key=lambda r: _rank(read(r, path)), reverse=order.startswith("~"))
            found = [*there, *lacking]
        return found


def _rank(value: JsonValue) -> tuple[int, float, str]:
    """Returns a sort key: numbers, also in text, by size, and other texts after them."""
    try:
        return 0, float(text_of(value)), ""
    except ValueError:
        return 1, 0.0, text_of(value)


def list_options(function: Callable[P, R]) -> Callable[P, R]:
    """Adds gcloud's options for lists, and passes them as one Listing."""

    @click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Show at most N.")
    @click.option(
        "--page-size",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of entries in each request to the server; the output stays the same.",
    )
    @click.option(
        "--sort-by",
        "orders",
        type=ListValue(),
        default="",
        metavar="FIELD,...",
        help="Sort by these fields; ~FIELD sorts in descending order.",
    )
    @format_option("table")
    @functools.wraps(function)
    def wrapper(
        layout: Layout,
        orders: Sequence[str],
        limit: int | None,
        page_size: int | None,
        *args: P.args,
        **kw: P.kwargs,
    ) -> R:
        uri = bool(kw.pop("uri", False))
        given = tuple(order.strip() for order in orders)
        kw["listing"] = Listing(layout, given, limit, page_size, uri)
        return function(*args, **kw)

    return wrapper  # type: ignore[return-value]  # click hands the options over itself


filter_option = click.option(
    "--filter",
    "condition",
    default="",
    metavar="EXPRESSION",
    help="Show only what matches, in the syntax of the API's filters: FIELD=VALUE, != < <= > >=, "
    ": (contains), AND, OR, NOT.",
)
uri_option = click.option("--uri", is_flag=True, help="Print resource names only.")
"""It goes into the Listing."""


def show_list(
    found: Sequence[Resource],
    listing: Listing,
    columns: Mapping[str, str],
    *,
    row: Callable[[Resource], Resource] | None = None,
    fold: bool = False,
) -> None:
    """Prints the resources as the options of ``listing`` say.

    A table has ``columns`` (heading: field). ``row`` turns a resource into one with these fields,
    where it hasn't them itself. ``fold`` wraps the last column to fit the terminal.
    """
    layout = listing.layout
    if not found:
        show_none(listing)
    else:
        shown = [row(resource) for resource in found] if row and layout.takes_rows else found
        click.echo(render_list(shown, layout, columns, fold=fold))


def show_none(listing: Listing, where: str = "") -> None:
    """Prints an empty list for JSON, and a message on stderr."""
    if listing.layout.kind == "json":
        click.echo("[]")
    click.echo(f"Listed 0 items{where}.", err=True)
