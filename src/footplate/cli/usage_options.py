"""The options of the commands that show utilisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.parameter_completion import offered

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

_MOST_POINTS = 1000


def usage_options(function: Callable[P, R]) -> Callable[P, R]:
    function = click.option(
        "--points",
        type=click.IntRange(1, _MOST_POINTS),
        help="Into how many parts the time is divided, for charts.",
    )(function)
    return click.option(
        "--replica",
        default="",
        metavar="REPLICA",
        shell_complete=offered("replicas"),
        help="Only this one, such as worker-0.",
    )(function)
