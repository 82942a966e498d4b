"""Suggests a command for an unknown one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_MOST = 3
_GCLOUD = "leave it out: `footplate` takes gcloud's words from the next one on"
_STORAGE = "buckets are in `footplate storage`"
_TRAINING_ONLY = "Footplate trains models; it neither keeps nor serves them"
UNSUPPORTED_COMMANDS: Mapping[str, Mapping[str, str]] = {
    "footplate": {"gcloud": _GCLOUD, "gsutil": _STORAGE, "logs": "see `stream-logs` of the jobs"},
    "ai": dict.fromkeys(("models", "endpoints", "model-garden", "indexes"), _TRAINING_ONLY),
    "ai-platform": dict.fromkeys(("models", "versions", "predict", "explain"), _TRAINING_ONLY),
    "storage": {"mb": "`buckets create` makes one", "mv": "`cp`, and then `rm`"},
}
"""By group: what others have of that name, and what there is in its place."""


def hint(group: click.Group, ctx: click.Context, word: str) -> str:
    """A sentence, with a space before it; or nothing."""
    absent = UNSUPPORTED_COMMANDS.get(group.name or "", {}).get(word)
    if absent is not None:
        return f" {absent[0].upper()}{absent[1:]}."
    names = group.list_commands(ctx)
    near = difflib.get_close_matches(word, names, n=1)
    if near:
        return f" Did you mean {near[0]!r}?"
    deeper = [" ".join(path) for path in _deeper(group, ctx, word)]
    if 0 < len(deeper) <= _MOST:
        return f" Did you mean {' or '.join(map(repr, deeper))}?"
    return f" Did you mean '{names[0]} {word}'?" if len(names) == 1 else ""


def _deeper(group: click.Group, ctx: click.Context, word: str) -> Iterator[tuple[str, ...]]:
    """Where groups below this one have a command of that name."""
    for name in group.list_commands(ctx):
        below = group.get_command(ctx, name)
        if not isinstance(below, click.Group):
            continue
        if word in below.list_commands(ctx):
            yield name, word
        else:
            yield from ((name, *path) for path in _deeper(below, ctx, word))
