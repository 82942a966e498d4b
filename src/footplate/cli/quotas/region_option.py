"""The region option of quota commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.domain.quotas import ANY

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def quota_region_option(default: str = ANY) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Not the region of jobs: a variable that says where those go shall limit nobody."""
    return click.option(
        "--region",
        default=default,
        show_default=True,
        metavar="REGION",
        help="Region; '*' for each of them by itself.",
    )
