"""gcloud's options of a list as one value, and their effects."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.formats.format_spec import TABLE, Layout, read
from footplate.cli.formats.grammar import read_path
from footplate.cli.formats.printers import flattened, rank
from footplate.cli.lists.filter_expression import fields, read_condition, with_states
from footplate.cli.option_values import split_list
from footplate.cli.output_format import cell, format_option, render_list
from footplate.cli.terminal_text import disarm
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from footplate.cli.formats.format_spec import Path, Resource
    from footplate.cli.jobs.kinds import States
    from footplate.cli.lists.filter_expression import Condition

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Order:
    """A field to sort by."""

    path: Path
    descending: bool = False


class ConditionValue(click.ParamType["Condition"]):
    name = "filter"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Condition:
        if not isinstance(value, str):
            return value  # type: ignore[return-value]  # converted already
        try:
            return read_condition(value, datetime.now(UTC))
        except InvalidArgument as error:
            self.fail(error.message.removeprefix("filter: "), param, ctx)


class OrderValue(click.ParamType["tuple[Order, ...]"]):
    """``a,~b.c``."""

    name = "fields"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Order, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(_order(part.strip()) for part in split_list(str(value)))
        except InvalidArgument as error:
            self.fail(error.message, param, ctx)


def _order(text: str) -> Order:
    return Order(read_path(text.removeprefix("~")), text.startswith("~"))


@dataclass(frozen=True)
class Listing:
    """Which resources are shown, in what order, how many at most (None: all), and how."""

    layout: Layout = TABLE
    condition: Condition | None = None
    orders: tuple[Order, ...] = ()
    limit: int | None = None
    page_size: int | None = None
    uri: bool = False

    def of(self, resources: Iterable[Resource]) -> list[Resource]:
        """As gcloud: first each item of what is flattened, then sorted, filtered, and cut off.

        What nobody asks for isn't fetched: without an order, ``limit`` ends the reading. Fields
        of the filter that nothing has are told of.
        """
        for path in self.layout.flatten:
            resources = flattened(list(resources), path)
        if self.orders:
            resources = self._sorted(list(resources))
        condition = self.condition
        if condition is None:
            return list(islice(resources, self.limit))
        missing = set(fields(condition))
        found = (r for r in _ticked_off(missing, resources) if condition.holds(r))
        kept = list(islice(found, self.limit))
        if missing and not kept:
            names = " or ".join(sorted(missing))
            click.echo(f"Note: --filter: nothing here has the field {names}.", err=True)
        return kept

    def printed(self, layout: Layout) -> Listing:
        """The same, in another layout."""
        return replace(self, layout=replace(layout, flatten=self.layout.flatten))

    def with_states(self, states: States) -> Listing:
        """With states as a face spells them. Raises InvalidArgument: there is no such state."""
        if self.condition is None:
            return self
        return replace(self, condition=with_states(self.condition, states))

    def _sorted(self, found: list[Resource]) -> list[Resource]:
        """Resources without the field come last. Warns about a field that no resource has."""
        for order in reversed(self.orders):
            there = [r for r in found if read(r, order.path) is not None]
            lacking = [r for r in found if read(r, order.path) is None]
            if lacking and not there:
                name = ".".join(str(part) for part in order.path)
                click.echo(f"Note: --sort-by: nothing here has the field {name}.", err=True)
            there.sort(key=lambda r: rank(read(r, order.path)), reverse=order.descending)
            found = [*there, *lacking]
        return found


def _ticked_off(missing: set[str], resources: Iterable[Resource]) -> Iterator[Resource]:
    """``resources``; the fields that they have are taken out of ``missing`` as they go by."""
    none = True
    for resource in resources:
        none = False
        missing -= {name for name in missing if cell(resource, name)}
        yield resource
    if none:
        missing.clear()


def list_options(function: Callable[P, R]) -> Callable[P, R]:
    """gcloud's, handed over as one Listing."""

    @click.option(
        "--filter",
        "condition",
        type=ConditionValue(),
        metavar="EXPRESSION",
        help="Only what matches: FIELD=VALUE, != < <= > >=, : (contains), ~ (a regular "
        "expression), AND, OR, NOT; times may be such as -p1d.",
    )
    @click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Show at most N.")
    @click.option(
        "--page-size",
        type=click.IntRange(min=1),
        metavar="N",
        help="Asked for at a time; changes nothing in what is shown.",
    )
    @click.option(
        "--sort-by",
        "orders",
        type=OrderValue(),
        default=(),
        metavar="FIELD,...",
        help="Order by fields; ~FIELD for descending.",
    )
    @format_option("table")
    @functools.wraps(function)
    def wrapper(
        layout: Layout,
        condition: Condition | None,
        orders: tuple[Order, ...],
        limit: int | None,
        page_size: int | None,
        *args: P.args,
        **kw: P.kwargs,
    ) -> R:
        uri = bool(kw.pop("uri", False))
        kw["listing"] = Listing(layout, condition, orders, limit, page_size, uri)
        return function(*args, **kw)

    return wrapper  # type: ignore[return-value]  # click hands the options over itself


def uri_option(function: Callable[P, R]) -> Callable[P, R]:
    """``--uri``, which goes into the Listing."""
    return click.option("--uri", is_flag=True, help="Print resource names only.")(function)


def show_list(
    found: Sequence[Resource],
    listing: Listing,
    columns: Mapping[str, str],
    *,
    row: Callable[[Resource], Resource] | None = None,
    fold: bool = False,
) -> None:
    """On stdout what ``listing`` has kept; ``row`` makes the cells of the command's own table."""
    layout = listing.layout
    if not found:
        show_none(listing)
    else:
        shown = [row(resource) for resource in found] if row and layout.takes_rows else found
        click.echo(render_list(shown, layout.without_flatten(), columns, fold=fold))


def show_none(listing: Listing, where: str = "") -> None:
    """Prints an empty list for JSON, and a message for people."""
    if listing.layout.kind == "json":
        click.echo("[]")
    click.echo(f"Listed 0 items{where}.", err=True)


def print_names(names: Sequence[str]) -> None:
    click.echo(disarm("\n".join(names), plain=True))
