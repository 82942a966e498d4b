"""``footplate runtimes list``."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from footplate.cli.lists.listing import Listing, list_options, show_list
from footplate.cli.runtimes.local_environments import data_dir_option, environments
from footplate.cli.runtimes.size_values import ago, size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import JsonValue

    from footplate.cli.formats.field_paths import Resource
    from footplate.runtime_cache import Environment, Here, Inventory

_COLUMNS = {
    "RUNTIME": "name",
    "PYTHON": "python",
    "SIZE": "size",
    "LAYERS": "layers",
    "LAST_USE": "lastUse",
    "BUILT": "built",
    "IMAGES": "images",
}


@click.command("list")
@click.option("--built", "only_built", is_flag=True, help="Only those that are built here.")
@data_dir_option
@list_options
def command(data_dir: str | None, listing: Listing, *, only_built: bool) -> None:
    """List the runtimes that jobs can name, and what is built of each on this machine.

    Sizes are those of what was installed. Files may be shared with uv's own cache, whose size
    is told apart.

    \b
    Examples:
      footplate runtimes list --built
      footplate runtimes list --format=json
    """
    inventory = environments(data_dir).inventory()
    shown = [here for here in inventory.runtimes if here.built or not only_built]
    rows = {here.offer.runtime.name: _row(here, time.time()) for here in shown}
    found = listing.of([_resource(here) for here in shown])
    show_list(found, listing, _COLUMNS, row=lambda one: rows[str(one["name"])], fold=True)
    for line in _summary(inventory):
        click.echo(line, err=True)


def _row(here: Here, now: float) -> Resource:
    missing = " (missing)" if here.interpreter is None else ""
    layers = sum(one.layers for one in here.built)
    layers_bytes = sum(one.layers_bytes for one in here.built)
    return {
        "name": here.offer.runtime.name,
        "python": f"{here.offer.runtime.python}{missing}",
        "size": size(sum(one.size_bytes for one in here.built)) if here.built else "-",
        "layers": f"{layers}, {size(layers_bytes)}" if layers else "-",
        "lastUse": _last_use(here.built, now),
        "built": ", ".join(_words(one) for one in here.built) or "-",
        "images": ", ".join(here.offer.images),
    }


def _words(one: Environment) -> str:
    return one.slice if "cpu" in one.variants else f"{one.slice} (GPU)"


def _last_use(built: Iterable[Environment], now: float) -> str:
    uses = [(one.in_use, one.used_at) for one in built]
    if any(in_use for in_use, _ in uses):
        return "in use now"
    return ago(now - max(used_at for _, used_at in uses)) if uses else "-"


def _resource(here: Here) -> Resource:
    built: list[JsonValue] = [_environment(one) for one in here.built]
    return {
        "name": here.offer.runtime.name,
        "versions": list(here.offer.versions),
        "images": list(here.offer.images),
        "python": here.offer.runtime.python,
        "interpreter": here.interpreter,
        "interpreterVersion": here.interpreter_version,
        "gpu": bool(here.offer.runtime.gpu),
        "built": built,
    }


def _environment(one: Environment) -> dict[str, JsonValue]:
    return {
        "slice": one.slice,
        "variants": list(one.variants),
        "sizeBytes": one.size_bytes,
        "lastUseTime": datetime.fromtimestamp(one.used_at, UTC).isoformat(timespec="seconds"),
        "inUse": one.in_use,
        "layers": one.layers,
        "layersBytes": one.layers_bytes,
    }


def _summary(inventory: Inventory) -> list[str]:
    limit = f" of {size(inventory.limit_bytes)}" if inventory.limit_bytes else ""
    count = inventory.environments
    what = "1 environment" if count == 1 else f"{count} environments"
    held = f"{what}, {size(inventory.environments_bytes)}{limit}"
    lines = [f"{inventory.cache}: {held}; {size(inventory.free_bytes)} free on the disk"]
    if inventory.others:
        lines.append(
            f"{size(inventory.others_bytes)} of it belong to no runtime of the catalogue, or are "
            "the rest of builds that were ended; `footplate runtimes prune` removes the latter"
        )
    if inventory.uv_cache:
        used = size(inventory.uv_cache_bytes)
        lines.append(f"{inventory.uv_cache}: {used}, uv's own (prune --uv-cache)")
    return lines
