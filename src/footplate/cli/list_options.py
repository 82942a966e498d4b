"""gcloud's options for a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def list_options(function: Callable[P, R]) -> Callable[P, R]:
    for option in (
        click.option("--uri", is_flag=True, help="Print resource names only."),
        click.option("--sort-by", metavar="FIELD", help="Order by a field; ~FIELD for descending."),
        click.option(
            "--page-size",
            type=click.IntRange(min=1),
            metavar="N",
            help="Jobs asked for at a time; changes nothing in what is shown.",
        ),
        click.option(
            "--limit", type=click.IntRange(min=1), metavar="N", help="Show at most N jobs."
        ),
        click.option(
            "--filter",
            "condition",
            default="",
            metavar="EXPRESSION",
            help="Only jobs that match; see the examples.",
        ),
    ):
        function = option(function)
    return function
