"""The options of ``stacks``, which both faces have."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def stacks_options(function: Callable[P, R]) -> Callable[P, R]:
    """--replica and --format."""
    for option in (
        click.option(
            "--format",
            "layout",
            type=click.Choice(("text", "json")),
            default="text",
            show_default=True,
            help="text compares main threads; json has all threads, too.",
        ),
        click.option(
            "--replica",
            "replicas",
            multiple=True,
            metavar="REPLICA",
            help="Only this one, such as worker-0; may be given several times.",
        ),
    ):
        function = option(function)
    return function
