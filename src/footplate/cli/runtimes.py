"""``footplate runtimes``."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.group import Entry, Group
from footplate.cli.linux_only import require_linux
from footplate.cli.listing import Listing, list_options, show_list
from footplate.cli.option_values import Duration, Size, ago, size
from footplate.cli.progress import build_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pydantic import JsonValue

    from footplate.cli.output_format import Resource
    from footplate.replica.environment.cache import CacheEntry
    from footplate.replica.environment.eviction import EvictionPolicy
    from footplate.runtime_cache import Environment, Environments, Here, Inventory

P = ParamSpec("P")
R = TypeVar("R")


def _data_dir_option(function: Callable[P, R]) -> Callable[P, R]:
    return click.option(
        "--data-dir",
        envvar="FOOTPLATE_DATA_DIR",
        type=click.Path(),
        metavar="DIR",
        help="Data directory whose settings name the cache.  [env: FOOTPLATE_DATA_DIR]",
    )(function)


def _environments(data_dir: str | None) -> Environments:
    """Returns the cached environments.

    Raises InvalidArgument, FailedPrecondition if a setting or the catalogue file is wrong, and
    Failure on a machine that doesn't run Linux.
    """
    require_linux("`footplate runtimes`")
    # Imported here: a help text has no use for them.
    import uv

    from footplate.runtime_cache import Environments
    from footplate.server.isolation_probe import PromisedIsolation
    from footplate.server.program_users import resolve
    from footplate.settings import load_settings

    settings = load_settings(os.environ, {"data_dir": data_dir})
    users = resolve(settings.program_users)
    return Environments(
        settings,
        Path(uv.find_uv_bin()),
        users=users,
        promised=lambda: PromisedIsolation(settings)(),  # only where something is built
    )


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
@click.option("--built", "only_built", is_flag=True, help="Only runtimes that are built here.")
@_data_dir_option
@list_options
def list_(data_dir: str | None, listing: Listing, *, only_built: bool) -> None:
    """List the runtimes that jobs can name, and what is built of each on this machine.

    Sizes are those of what was installed. Files may be shared with uv's own cache, whose size
    is shown separately.

    \b
    Examples:
      footplate runtimes list --built
      footplate runtimes list --format=json
    """
    inventory = _environments(data_dir).inventory()
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
    lines = [
        (
            f"The cache {inventory.cache} has {held}; {size(inventory.free_bytes)} of the "
            "disk are free"
        )
    ]
    if inventory.others:
        lines.append(
            f"{size(inventory.others_bytes)} of the cache belong to no runtime of the catalogue, "
            "or are left over from builds that ended early. `footplate runtimes prune` removes "
            "leftovers"
        )
    if inventory.uv_cache:
        used = size(inventory.uv_cache_bytes)
        lines.append(f"uv's own cache {inventory.uv_cache} has {used} (prune --uv-cache)")
    return lines


@click.command("build")
@click.argument("name", metavar="RUNTIME")
@click.option("--gpu", is_flag=True, help="Build the environment for replicas with GPUs.")
@click.option(
    "--slice",
    "part",
    default="full",
    show_default=True,
    metavar="SLICE",
    help=(
        "Build only this part of the runtime, such as scikit-learn, which is enough for "
        "many programs."
    ),
)
@_data_dir_option
def build(name: str, part: str, data_dir: str | None, *, gpu: bool) -> None:
    """Build a runtime before a job needs it.

    RUNTIME is a runtime version or a prebuilt image. What is there already is not built again;
    if a job, or another server, builds the same now, that is waited for. Ctrl-C leaves nothing
    half-built.

    \b
    Examples:
      footplate runtimes build 2.11
      footplate runtimes build pytorch-gpu.2-4.py310 --gpu
    """
    there = _environments(data_dir)
    with build_progress() as teller:
        runtime, size_bytes = there.build(name, gpu=gpu, part=part, teller=teller)
    held = f", {size(size_bytes)}" if size_bytes else ""
    click.echo(f"Runtime {runtime.name} (Python {runtime.python}) is built{held}.")


@click.command("prune")
@click.option(
    "--unused-for",
    type=Duration(),
    metavar="TIME",
    help="Remove environments that no program has used for this long: 30d.",
)
@click.option(
    "--keep-below",
    type=Size(),
    metavar="SIZE",
    help="Remove the least recently used environments until the rest takes at most SIZE: 20GB.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Remove all environments that no running replica uses.",
)
@click.option("--uv-cache", is_flag=True, help="Let uv prune its own cache as well.")
@click.option("--dry-run", is_flag=True, help="Only show what the command would remove.")
@_data_dir_option
def prune(
    unused_for: float | None,
    keep_below: int | None,
    data_dir: str | None,
    *,
    everything: bool,
    uv_cache: bool,
    dry_run: bool,
) -> None:
    """Remove environments of runtimes, and the layers of packages above them.

    Without an option: what builds that ended early left over, and what is above the limit of the
    setting cache_limit_gb. What a running replica uses always stays, and what a persistent
    resource keeps goes only with --all. Jobs build again what they need.

    \b
    Examples:
      footplate runtimes prune --unused-for=30d --dry-run
      footplate runtimes prune --keep-below=20GB
    """
    there = _environments(data_dir)
    policy = _policy(there, unused_for, keep_below, everything=everything)
    if dry_run:
        planned = there.plan(policy)
        _notify(planned)
        click.echo(f"Would free {_total(planned)}; nothing was removed.")
        return
    pruned = there.prune(policy)
    _notify(pruned.removed)
    click.echo(f"Freed {_total(pruned.removed)}.")
    for found in pruned.kept:
        click.echo(f"Kept {_name(found)}, which is in use.", err=True)
    if uv_cache:
        click.echo(f"uv's own cache: freed {size(there.prune_uv())}.")


def _policy(
    there: Environments, unused_for: float | None, keep_below: int | None, *, everything: bool
) -> EvictionPolicy:
    # Imported here: a help text has no use for it.
    from footplate.replica.environment.eviction import EvictionPolicy

    if unused_for is None and keep_below is None and not everything:
        return there.to_the_limit()
    return EvictionPolicy(unused_for_s=unused_for, below_bytes=keep_below, everything=everything)


def _notify(found: Sequence[CacheEntry]) -> None:
    now = time.time()
    for one in found:
        entry = one.entry
        used = "half-built" if entry.useless else f"last used {ago(now - entry.used_at)}"
        click.echo(f"{_name(one)}  {size(entry.size_bytes)}  {used}")


def _name(found: CacheEntry) -> str:
    """Returns the entry's purpose, as far as recorded, and its name in the cache."""
    record = found.record
    of = f"runtime {record.runtime}" if record.runtime else "an unknown runtime"
    if found.entry.kind == "layers":
        of = f"{', '.join(record.packages) or 'packages'} on {of}"
    return f"{found.entry.kind}/{found.entry.key[:8]}  {of}"


def _total(found: Sequence[CacheEntry]) -> str:
    count = len(found)
    what = "1 environment" if count == 1 else f"{count} environments"
    return f"{size(sum(one.entry.size_bytes for one in found))}, {what}"


command = Group(
    "runtimes",
    (
        Entry("list", list_, "List the runtimes that jobs run in."),
        Entry("build", build, "Build a runtime before a job needs it."),
        Entry("prune", prune, "Remove environments that nothing uses."),
    ),
    help="""Environments of runtimes in this machine's cache, with or without a server.

    \b
    footplate runtimes list
    footplate runtimes build 2.11
    footplate runtimes prune --unused-for=30d --dry-run

    A job builds missing environments by itself. Environments that a running replica uses are
    never removed.
    """,
)
