"""``--format``: prints resources."""

from __future__ import annotations

import functools
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.formats.format_spec import Column, Layout, read
from footplate.cli.formats.grammar import read_format, read_path
from footplate.cli.formats.printers import (
    flattened,
    json_text,
    print_resources,
    projected,
    yaml_text,
)
from footplate.cli.option_values import split_list
from footplate.cli.table import folded
from footplate.cli.terminal_text import disarm, spell_json
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pydantic import JsonValue

    from footplate.cli.formats.format_spec import Path

    Resource = Mapping[str, JsonValue]

P = ParamSpec("P")
R = TypeVar("R")


class LayoutValue(click.ParamType[Layout]):
    """A format in gcloud's grammar."""

    name = "format"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Layout:
        if isinstance(value, Layout):
            return value
        try:
            return read_format(str(value))
        except InvalidArgument as error:
            self.fail(error.message, param, ctx)


class PathsValue(click.ParamType["tuple[Path, ...]"]):
    """``a.b[],c``."""

    name = "paths"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Path, ...]:
        if isinstance(value, tuple):
            return value
        try:
            return tuple(read_path(text) for text in split_list(str(value)))
        except InvalidArgument as error:
            self.fail(error.message, param, ctx)


def format_option(default: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """``--format`` and ``--flatten``, handed over as one Layout."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @click.option(
            "--format",
            "layout",
            type=LayoutValue(),
            default=default,
            show_default=True,
            metavar="FORMAT",
            help="json, yaml, table, csv(FIELD,...), or value(FIELD,...) for scripts, such as "
            "value(state).",
        )
        @click.option(
            "--flatten",
            type=PathsValue(),
            default=(),
            metavar="FIELD[],...",
            help="Show each item of a list as a separate resource.",
        )
        @functools.wraps(function)
        def wrapper(layout: Layout, flatten: tuple[Path, ...], *args: P.args, **kw: P.kwargs) -> R:
            kw["layout"] = replace(layout, flatten=flatten)
            return function(*args, **kw)

        return wrapper  # type: ignore[return-value]  # click hands both options over itself

    return decorate


def render(resource: Resource, layout: Layout, columns: Mapping[str, str]) -> str:
    """One resource; ``columns`` (heading to path) are those of a table."""
    if layout.flatten or layout.kind not in {"json", "yaml"}:
        return render_list([resource], layout, columns)
    text = json_text if layout.kind == "json" else yaml_text
    return text(projected(resource, layout))


def render_list(
    resources: Iterable[Resource], layout: Layout, columns: Mapping[str, str], *, fold: bool = False
) -> str:
    """Several: a JSON list, YAML documents, or a row each.

    ``fold``: the last one of ``columns`` is text, which is broken to fit a terminal.
    """
    found = list(resources)
    for path in layout.flatten:
        found = list(flattened(found, path))
    if fold and sys.stdout.isatty() and layout == Layout("table"):
        rows = [[cell(resource, path) for path in columns.values()] for resource in found]
        return folded(list(columns), rows, shutil.get_terminal_size().columns)
    if layout.takes_rows:
        layout = replace(layout, columns=_columns(columns))
    text = print_resources(found, layout)
    return "\n".join(map(disarm, text.split("\n")))


def _columns(columns: Mapping[str, str]) -> tuple[Column, ...]:
    return tuple(Column(tuple(path.split(".")), label=head) for head, path in columns.items())


def cell(resource: Resource, path: str) -> str:
    """The field at a path such as ``jobSpec.workerPoolSpecs.0.replicaCount``; absent: empty."""
    value = read(resource, tuple(path.split(".")))
    if value is None:
        return ""
    text = value if isinstance(value, str) else spell_json(value)
    return disarm(text, plain=True)
