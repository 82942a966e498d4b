"""``footplate runtimes prune``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from footplate.cli.runtimes.local_environments import data_dir_option, environments
from footplate.cli.runtimes.size_values import Duration, Size, ago, size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.replica.environment.cache import CacheEntry
    from footplate.replica.environment.eviction import EvictionPolicy
    from footplate.runtime_cache import Environments


@click.command("prune")
@click.option(
    "--unused-for",
    type=Duration(),
    metavar="TIME",
    help="Remove what has not been used for this long: 30d.",
)
@click.option(
    "--keep-below",
    type=Size(),
    metavar="SIZE",
    help="As much, least recently used first, as it takes: 20GB.",
)
@click.option("--all", "everything", is_flag=True, help="All that no running replica uses.")
@click.option("--uv-cache", is_flag=True, help="Have uv prune its own cache as well.")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
@data_dir_option
def command(
    unused_for: float | None,
    keep_below: int | None,
    data_dir: str | None,
    *,
    everything: bool,
    uv_cache: bool,
    dry_run: bool,
) -> None:
    """Remove environments of runtimes, and the layers of packages above them.

    Without an option: the rest of builds that were ended, and what is above the limit of the
    setting cache_limit_gb. What a running replica uses always stays. Jobs build again what they
    need.

    \b
    Examples:
      footplate runtimes prune --unused-for=30d --dry-run
      footplate runtimes prune --keep-below=20GB
    """
    there = environments(data_dir)
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
        click.echo(f"Kept {_name(found)}: it is in use.", err=True)
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
    """What it is for, as far as it says, and its name in the cache."""
    runtime = found.record.get("runtime")
    packages = found.record.get("packages")
    of = f"runtime {runtime}" if runtime else "an unknown runtime"
    if found.entry.kind == "layers":
        names = ", ".join(map(str, packages)) if isinstance(packages, list) else "packages"
        of = f"{names} on {of}"
    return f"{found.entry.kind}/{found.entry.key[:8]}  {of}"


def _total(found: Sequence[CacheEntry]) -> str:
    count = len(found)
    what = "1 environment" if count == 1 else f"{count} environments"
    return f"{size(sum(one.entry.size_bytes for one in found))}, {what}"
