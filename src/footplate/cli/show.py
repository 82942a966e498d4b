"""Resources as text: what ``--format`` says."""

from __future__ import annotations

import json
import re
import shutil
import sys
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.table import folded, table
from footplate.cli.terminal import disarm
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pydantic import JsonValue

    Resource = Mapping[str, JsonValue]

P = ParamSpec("P")
R = TypeVar("R")

_LAYOUT = re.compile(r"(json|yaml|table|value)(?:\((.*)\))?", re.DOTALL)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def format_option(default: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    return click.option(
        "--format",
        "layout",
        default=default,
        show_default=True,
        metavar="FORMAT",
        callback=_check_layout,
        help="json, yaml, table, or value(FIELD,...) for scripts, such as value(state).",
    )


def _check_layout(_ctx: click.Context, _parameter: click.Parameter, value: str) -> str:
    match = _LAYOUT.fullmatch(value.strip())
    if match is None or (match[1] == "value" and not match[2]):
        raise click.BadParameter(f"{value!r} given; allowed: json, yaml, table, value(FIELD,...)")
    return value.strip()


def render(resource: Resource, layout: str, columns: Mapping[str, str]) -> str:
    """One resource; ``columns`` (heading to path) are those of a table."""
    kind = _LAYOUT.fullmatch(layout)
    if kind is not None and kind[1] == "json":
        return json.dumps(resource, indent=2, sort_keys=True, ensure_ascii=False)
    return render_list([resource], layout, columns)


def render_list(
    resources: Iterable[Resource], layout: str, columns: Mapping[str, str], *, fold: bool = False
) -> str:
    """Several: a JSON list, YAML documents, or a row each.

    ``fold``: the last one of ``columns`` is text, which is broken to fit a terminal.
    """
    found = list(resources)
    match = _LAYOUT.fullmatch(layout)
    if match is None:
        raise InvalidArgument(f"{layout!r} is no format")
    kind, paths = match[1], [p.strip() for p in (match[2] or "").split(",") if p.strip()]
    if kind == "json":
        return json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False)
    if kind == "yaml":
        return "\n---\n".join(_yaml(resource) for resource in found)
    if kind == "value":
        return "\n".join("\t".join(cell(r, path) for path in paths) for r in found)
    headed = {_heading(path): path for path in paths} or dict(columns)
    rows = [[cell(r, path) for path in headed.values()] for r in found]
    if fold and not paths and sys.stdout.isatty():
        return folded(list(headed), rows, shutil.get_terminal_size().columns)
    return table(list(headed), rows)


def _heading(path: str) -> str:
    """gcloud's: ``JOB_ID`` of ``jobId``."""
    return _HUMP.sub("_", path.rpartition(".")[2]).upper()


def _yaml(resource: Resource) -> str:
    # Imported here: most commands print no YAML.
    import yaml

    text: str = yaml.safe_dump(
        json.loads(json.dumps(resource)), default_flow_style=False, allow_unicode=True, width=1000
    )
    return text.rstrip("\n")


def cell(resource: Resource, path: str) -> str:
    """The field at a path such as ``jobSpec.workerPoolSpecs.0.replicaCount``; absent: empty."""
    value: JsonValue = dict(resource)
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return ""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return disarm(text) if sys.stdout.isatty() else text
