"""``--learn-from``: starts a search with the trials of an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.parameter_completion import offered
from footplate.domain.errors import InvalidArgument
from footplate.wire.learn_from_label import LABEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.wire.json_text import JsonObject

P = ParamSpec("P")
R = TypeVar("R")


def learn_from_option(function: Callable[P, R]) -> Callable[P, R]:
    return click.option(
        "--learn-from",
        metavar="ID",
        shell_complete=offered("searches"),
        help="Earlier tuning job, or study of `hp-tuning-jobs import`, to get a first idea from. "
        f"It becomes the label {LABEL}.",
    )(function)


def put_learn_from(job: JsonObject, earlier: object) -> None:
    """``earlier``: an id or a whole resource name; nothing happens for None."""
    if earlier is None:
        return
    labels = job.get("labels")
    if not isinstance(labels, dict | None):
        raise InvalidArgument("--config: labels is not a mapping")
    job["labels"] = {**(labels or {}), LABEL: str(earlier).rpartition("/")[2]}
